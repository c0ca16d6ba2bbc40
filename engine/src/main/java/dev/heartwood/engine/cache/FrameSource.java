package dev.heartwood.engine.cache;

import dev.heartwood.StoreException;

/** Gets a frame for a page that is to come in, making room when there is none. Thread-safe. */
final class FrameSource {
    /*
     * Eviction runs ahead of need: whoever takes a frame while few are left evicts one hand's worth, so that the batch has
     * passed its epoch before it is needed.
     *
     * One operation that stays in its epoch holds back all that is evicted from then on, so that others would evict page after page and get
     * none of them. So what is in limbo is kept to a share of the cache.
     *
     * When nothing is left, the order is: wait for limbo, evict what is clean, reap prefetches, write back what is dirty.
     * The wait is bounded: the caller may itself be the operation whose epoch holds the limbo back, or all operations may be
     * waiting here for each other. It then gets no frame and goes past the cache.
     */
    private static final int AHEAD_SHIFT = 4;
    private static final int AHEAD_FRAMES_MAX = 256;
    private static final int ROUNDS_MAX = 24;
    private static final int SPIN_ROUNDS = 20;
    private static final int READY_STEPS_MAX = 8;
    private static final int LIMBO_SHIFT = 3;

    private final FrameSupply supply;
    private final Clock clock;
    private final WriteBack writeBack;
    private final FileTable files;
    private final int aheadFrames;
    private final int limboFramesMax;

    FrameSource(FrameTable frames, FrameSupply supply, Clock clock, WriteBack writeBack, FileTable files) {
        this.supply = supply;
        this.clock = clock;
        this.writeBack = writeBack;
        this.files = files;
        this.aheadFrames = Math.min(frames.size() >>> AHEAD_SHIFT, AHEAD_FRAMES_MAX);
        this.limboFramesMax = frames.size() >>> LIMBO_SHIFT;
    }

    /** A write-locked frame, evicting and writing back if need be; 0 when none can be had. */
    int take() {
        int frame = takeReady();
        for (int round = 0; frame == 0 && round < ROUNDS_MAX; round++) {
            if (!makeRoom()) {
                return supply.poll();
            }
            frame = supply.poll();
            if (frame == 0 && round >= SPIN_ROUNDS) {
                Thread.yield();
            }
        }
        return frame;
    }

    /** A write-locked frame if one can be had without waiting, else 0. */
    int takeReady() {
        if (supply.available() <= aheadFrames) {
            clock.evictSome();
        }
        int frame = supply.poll();
        for (int step = 0; frame == 0 && step < READY_STEPS_MAX && supply.inLimbo() <= limboFramesMax; step++) {
            clock.evictSome();
            frame = supply.poll();
        }
        return frame;
    }

    /** A write-locked frame if there are more than anybody will soon need, else 0; never evicts. */
    int takeSpare() {
        return supply.available() > 2 * aheadFrames ? supply.poll() : 0;
    }

    /** Fills {@code into[0..count)} with write-locked frames, or takes none and returns false. */
    boolean take(int[] into, int count) {
        int taken = 0;
        try {
            while (taken < count) {
                into[taken] = take();
                if (into[taken] == 0) {
                    return false;
                }
                taken++;
            }
            return true;
        } finally {
            if (taken < count) {
                giveBack(into, taken);
            }
        }
    }

    void giveBack(int frame) {
        supply.giveBack(frame);
    }

    void giveBack(int[] taken, int count) {
        for (int i = 0; i < count; i++) {
            supply.giveBack(taken[i]);
        }
    }

    /**
     * Makes the absent entry of a page another one, with a frame for the map's chunk if it needs one, for which it waits as {@link #take}
     * does; false when the page has an entry, or the map no chunk.
     */
    boolean enter(DirectMap map, long pageNumber, int entry) {
        return map.enter(pageNumber, entry)
                || enterWith(map, pageNumber, entry, map.covers(pageNumber) ? 0 : take());
    }

    /** As {@link #enter}, with a frame that can be had without waiting. */
    boolean enterReadily(DirectMap map, long pageNumber, int entry) {
        return map.enter(pageNumber, entry)
                || enterWith(map, pageNumber, entry, map.covers(pageNumber) ? 0 : takeReady());
    }

    /**
     * Marks an absent page as being loaded into a frame, which is given back where that cannot be.
     *
     * @param mayWait for a frame that the map may need
     */
    boolean beginLoad(DirectMap map, long pageNumber, int frame, boolean mayWait) {
        boolean isBegun = false;
        try {
            isBegun = mayWait ? enter(map, pageNumber, -frame) : enterReadily(map, pageNumber, -frame);
        } finally {
            if (!isBegun) {
                supply.giveBack(frame);
            }
        }
        return isBegun;
    }

    /** As {@link #enter}, with a frame that is to spare. */
    boolean enterSparingly(DirectMap map, long pageNumber, int entry) {
        return map.enter(pageNumber, entry)
                || enterWith(map, pageNumber, entry, map.covers(pageNumber) ? 0 : takeSpare());
    }

    private boolean enterWith(DirectMap map, long pageNumber, int entry, int chunk) {
        boolean isEntered = false;
        try {
            isEntered = chunk != 0 && map.enter(pageNumber, entry, chunk);
        } finally {
            // There is a chunk by now, or no room on the Java heap for one.
            if (!isEntered && chunk != 0) {
                supply.giveBack(chunk);
            }
        }
        // Others may have made the chunk meanwhile.
        return isEntered || map.enter(pageNumber, entry);
    }

    /** Does one thing that may lead to a free frame; false when there is nothing left to do and nothing to wait for. */
    private boolean makeRoom() {
        return supply.inLimbo() > 0 || clock.evictAny() > 0 || reapPrefetches() || writeBack.writeOldest();
    }

    /**
     * Completes what others have begun to read ahead, and nobody uses now; returns whether there was anything. A file whose queue has failed is left
     * out: that is no failure of the caller's file.
     */
    boolean reapPrefetches() {
        boolean reaped = false;
        for (CachedFile file : files.all()) {
            reaped |= file != null && reap(file.prefetcher());
        }
        return reaped;
    }

    private static boolean reap(Prefetcher prefetcher) {
        try {
            return prefetcher.reap();
        } catch (StoreException e) {
            return false;
        }
    }
}
