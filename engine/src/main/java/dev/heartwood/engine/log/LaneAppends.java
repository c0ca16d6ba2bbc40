package dev.heartwood.engine.log;

import dev.heartwood.StoreIoException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import java.util.concurrent.atomic.AtomicLongArray;

/** Appends records to lanes, which share nothing but the counter of LSNs. Each lane is used by one thread at a time. */
final class LaneAppends {
    /*
     * An append writes the record and then its checksum; the order does not matter, because a record counts only when the
     * checksum, changed by a salt that no other use of the file has, holds over all other fields. An append that was cut off
     * at any store, or whose sectors reached the device in part, fails it.
     *
     * It announces itself in its lane before it draws its LSN, and takes that back when the record is complete: so whoever reads the
     * counter and then waits for the appends under way has every lower LSN complete.
     *
     * Nothing that can fail comes after a reserve; if an append fails all the same, an LSN is drawn that no record has, which is final.
     *
     * Shared field      read       written            guarded by
     * lsn[LSN_INDEX]    volatile   getAndIncrement    -
     */
    private static final int LSN_INDEX = 16;

    private final LogLane[] lanes;
    private final SegmentStarts starts;
    private final LogMemory memory;
    private final GroupCommit commit;
    private final AtomicLongArray lsn = new AtomicLongArray(2 * LSN_INDEX);

    LaneAppends(LogLane[] lanes, SegmentStarts starts, LogMemory memory, GroupCommit commit) {
        this.lanes = lanes;
        this.starts = starts;
        this.memory = memory;
        this.commit = commit;
    }

    /** Sets the first LSN to be drawn; before the first append. */
    void startFrom(long first) {
        lsn.set(LSN_INDEX, first);
    }

    /** The LSN that will be drawn next. */
    long nextLsn() {
        return lsn.get(LSN_INDEX);
    }

    /** Returns once every record with an LSN that was drawn before this call is complete, or failed. */
    void awaitAppends() {
        for (LogLane lane : lanes) {
            lane.awaitAppend();
        }
    }

    /** See {@link WriteAheadLog#reserve}. */
    void reserve(int lane, long payloadBytes) {
        commit.throwFailure();
        LogLane own = lanes[lane];
        long bytes = LogLayout.recordBytesMax(payloadBytes);
        if (bytes > own.limit - own.position && !slide(own, bytes)) {
            starts.begin(own, lane, payloadBytes);
            if (bytes > own.limit - own.position) {
                bringIn(own, bytes);
            }
        }
    }

    /** Makes room for a record of {@code bytes} in the lane's segment, unless it is full, or a page of its file cannot be read. */
    private boolean slide(LogLane own, long bytes) {
        if (own.segment == null || endOf(own, bytes) > own.file.length()) {
            return false;
        }
        try {
            bringIn(own, bytes);
            return true;
        } catch (StoreIoException e) {
            if (starts.foundUnreadable(own.segment.place, e)) {
                return false;
            }
            throw e;
        }
    }

    private void bringIn(LogLane own, long bytes) {
        long end = endOf(own, bytes);
        starts.wantSpare(own, end);
        own.slide(end, memory.windowBytes());
    }

    /** Where a record of {@code bytes} would end in the lane's segment, and a mark after it. */
    private static long endOf(LogLane own, long bytes) {
        return own.position - own.base + bytes + LogLayout.RECORD_HEADER_MAX;
    }

    /** See {@link WriteAheadLog#prefetch}. */
    void prefetch(int lane, long payloadBytes) {
        LogLane own = lanes[lane];
        own.touched = Memory.touchLines(own.position, LogLayout.RECORD_HEADER_MIN + payloadBytes);
    }

    /** See {@link WriteAheadLog#append}. */
    void append(int lane, long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
        assert Entries.isKind(kind) && (kind != Entries.DELETE || valueLength == 0);
        LogLane own = lanes[lane];
        int payload = keyLength + valueLength;
        long at = own.position;
        assert at + LogLayout.recordBytesMax(payload) <= own.limit : "reserve first";
        own.begin();
        try {
            int header = writeHeader(own, sequence, kind, keyLength, payload);
            Memory.copy(key, at + header, keyLength);
            Memory.copy(value, at + header + keyLength, valueLength);
            own.complete(at, header + payload);
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        } finally {
            own.finish();
        }
    }

    /** See {@link WriteAheadLog#appendBatch}. */
    void appendBatch(int lane, long sequence, int count, long payload, long payloadLength) {
        LogLane own = lanes[lane];
        int length = LogLayout.BATCH_COUNT_BYTES + (int) payloadLength;
        long at = own.position;
        assert at + LogLayout.recordBytesMax(length) <= own.limit : "reserve first";
        own.begin();
        try {
            int header = writeHeader(own, sequence, LogLayout.KIND_BATCH, 0, length);
            Memory.putInt(at + header, count);
            Memory.copy(payload, at + header + LogLayout.BATCH_COUNT_BYTES, payloadLength);
            own.complete(at, header + length);
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        } finally {
            own.finish();
        }
    }

    /** Appends a mark to each lane that has records in its segment: its header says what is durable by then. With the lanes at rest. */
    void appendMarks() {
        for (LogLane own : lanes) {
            if (own.segment != null && own.segment.end() > LogLayout.HEADER_BYTES) {
                own.begin();
                try {
                    own.complete(own.position, writeHeader(own, own.segment.firstSequence, LogLayout.KIND_MARK, 0, 0));
                } finally {
                    own.finish();
                }
            }
        }
    }

    /** Of the record at the lane's position; returns the bytes before its payload. */
    private int writeHeader(LogLane own, long sequence, int kind, int keyLength, int payloadLength) {
        long number = lsn.getAndIncrement(LSN_INDEX);
        requireDrawn(number - own.segment.firstLsn);
        requireDrawn(sequence - own.segment.firstSequence);
        long durable = commit.durable();
        long unsynced = own.says(durable) && number - durable <= LogLayout.UNSYNCED_MAX
                ? number - durable
                : LogLayout.UNSYNCED_UNKNOWN;
        return LogRecord.writeHeader(own.position, number, sequence, kind, keyLength, payloadLength, unsynced);
    }

    /** Recovery would take a record with other numbers for none, and the log to end before it. */
    private static void requireDrawn(long number) {
        if (number < 0 || number >= LogLayout.DRAWN_MAX) {
            throw new IllegalStateException("drawn as number " + number + " of its generation");
        }
    }
}
