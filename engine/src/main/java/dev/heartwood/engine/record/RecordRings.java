package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The rings that records are appended to, one after the other: each goes round once before the next has its turn, so that they
 * are as one. The first is the cache's own, the others lie in memory that is lent. For one thread at a time, but for what says otherwise.
 */
final class RecordRings {
    /** A ring in a block that is lent, and how that is given back. */
    private record Borrowed(RecordRing ring, Runnable release) {}

    private final RecordTable table;
    private final Epochs epochs;
    private final MemoryPool lender;
    private final int chunkBytes;
    private final long blockBytes;
    private final int borrowedMax;
    private final RecordRing own;
    private final List<Borrowed> borrowed = new ArrayList<>();
    /** What is to be given back to the lender later, and could not be put off for want of Java heap; null as a rule. */
    private Runnable owed;
    /** Whose turn it is: 0 the own ring's, then the borrowed ones'. */
    private int turn;
    /** Written by the owner of the rings, read by anybody. */
    private volatile boolean isFull;

    /** Bytes that the lender does not have: of the rings, and of those given back that somebody may still be reading. */
    private final AtomicLong bytesBorrowed = new AtomicLong();

    /** Of these, the bytes of the rings. */
    private volatile long bytesInUse;

    /**
     * @param chunks of the own ring
     * @param bytesBorrowedMax the most that is ever borrowed
     */
    RecordRings(
            RecordTable table, Epochs epochs, long[] chunks, int chunkBytes, MemoryPool lender, long bytesBorrowedMax) {
        this.table = table;
        this.epochs = epochs;
        this.lender = lender;
        this.chunkBytes = chunkBytes;
        this.blockBytes = blockBytes(chunkBytes, bytesBorrowedMax);
        this.borrowedMax = (int) (bytesBorrowedMax / blockBytes);
        this.own = new RecordRing(table, epochs, chunks, chunkBytes);
    }

    /** Few large blocks, which leave large ones behind; 32 of all, or those of the smallest ring. */
    private static long blockBytes(int chunkBytes, long bytesMax) {
        long least = MemoryPool.blockBytes((long) RecordRing.CHUNKS_MIN * chunkBytes);
        return Math.max(least, Long.highestOneBit(Math.max(1, bytesMax / 32)));
    }

    /** Where a record of so many bytes goes: it is there for the caller to fill, and then to {@link #append}. 0 when there is no room yet. */
    long place(int bytes) {
        if (at(turn).isRound(bytes)) {
            at(turn).endRound();
            turn = turn == borrowed.size() ? 0 : turn + 1;
        }
        RecordRing ring = at(turn);
        long record = ring.place(bytes);
        isFull = ring.isFull();
        return record;
    }

    /** Says that the record is whole that {@link #place} was for last. */
    void append(int bytes) {
        at(turn).append(bytes);
    }

    private RecordRing at(int position) {
        return position == 0 ? own : borrowed.get(position - 1).ring;
    }

    /** Whether records have to go for new ones to come. For any thread. */
    boolean isFull() {
        return isFull;
    }

    /** Bytes that the lender does not have. For any thread. */
    long bytesBorrowed() {
        return bytesBorrowed.get();
    }

    /** Of these, the bytes that the lender has as soon as those who may be reading them have ended. For any thread. */
    long bytesGivenBack() {
        return Math.max(0, bytesBorrowed.get() - bytesInUse);
    }

    /** Whether fewer bytes are borrowed than may be; for a moment. */
    boolean mayBorrow() {
        return bytesInUse < borrowedMax * blockBytes;
    }

    /** The bytes that {@link #borrow} takes. */
    long blockBytes() {
        return blockBytes;
    }

    /** Borrows a block more; false when that would be too much, or there is none. */
    boolean borrow() {
        long block = borrowed.size() < borrowedMax ? lender.allocateSpare(blockBytes) : 0;
        if (block == 0) {
            return false;
        }
        try {
            borrowed.add(ring(block));
        } catch (Throwable e) {
            lender.free(block, blockBytes);
            throw e;
        }
        bytesBorrowed.addAndGet(blockBytes);
        bytesInUse = borrowed.size() * blockBytes;
        if (isFull) {
            turn = borrowed.size();
            isFull = false;
        }
        return true;
    }

    /** A ring in a block, with how that is given back, for which there need not be room on the Java heap later. */
    private Borrowed ring(long block) {
        long[] chunks = new long[(int) (blockBytes / chunkBytes)];
        for (int i = 0; i < chunks.length; i++) {
            chunks[i] = block + (long) i * chunkBytes;
        }
        Runnable release = () -> {
            lender.free(block, blockBytes);
            bytesBorrowed.addAndGet(-blockBytes);
        };
        return new Borrowed(new RecordRing(table, epochs, chunks, chunkBytes), release);
    }

    /**
     * Drops the records of the block that was borrowed last, which the lender has once their readers have ended; false when there is
     * none.
     */
    boolean giveBack() {
        if (owed != null) {
            releaseOwed();
            return true;
        }
        if (borrowed.isEmpty()) {
            return false;
        }
        Borrowed last = borrowed.removeLast();
        if (turn > borrowed.size()) {
            turn = 0;
            isFull = own.isFull();
        }
        last.ring.dropAll();
        bytesInUse = borrowed.size() * blockBytes;
        owed = last.release;
        releaseOwed();
        return true;
    }

    /** Where that fails, the next call tries again: until then the lender has less. */
    private void releaseOwed() {
        epochs.defer(owed);
        owed = null;
    }
}
