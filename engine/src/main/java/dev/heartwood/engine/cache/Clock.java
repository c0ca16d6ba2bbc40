package dev.heartwood.engine.cache;

import java.util.concurrent.atomic.AtomicInteger;

/** Chooses pages to evict, unpublishes them and retires their frames. Thread-safe. */
final class Clock {
    /*
     * CLOCK, as in the paper's section 5.2: the frames are a circle cut into hands of 64. A thread that needs frames acquires
     * the next hand by one atomic addition and goes over its frames: an accessed page loses one of its marks, one without is evicted.
     * Two threads never look at the same hand, so they touch different cache lines of the metadata.
     *
     * Beyond the paper: pages that came in cold are taken first, oldest first, while there are more of them than a share of
     * the cache, so that a scan or a merge recycles its own frames and leaves the hot set alone. A cold page that was accessed
     * since is left to the hands like any other.
     */
    static final int HAND_FRAMES = 64;
    private static final int COLD_SHARE_SHIFT = 3;

    private final FrameTable frames;
    private final DistributedLock locks;
    private final FrameSupply supply;
    private final FileTable files;
    private final CacheCounters counters;
    private final ColdQueue cold;
    private final int hands;
    private final AtomicInteger nextHand = new AtomicInteger();

    Clock(FrameTable frames, FrameSupply supply, FileTable files, ColdQueue cold, CacheCounters counters) {
        this.frames = frames;
        this.locks = frames.locks();
        this.supply = supply;
        this.files = files;
        this.cold = cold;
        this.counters = counters;
        this.hands = (frames.last() + HAND_FRAMES) / HAND_FRAMES;
    }

    /** Evicts from one hand's worth of frames; returns how many pages. */
    int evictSome() {
        Victims victims = new Victims();
        if (cold.size() > frames.size() >>> COLD_SHARE_SHIFT) {
            evictCold(victims);
        }
        if (victims.count == 0) {
            evictHand(victims);
        }
        return retire(victims);
    }

    /** Evicts whatever can be: turns the clock until something was evicted, twice at most. */
    int evictAny() {
        Victims victims = new Victims();
        evictCold(victims);
        for (int i = 0; i < 2 * hands && victims.count == 0; i++) {
            evictHand(victims);
        }
        return retire(victims);
    }

    private static final class Victims {
        private int head;
        private int count;
    }

    private void evictCold(Victims victims) {
        int frame;
        for (int i = 0; i < HAND_FRAMES && (frame = cold.poll()) != 0; i++) {
            if (frames.isAhead(frame)) {
                cold.add(frame); // not used yet; if it never is, a hand takes it
            } else if (!frames.isAccessed(frame)) {
                tryEvict(frame, victims);
            }
        }
    }

    private void evictHand(Victims victims) {
        int hand = Integer.remainderUnsigned(nextHand.getAndIncrement(), hands);
        int end = Math.min((hand + 1) * HAND_FRAMES, frames.last() + 1);
        for (int frame = Math.max(1, hand * HAND_FRAMES); frame < end; frame++) {
            if (frames.status(frame) != FrameTable.CLEAN) {
                continue;
            }
            if (frames.isAccessed(frame) || frames.isAhead(frame)) {
                frames.age(frame);
            } else {
                tryEvict(frame, victims);
            }
        }
    }

    private void tryEvict(int frame, Victims victims) {
        if (frames.status(frame) != FrameTable.CLEAN || !locks.tryLockWrite(frame)) {
            return;
        }
        if (frames.status(frame) != FrameTable.CLEAN) {
            locks.unlockWrite(frame);
            return;
        }
        DirectMap map = files.map(frames.ownerSlot(frame));
        boolean unpublished = map.compareAndSet(frames.ownerPage(frame), frame, 0);
        assert unpublished;
        frames.setStatus(frame, FrameTable.FREE);
        frames.setLink(frame, victims.head);
        victims.head = frame;
        victims.count++;
    }

    private int retire(Victims victims) {
        if (victims.count > 0) {
            supply.retire(victims.head, victims.count);
            counters.evictions.add(victims.count);
        }
        return victims.count;
    }
}
