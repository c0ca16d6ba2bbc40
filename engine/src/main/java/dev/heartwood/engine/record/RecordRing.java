package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.Memory;

/**
 * Records, appended one behind the other to chunks in a ring. The chunks before the head have been swept: nothing refers to
 * their records, and they are filled anew once nobody can still be reading them. For one thread at a time.
 */
final class RecordRing {
    /** The chunks of the smallest ring. */
    static final int CHUNKS_MIN = 8;

    /** Swept chunks ahead of the head, so that their readers have ended when the head comes to them; and their share of all. */
    private static final int SWEPT_AHEAD_MAX = 8;

    private static final int SWEPT_SHARE = 16;

    private final RecordTable table;
    private final Epochs epochs;
    private final long[] chunks;
    private final int chunkBytes;
    /** Where the records of each chunk end. */
    private final long[] ends;
    /** The epoch in which each chunk was swept. */
    private final long[] sweptAt;
    private final int sweptAhead;
    private int head;
    /** The oldest chunk that was not swept. */
    private int tail;
    /** Chunks from tail to head. */
    private int filled = 1;
    /** Whether the head takes nothing any more, though it may have room. */
    private boolean isHeadClosed;

    private boolean isFull;

    RecordRing(RecordTable table, Epochs epochs, long[] chunks, int chunkBytes) {
        this.table = table;
        this.epochs = epochs;
        this.chunks = chunks;
        this.chunkBytes = chunkBytes;
        this.ends = chunks.clone();
        this.sweptAt = new long[chunks.length];
        this.sweptAhead = Math.clamp(chunks.length / SWEPT_SHARE, 1, SWEPT_AHEAD_MAX);
    }

    /** Where a record of so many bytes goes: it is there for the caller to fill, and then to {@link #append}. 0 when there is no room yet. */
    long place(int bytes) {
        return fits(bytes) || advance(bytes) ? ends[head] : 0;
    }

    /** Says that the record is whole that {@link #place} was for: records are walked over by what each says of its length. */
    void append(int bytes) {
        ends[head] += bytes;
    }

    /** Whether records have to go for new ones to come. */
    boolean isFull() {
        return isFull;
    }

    /** Whether the head has come round: there is no room for so many bytes before the first chunk is filled anew. */
    boolean isRound(int bytes) {
        return head == chunks.length - 1 && !isHeadClosed && !fits(bytes);
    }

    /** Ends a round: the next record goes to the first chunk. */
    void endRound() {
        isHeadClosed = true;
    }

    /** Drops all records. Nothing refers to the chunks any more, though somebody may still be reading them. */
    void dropAll() {
        for (; filled > 0; filled--) {
            sweep(tail, 0);
            tail = next(tail);
        }
    }

    private boolean fits(int bytes) {
        return !isHeadClosed && ends[head] + bytes <= chunks[head] + chunkBytes;
    }

    private boolean advance(int bytes) {
        int next = next(head);
        if (!epochs.passed(sweptAt[next])) {
            return false;
        }
        head = next;
        isHeadClosed = false;
        ends[head] = chunks[head];
        filled++;
        if (filled > chunks.length - sweptAhead) {
            isFull = true;
            sweepTail();
        }
        return fits(bytes);
    }

    /** Drops the records of the oldest chunk but those that were used since they were written, which move to the head. */
    private void sweepTail() {
        // The head keeps room for a record that is new: else a ring whose records are all used would take in none.
        sweep(tail, chunks[head] + chunkBytes - chunkBytes / 4);
        sweptAt[tail] = epochs.advance();
        tail = next(tail);
        filled--;
    }

    /** Drops the records of a chunk but for used ones that the head has room for before an address. */
    private void sweep(int chunk, long spared) {
        for (long record = chunks[chunk]; record < ends[chunk]; ) {
            int bytes = RecordLayout.bytes(record);
            long bucket = table.bucket(RecordLayout.hash(record));
            table.lock(bucket);
            try {
                long slot = table.slotOf(bucket, record);
                if (slot != 0) {
                    boolean isSpared = table.isUsed(slot) && ends[head] + bytes <= spared;
                    table.move(slot, isSpared ? copy(record, bytes) : 0);
                }
            } finally {
                table.unlock(bucket);
            }
            record += bytes;
        }
    }

    private long copy(long record, int bytes) {
        long to = ends[head];
        Memory.copy(record, to, bytes);
        append(bytes);
        return to;
    }

    private int next(int chunk) {
        return chunk + 1 == chunks.length ? 0 : chunk + 1;
    }
}
