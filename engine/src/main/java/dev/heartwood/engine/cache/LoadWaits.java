package dev.heartwood.engine.cache;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Where operations wait for a page that another thread is loading. Thread-safe; an interrupt does not end the wait. */
final class LoadWaits {
    /*
     * Waiters of many pages share a few lots; each looks at its own page's entry when it wakes. The loader changes the entry
     * with a full fence before it looks for waiters, and a waiter is counted before it looks at the entry, so one of the two
     * sees the other and no wake-up is lost. A loader that finds nobody waiting takes no lock.
     */
    private static final int LOTS = 16;
    private static final int SPINS = 128;

    private static final class Lot {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition loaded = lock.newCondition();
        // Written under lock, read without.
        private volatile int waiting;
    }

    private final FrameTable frames;
    private final Lot[] lots = new Lot[LOTS];

    LoadWaits(FrameTable frames) {
        this.frames = frames;
        for (int i = 0; i < LOTS; i++) {
            lots[i] = new Lot();
        }
    }

    /** Returns once the entry of a page is no longer {@code entry}, or is an asynchronous load that the caller can reap. */
    void await(DirectMap map, long pageNumber, int entry) {
        for (int i = 0; i < SPINS; i++) {
            if (!isLoading(map, pageNumber, entry)) {
                return;
            }
            Thread.onSpinWait();
        }
        Lot lot = lot(pageNumber);
        lot.lock.lock();
        try {
            lot.waiting++;
            while (isLoading(map, pageNumber, entry)) {
                lot.loaded.awaitUninterruptibly();
            }
        } finally {
            lot.waiting--;
            lot.lock.unlock();
        }
    }

    /** Wakes the waiters of a page whose entry was just changed. */
    void signal(long pageNumber) {
        Lot lot = lot(pageNumber);
        if (lot.waiting != 0) {
            lot.lock.lock();
            try {
                lot.loaded.signalAll();
            } finally {
                lot.lock.unlock();
            }
        }
    }

    private boolean isLoading(DirectMap map, long pageNumber, int entry) {
        return map.get(pageNumber) == entry && frames.lane(-entry) == 0;
    }

    private Lot lot(long pageNumber) {
        return lots[(int) (pageNumber ^ pageNumber >>> 8) & LOTS - 1];
    }
}
