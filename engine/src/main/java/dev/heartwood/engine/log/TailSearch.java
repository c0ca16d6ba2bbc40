package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;

/** Looks for valid records behind the end of a lane: what tells damage from a torn tail. One thread. */
final class TailSearch {
    /*
     * Every aligned offset is a candidate. Length, kind, LSN and sequence rule out nearly all of them, among them the records of an
     * earlier use of the file, whose sequences are lower, and nearly always their LSNs. Where values pass all the same, checksums cost little
     * (RecordSums). What cannot be read says nothing.
     */
    private final long lsnAbove;
    private long durableLsn;
    private boolean isBegun;
    private String file;
    private long offset = -1;

    TailSearch(long lsnAbove) {
        this.lsnAbove = lsnAbove;
    }

    void search(String name, MappedFile mapped, LogRecord record, long from) {
        long length = mapped.windowEnd();
        isBegun |= from + record.headerMin() <= length && !isZero(mapped.address() + from, record.headerMin());
        RecordSums sums = new RecordSums(mapped.address());
        long at = from;
        while (at + record.headerMin() <= length) {
            long address = mapped.address() + at;
            long step = record.alignment();
            if (record.isPlausible(address, length - at) && isLater(record.lsn(address)) && record.isIntact(address, sums)) {
                found(name, at, record.durableLsn(address));
                step = record.step(address);
            }
            at += step;
        }
    }

    private static boolean isZero(long address, int bytes) {
        for (int i = 0; i < bytes; i++) {
            if (Memory.getByte(address + i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether the lane may have gone on with this LSN. */
    private boolean isLater(long lsn) {
        return lsn > lsnAbove && lsn - lsnAbove < LogLayout.DRAWN_MAX;
    }

    private void found(String name, long at, long durable) {
        claim(durable);
        if (offset < 0) {
            file = name;
            offset = at;
        }
    }

    void claim(long durable) {
        durableLsn = Math.max(durableLsn, durable);
    }

    boolean isFound() {
        return offset >= 0;
    }

    /** Whether something is where a record was looked for: one that is damaged, or, in a file that was used before, one of then. */
    boolean isBegun() {
        return isBegun;
    }

    /** Where the first valid record is. */
    String place() {
        return "offset " + offset + " of " + file;
    }

    /** The greatest LSN that a record found or a header passed calls durable. */
    long durableLsn() {
        return durableLsn;
    }
}
