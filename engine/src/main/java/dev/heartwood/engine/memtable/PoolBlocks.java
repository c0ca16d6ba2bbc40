package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/** The blocks that one memtable has taken from the pool, so that it can give all of them back. Thread-safe. */
final class PoolBlocks {
    private final MemoryPool pool;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock; bytesHeld is also read without it.
    private long[] addresses = new long[8];
    private long[] lengths = new long[8];
    private int count;
    private boolean released;
    private volatile long bytesHeld;

    PoolBlocks(MemoryPool pool) {
        this.pool = pool;
    }

    /** A block of {@code bytes}, a power of two of at least 4 KiB; 0 when the pool has none. */
    long allocate(long bytes) {
        assert Long.bitCount(bytes) == 1 && bytes >= MemoryPool.BLOCK_BYTES_MIN;
        lock.lock();
        try {
            if (released) {
                throw new IllegalStateException("the memtable is released");
            }
            if (count == addresses.length) {
                long[] more = Arrays.copyOf(addresses, 2 * count);
                // Both or none, where the Java heap is full.
                lengths = Arrays.copyOf(lengths, 2 * count);
                addresses = more;
            }
            long address = pool.allocate(bytes);
            if (address != 0) {
                addresses[count] = address;
                lengths[count++] = bytes;
                bytesHeld += bytes;
            }
            return address;
        } finally {
            lock.unlock();
        }
    }

    long bytesHeld() {
        return bytesHeld;
    }

    /** Gives every block back. Idempotent. */
    void release() {
        lock.lock();
        try {
            released = true;
            while (count > 0) {
                count--;
                bytesHeld -= lengths[count];
                pool.free(addresses[count], lengths[count]);
            }
        } finally {
            lock.unlock();
        }
    }
}
