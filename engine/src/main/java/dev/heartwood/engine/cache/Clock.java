package dev.heartwood.engine.cache;

import java.util.concurrent.atomic.AtomicInteger;

/** Chooses pages to evict, unpublishes them and retires their frames. Thread-safe. */
final class Clock {
    /*
     * CLOCK, as in the paper's section 5.2: the frames are a circle cut into hands. A thread that needs frames acquires
     * the next hand by one atomic addition and goes over its frames: an accessed page loses one of its marks, one without is evicted.
     * Two threads never look at the same hand. They are smaller than the paper's, since a reader evicts a whole one, and copies what is in it.
     *
     * Beyond the paper: pages that came in cold are taken first, oldest first, while there are more of them than a share of
     * the cache, so that a scan or a merge recycles its own frames and leaves the hot set alone. A cold page that was accessed
     * since is left to the hands like any other. What a hand evicts goes on to the victim cache, what is taken first does not.
     *
     * A chunk of a map goes with the last page of it that is evicted; a hand takes those whose pages went otherwise. It is free at
     * once, as nobody who reads one relies on it.
     */
    static final int HAND_FRAMES = 16;
    /** Of the pages that came in cold, which are copied nowhere. */
    static final int COLD_FRAMES = 64;
    /** Where no page of a hand goes, since all are in use. */
    private static final int HANDS_PER_STEP = 4;

    private static final int COLD_SHARE_SHIFT = 3;

    private final FrameTable frames;
    private final DistributedLock locks;
    private final FrameSupply supply;
    private final FileTable files;
    private final CacheCounters counters;
    private final ColdQueue cold;
    private final VictimCache victimCache;
    private final int hands;
    private final AtomicInteger nextHand = new AtomicInteger();

    Clock(
            FrameTable frames,
            FrameSupply supply,
            FileTable files,
            ColdQueue cold,
            VictimCache victimCache,
            CacheCounters counters) {
        this.frames = frames;
        this.locks = frames.locks();
        this.supply = supply;
        this.files = files;
        this.cold = cold;
        this.victimCache = victimCache;
        this.counters = counters;
        this.hands = (frames.last() + HAND_FRAMES) / HAND_FRAMES;
    }

    /** Evicts what came in cold, or else from a hand, or a few of which the first ones are all in use; returns how many pages, and chunks of maps. */
    int evictSome() {
        Victims victims = new Victims();
        try {
            if (cold.size() > frames.size() >>> COLD_SHARE_SHIFT) {
                evictCold(victims);
            }
            for (int i = 0; i < HANDS_PER_STEP && victims.count == 0; i++) {
                evictHand(victims);
            }
        } finally {
            retire(victims);
        }
        return victims.count + victims.chunks;
    }

    /** Evicts whatever can be: turns the clock until something was evicted, twice at most. */
    int evictAny() {
        Victims victims = new Victims();
        try {
            evictCold(victims);
            for (int i = 0; i < 2 * hands && victims.count == 0 && victims.chunks == 0; i++) {
                evictHand(victims);
            }
        } finally {
            retire(victims);
        }
        return victims.count + victims.chunks;
    }

    private static final class Victims {
        private int head;
        private int count;
        private int chunks;
    }

    private void evictCold(Victims victims) {
        int frame;
        for (int i = 0; i < COLD_FRAMES && (frame = cold.poll()) != 0; i++) {
            if (frames.isAhead(frame)) {
                cold.add(frame); // not used yet; if it never is, a hand takes it
            } else if (!frames.isAccessed(frame)) {
                tryEvict(frame, victims, false);
            }
        }
    }

    private void evictHand(Victims victims) {
        int hand = Integer.remainderUnsigned(nextHand.getAndIncrement(), hands);
        int end = Math.min((hand + 1) * HAND_FRAMES, frames.last() + 1);
        for (int frame = Math.max(1, hand * HAND_FRAMES); frame < end; frame++) {
            int status = frames.status(frame);
            if (status == FrameTable.MAP) {
                passChunk(frame, victims);
            }
            if (status != FrameTable.CLEAN) {
                continue;
            }
            if (frames.isAccessed(frame) || frames.isAhead(frame)) {
                frames.age(frame);
            } else {
                tryEvict(frame, victims, true);
            }
        }
    }

    /** @param isKept whether a copy may stay in memory that others do not need */
    private void tryEvict(int frame, Victims victims, boolean isKept) {
        if (frames.status(frame) != FrameTable.CLEAN || !locks.tryLockWrite(frame)) {
            return;
        }
        if (frames.status(frame) != FrameTable.CLEAN) {
            locks.unlockWrite(frame);
            return;
        }
        int file = frames.ownerSlot(frame);
        DirectMap map = files.map(file);
        long page = frames.ownerPage(frame);
        if (isKept) {
            keep(frame, file, page);
        }
        boolean unpublished = map.compareAndSet(page, frame, 0);
        assert unpublished;
        frames.setStatus(frame, FrameTable.FREE);
        frames.setLink(frame, victims.head);
        victims.head = frame;
        victims.count++;
        freeEmpty(map, page, victims);
    }

    /** Puts a copy of a page that goes to where others may take it from; what is thrown, as on a full stack, leaves the page as it was. */
    private void keep(int frame, int file, long page) {
        try {
            victimCache.put(file, page, frames.address(frame));
        } catch (Throwable e) {
            locks.unlockWrite(frame);
            throw e;
        }
    }

    /** Frees the chunk that a frame holds if no page is left in it. Should the frame hold something else by now, that of another page may go. */
    private void passChunk(int frame, Victims victims) {
        CachedFile file = files.file(frames.ownerSlot(frame));
        if (file != null) {
            freeEmpty(file.map(), frames.ownerPage(frame), victims);
        }
    }

    private void freeEmpty(DirectMap map, long page, Victims victims) {
        int chunk = map.removeEmpty(page);
        if (chunk != 0) {
            supply.giveBack(chunk);
            victims.chunks++;
        }
    }

    private void retire(Victims victims) {
        if (victims.count > 0) {
            supply.retire(victims.head, victims.count);
            counters.evictions.add(victims.count);
        }
    }
}
