package dev.heartwood.engine.cache;

/** Reads pages of one file into the cache ahead of need. Thread-safe. */
final class Prefetcher implements AutoCloseable {
    /*
     * A few lanes, each with a queue of its own, since a queue belongs to one thread at a time. A page being prefetched shows
     * its lane in its frame's status, so whoever waits for the page reaps that lane. Prefetching is advice: when every lane is
     * busy in other threads, or there is no frame, it does nothing.
     *
     * Lane numbers begin with 1: 0 means a synchronous load.
     */
    private static final int LANES = 4;

    private final CachedFile file;
    private final PrefetchLane[] lanes = new PrefetchLane[LANES];

    Prefetcher(CachedFile file, PageCache cache) {
        this.file = file;
        for (int i = 0; i < LANES; i++) {
            lanes[i] = new PrefetchLane(file, cache, i + 1);
        }
    }

    /** Returns how many of the run's first pages are there or on their way. */
    int prefetch(PageRun run) {
        // A single page takes no buffer, so that a thread may have as many of them under way as all lanes have room for.
        PrefetchLane withRoom = run.count() == 1 ? enterAny(true) : null;
        PrefetchLane lane = withRoom == null ? enterAny(false) : withRoom;
        if (lane == null) {
            return 0;
        }
        try {
            return lane.prefetch(run);
        } finally {
            lane.exit();
        }
    }

    /** A lane that no other thread is using, one that waits for nothing where {@code hasRoom}; null when there is none. */
    private PrefetchLane enterAny(boolean hasRoom) {
        int start = (int) Thread.currentThread().threadId();
        for (int i = 0; i < LANES; i++) {
            PrefetchLane lane = lanes[start + i & LANES - 1];
            if (!(hasRoom && lane.isFull()) && lane.tryEnter()) {
                return lane;
            }
        }
        return null;
    }

    /** Waits until the entry of a page is no longer {@code entry}, reaping the lane that loads it. */
    void await(int laneNumber, long pageNumber, int entry) {
        PrefetchLane lane = lanes[laneNumber - 1];
        lane.enter();
        try {
            while (file.map().get(pageNumber) == entry && lane.reapOne()) {
                continue;
            }
        } finally {
            lane.exit();
        }
    }

    /** Completes what is under way in lanes that no other thread is using; returns whether there was anything. */
    boolean reap() {
        boolean reaped = false;
        for (PrefetchLane lane : lanes) {
            if (!lane.isIdle() && lane.tryEnter()) {
                try {
                    while (lane.reapOne()) {
                        reaped = true;
                    }
                } finally {
                    lane.exit();
                }
            }
        }
        return reaped;
    }

    /** Completes what is under way and gives the lanes' memory back. */
    @Override
    public void close() {
        closeFrom(0);
    }

    /** Closes each lane from the one with an index on, whatever that of another one throws. */
    private void closeFrom(int index) {
        if (index == LANES) {
            return;
        }
        PrefetchLane lane = lanes[index];
        lane.enter();
        try {
            lane.close();
        } finally {
            lane.exit();
            closeFrom(index + 1);
        }
    }
}
