package dev.heartwood.engine.device;

import dev.heartwood.engine.os.Aio;
import dev.heartwood.engine.os.Ring;
import dev.heartwood.engine.os.Uring;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/**
 * Idle rings, shared by all stores of the process, since making one costs several system calls. Those of io_uring are kept while
 * at least one {@link FileStorage} uses the pool, those of AIO, which have no descriptors, for good: the kernel takes long to end one.
 * Thread-safe.
 */
final class RingPool {
    private static final int URING_IDLE_MAX = 16;
    private static final int AIO_IDLE_MAX = 256;
    private static final int ENTRIES_MIN = 16;

    /** The pool of this process for queues by io_uring. */
    static final RingPool URING = new RingPool(Uring::open, URING_IDLE_MAX);

    /** The pool of this process for queues by AIO. */
    static final RingPool AIO = kept(new RingPool(Aio::open, AIO_IDLE_MAX));

    /** The most reads that poll at once; each has a ring. */
    static final int POLLED_MAX = 64;

    /** The pool of this process for reads that poll. */
    static final RingPool POLLED = new RingPool(Uring::openCooperative, POLLED_MAX);

    private final IntFunction<? extends Ring> maker;
    private final int idleMax;

    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock.
    private final ArrayDeque<Ring> idle;
    private int users;

    /** @param maker makes a ring for so many operations */
    RingPool(IntFunction<? extends Ring> maker, int idleMax) {
        this.maker = maker;
        this.idleMax = idleMax;
        this.idle = new ArrayDeque<>(idleMax); // giving a ring back takes no memory
    }

    private static RingPool kept(RingPool pool) {
        pool.retain();
        return pool;
    }

    /** Announces a user. */
    void retain() {
        lock.lock();
        try {
            users++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a use; the last one closes the idle rings. */
    void release() {
        lock.lock();
        try {
            if (--users == 0) {
                closeIdle();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Each is taken out before it is closed, whatever closing another one throws: nobody must have one whose memory is gone. */
    private void closeIdle() {
        Ring ring = idle.pollFirst();
        if (ring != null) {
            try {
                ring.close();
            } finally {
                closeIdle();
            }
        }
    }

    /** A ring for at least {@code depth} operations, with nothing in it. */
    Ring take(int depth) {
        lock.lock();
        try {
            Ring first = idle.peekFirst();
            if (first != null && first.entries() >= depth) {
                return idle.pollFirst();
            }
            for (Ring ring : idle) {
                if (ring.entries() >= depth) {
                    idle.remove(ring);
                    return ring;
                }
            }
        } finally {
            lock.unlock();
        }
        return maker.apply(Math.max(depth, ENTRIES_MIN));
    }

    /** Takes a ring back; nothing is under way in it. */
    void give(Ring ring) {
        lock.lock();
        try {
            if (users > 0 && idle.size() < idleMax) {
                idle.addFirst(ring);
                return;
            }
        } finally {
            lock.unlock();
        }
        ring.close();
    }
}
