package dev.heartwood.engine.cache;

import dev.heartwood.engine.os.Memory;

/**
 * An array of reader-writer locks in native memory whose readers do not meet on a cache line. Three levels: read, claim (one
 * reader that may become the writer) and write. Thread-safe, with platform and virtual threads; not reentrant; not owned: any
 * thread may release what another acquired.
 */
public final class DistributedLock {
    /*
     * The distributed reader-writer lock of the paper's section 5.2. A lock is one state word, with a claim bit and a write
     * bit, and one reader counter per stripe; the counters of a stripe lie together, so that threads of different stripes
     * share no line. A reader adds to its stripe's counter and then looks at the write bit: when it is set, it takes the
     * addition back. A writer sets the bit and then waits until the counters sum to zero. Both steps on either side are
     * full fences, so one of the two sees the other.
     *
     * Counters are whole ints: many more threads than stripes share one, so additions are atomic, and 10,000 virtual threads
     * on one page do not overflow it. Since only the sum counts, a read lock may be released on another stripe than it was
     * acquired on. The sum is read counter by counter, and still is never too low: every acquisition that counts happened
     * before the write bit, so its addition is seen; of the releases some are not seen yet; and an addition that is taken
     * back is seen as one or as nothing, since both halves are on one counter.
     *
     * Nobody parks: writers here hold a lock for some hundred instructions, never across I/O. Whoever must wait spins a
     * little and then yields, which lets a virtual thread on the same carrier run.
     *
     * Shared field   read       written               guarded by
     * state word     volatile   CAS, volatile         the holder of the claim bit
     * counters       volatile   getAndAdd             -
     */
    private static final int CLAIM = 1;
    private static final int WRITE = 2;
    private static final int SPINS = 64;

    private final long words;
    private final long counters;
    private final int locks;
    private final int stripes;

    /**
     * An array of locks that are all free.
     *
     * @param address native memory of {@link #bytes} bytes, aligned to 4
     * @param stripes the reader counters per lock, a power of two
     */
    public DistributedLock(long address, int locks, int stripes) {
        if (Integer.bitCount(stripes) != 1 || locks <= 0) {
            throw new IllegalArgumentException(locks + " locks of " + stripes + " stripes");
        }
        this.words = address;
        this.counters = address + 4L * locks;
        this.locks = locks;
        this.stripes = stripes;
        Memory.fill(address, bytes(locks, stripes), 0);
    }

    /** The native memory that an array of locks takes. */
    public static long bytes(int locks, int stripes) {
        return 4L * locks * (1 + stripes);
    }

    /** Acquires lock {@code i} for reading, unless a writer holds it or is about to. */
    public boolean tryLockRead(int i) {
        long counter = ownCounter(i);
        Memory.getAndAddInt(counter, 1);
        if ((Memory.getIntVolatile(word(i)) & WRITE) == 0) {
            return true;
        }
        Memory.getAndAddInt(counter, -1);
        return false;
    }

    /** Acquires lock {@code i} for reading; waits for writers. */
    public void lockRead(int i) {
        int attempt = 0;
        while (!tryLockRead(i)) {
            do {
                attempt = pause(attempt);
            } while ((Memory.getIntVolatile(word(i)) & WRITE) != 0);
        }
    }

    /** Releases a read lock. */
    public void unlockRead(int i) {
        Memory.getAndAddInt(ownCounter(i), -1);
    }

    /**
     * Makes the caller's read lock a claim, unless another holds the claim; the caller must then release its read lock before
     * it tries again, since the other may be waiting for it.
     */
    public boolean tryClaim(int i) {
        return Memory.compareAndSetInt(word(i), 0, CLAIM);
    }

    /** Makes a claim a read lock again. */
    public void unclaim(int i) {
        assert Memory.getIntVolatile(word(i)) == CLAIM;
        Memory.putIntVolatile(word(i), 0);
    }

    /** Makes the caller's claim a write lock: keeps new readers out and waits for the others to leave. */
    public void upgrade(int i) {
        assert Memory.getIntVolatile(word(i)) == CLAIM;
        Memory.putIntVolatile(word(i), CLAIM | WRITE);
        awaitReaders(i, 1);
    }

    /** Makes an upgraded claim a claim again. */
    public void downgrade(int i) {
        assert Memory.getIntVolatile(word(i)) == (CLAIM | WRITE);
        Memory.putIntVolatile(word(i), CLAIM);
    }

    /** Acquires lock {@code i} for writing if nobody holds it; may also fail when a reader is just failing. */
    public boolean tryLockWrite(int i) {
        if (!Memory.compareAndSetInt(word(i), 0, CLAIM | WRITE)) {
            return false;
        }
        if (readers(i) == 0) {
            return true;
        }
        Memory.putIntVolatile(word(i), 0);
        return false;
    }

    /** Acquires lock {@code i} for writing; waits for everyone. The caller holds no read lock on it. */
    public void lockWrite(int i) {
        int attempt = 0;
        while (!Memory.compareAndSetInt(word(i), 0, CLAIM | WRITE)) {
            attempt = pause(attempt);
        }
        awaitReaders(i, 0);
    }

    /** Releases a write lock that {@link #tryLockWrite} or {@link #lockWrite} acquired. */
    public void unlockWrite(int i) {
        assert Memory.getIntVolatile(word(i)) == (CLAIM | WRITE);
        Memory.putIntVolatile(word(i), 0);
    }

    /** Whether a writer holds lock {@code i} or is about to: for assertions. */
    boolean isWriteLocked(int i) {
        return (Memory.getIntVolatile(word(i)) & WRITE) != 0;
    }

    /** The read locks held on lock {@code i}, at least; exact once a writer keeps new ones out. */
    int readers(int i) {
        int sum = 0;
        for (int stripe = 0; stripe < stripes; stripe++) {
            sum += Memory.getIntVolatile(counter(stripe, i));
        }
        return sum;
    }

    private void awaitReaders(int i, int own) {
        int attempt = 0;
        while (readers(i) != own) {
            attempt = pause(attempt);
        }
    }

    private long word(int i) {
        assert i >= 0 && i < locks;
        return words + 4L * i;
    }

    private long ownCounter(int i) {
        return counter((int) Thread.currentThread().threadId() & (stripes - 1), i);
    }

    private long counter(int stripe, int i) {
        assert i >= 0 && i < locks;
        return counters + 4L * ((long) stripe * locks + i);
    }

    private static int pause(int attempt) {
        if (attempt < SPINS) {
            Thread.onSpinWait();
            return attempt + 1;
        }
        Thread.yield();
        return attempt;
    }
}
