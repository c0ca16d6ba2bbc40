package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;

/** Looks for valid records behind the end of a lane: what tells damage from a torn tail. One thread. */
final class TailSearch {
    /*
     * Every aligned offset is a candidate. Length, kind and LSN rule out nearly all of them, among them every record of an
     * earlier use of the file, whose LSN is lower, and most of what values hold: small integers pass for lengths and kinds, but two of them
     * for an LSN far above those of the generation. Where values pass all the same, checksums cost little (RecordSums). What cannot be read
     * says nothing.
     */
    /** More LSNs than any generation draws: each is of a record that took its bytes of one memtable. */
    private static final long LSNS_MAX = 1L << 32;

    private final long lsnAbove;
    private long durableLsn;
    private String file;
    private long offset = -1;

    TailSearch(long lsnAbove) {
        this.lsnAbove = lsnAbove;
    }

    void search(String name, MappedFile mapped, int seed, long from) {
        long length = mapped.windowEnd();
        RecordSums sums = new RecordSums(mapped.address());
        long at = from;
        while (at + LogLayout.RECORD_PAYLOAD <= length) {
            long address = mapped.address() + at;
            long step = LogLayout.RECORD_ALIGNMENT;
            if (LogRecord.isPlausible(address, length - at) && isLater(LogRecord.lsn(address)) && sums.isIntact(at, seed)) {
                found(name, at, LogRecord.durableLsn(address));
                step = LogLayout.align(LogRecord.length(address), LogLayout.RECORD_ALIGNMENT);
            }
            at += step;
        }
    }

    /** Whether the lane may have gone on with this LSN. */
    private boolean isLater(long lsn) {
        return lsn > lsnAbove && lsn - lsnAbove < LSNS_MAX;
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

    /** Where the first valid record is. */
    String place() {
        return "offset " + offset + " of " + file;
    }

    /** The greatest LSN that a record found or a header passed calls durable. */
    long durableLsn() {
        return durableLsn;
    }
}
