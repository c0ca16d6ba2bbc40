package dev.heartwood.engine.cache;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Brings absent pages in by one synchronous read of the calling thread. Thread-safe. */
final class PageLoader {
    /*
     * A load takes a frame, makes the page's entry negative by compare-and-set, reads, verifies, makes the entry positive and
     * releases the frame's write lock, in this order. Whoever finds the entry negative waits for it to change and looks again:
     * after a failed load it is absent, so each waiter then reads for itself and gets its own error.
     */
    private final FrameTable frames;
    private final FrameSource source;
    private final FrameSupply supply;
    private final CacheCounters counters;
    private final LoadWaits waits;
    private final TransientPages transients;

    PageLoader(
            FrameTable frames,
            FrameSource source,
            FrameSupply supply,
            CacheCounters counters,
            LoadWaits waits,
            TransientPages transients) {
        this.frames = frames;
        this.source = source;
        this.supply = supply;
        this.counters = counters;
        this.waits = waits;
        this.transients = transients;
    }

    /** The frame that holds a page after loading it if need be; 0 when no frame can be had. */
    int load(CachedFile file, long pageNumber, PageType type, long generation) {
        DirectMap map = file.map();
        while (true) {
            int entry = map.get(pageNumber);
            if (entry > 0) {
                frames.touch(entry, type);
                return entry;
            }
            if (entry < 0) {
                awaitLoad(file, pageNumber, entry);
                continue;
            }
            requireInFile(file, pageNumber, type);
            int frame = source.cover(map, pageNumber) ? source.take() : 0;
            if (frame == 0) {
                return 0;
            }
            if (map.compareAndSet(pageNumber, 0, -frame)) {
                fill(file, frame, pageNumber, type, generation);
                return frame;
            }
            supply.giveBack(frame);
        }
    }

    /** Waits until a load under way has ended, well or badly; {@code entry} is what was found in the map. */
    void awaitLoad(CachedFile file, long pageNumber, int entry) {
        int lane = frames.lane(-entry);
        if (lane == 0) {
            waits.await(file.map(), pageNumber, entry);
        } else {
            file.prefetcher().await(lane, pageNumber, entry);
        }
    }

    /** A page read into memory of its own, which the pool gets back once the operations active now have ended. */
    long loadTransient(CachedFile file, long pageNumber, PageType type, long generation) {
        long address = transients.take();
        try {
            readVerified(file, address, pageNumber, type, generation);
            counters.transientLoads.increment();
            return address;
        } finally {
            transients.retire(address);
        }
    }

    /** As {@link #loadTransient}, but the page stays until {@link TransientPages#free}. */
    long loadTransientLocked(CachedFile file, long pageNumber, PageType type, long generation) {
        long address = transients.take();
        try {
            readVerified(file, address, pageNumber, type, generation);
        } catch (Throwable e) {
            transients.free(address);
            throw e;
        }
        counters.transientLoads.increment();
        return address;
    }

    private void fill(CachedFile file, int frame, long pageNumber, PageType type, long generation) {
        try {
            readVerified(file, frames.address(frame), pageNumber, type, generation);
        } catch (Throwable e) {
            abandon(file, frame, pageNumber);
            throw e;
        }
        frames.load(frame, type);
        publish(file, frame, pageNumber);
        counters.loads.increment();
    }

    /** Makes a loaded page visible. */
    void publish(CachedFile file, int frame, long pageNumber) {
        frames.setOwner(frame, file.slot(), pageNumber);
        frames.setStatus(frame, FrameTable.CLEAN);
        file.map().set(pageNumber, frame);
        frames.locks().unlockWrite(frame);
        waits.signal(pageNumber);
    }

    /** Ends a load that failed: the page is absent again. */
    void abandon(CachedFile file, int frame, long pageNumber) {
        file.map().set(pageNumber, 0);
        supply.giveBack(frame);
        waits.signal(pageNumber);
    }

    private void readVerified(CachedFile file, long address, long pageNumber, PageType type, long generation) {
        file.device().read(pageNumber << PageLayout.PAGE_SHIFT, address, PageLayout.PAGE_BYTES);
        file.verify(address, type, pageNumber, generation);
    }

    private static void requireInFile(CachedFile file, long pageNumber, PageType type) {
        long pages = file.device().size() >>> PageLayout.PAGE_SHIFT;
        if (pageNumber < 0 || pageNumber >= pages) {
            throw new CorruptionException(
                    file.device().name(), pageNumber, type.name(), "a page of a file of " + pages + " pages", "none");
        }
    }
}
