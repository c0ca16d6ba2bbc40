package dev.heartwood.engine.device;

import dev.heartwood.engine.os.Uring;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Idle rings, shared by all stores of the process, since making one costs several system calls. Rings are kept while
 * at least one {@link FileStorage} uses the pool. Thread-safe.
 */
final class UringPool {
    private static final int IDLE_MAX = 16;
    private static final int ENTRIES_MIN = 16;

    /** The pool of this process. */
    static final UringPool SHARED = new UringPool();

    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock.
    private final ArrayDeque<Uring> idle = new ArrayDeque<>();
    private int users;

    UringPool() {}

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
                idle.forEach(Uring::close);
                idle.clear();
            }
        } finally {
            lock.unlock();
        }
    }

    /** A ring for at least {@code depth} operations, with nothing in it. */
    Uring take(int depth) {
        lock.lock();
        try {
            for (Uring ring : idle) {
                if (ring.entries() >= depth) {
                    idle.remove(ring);
                    return ring;
                }
            }
        } finally {
            lock.unlock();
        }
        return Uring.open(Math.max(depth, ENTRIES_MIN));
    }

    /** Takes a ring back; nothing is under way in it. */
    void give(Uring ring) {
        lock.lock();
        try {
            if (users > 0 && idle.size() < IDLE_MAX) {
                idle.addFirst(ring);
                return;
            }
        } finally {
            lock.unlock();
        }
        ring.close();
    }
}
