package dev.heartwood.engine.cache;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.function.BooleanSupplier;

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
    private final VictimCache victims;
    private final ColdQueue cold;
    private final MemoryPool pool;
    /** Completes what is read ahead and nobody comes for, whose buffers are the pool's again then. */
    private final BooleanSupplier reapsPrefetches;

    PageLoader(
            FrameTable frames,
            FrameSource source,
            FrameSupply supply,
            CacheCounters counters,
            LoadWaits waits,
            TransientPages transients,
            VictimCache victims,
            ColdQueue cold,
            MemoryPool pool) {
        this.frames = frames;
        this.source = source;
        this.supply = supply;
        this.counters = counters;
        this.waits = waits;
        this.transients = transients;
        this.victims = victims;
        this.cold = cold;
        this.pool = pool;
        this.reapsPrefetches = source::reapPrefetches;
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
            int frame = source.take();
            if (frame == 0) {
                return 0;
            }
            if (source.beginLoad(map, pageNumber, frame, true)) {
                fill(file, frame, pageNumber, type, generation);
                return frame;
            }
            if (!map.covers(pageNumber)) {
                return 0;
            }
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
        long address = transients.take(reapsPrefetches);
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
        long address = transients.take(reapsPrefetches);
        try {
            readVerified(file, address, pageNumber, type, generation);
            counters.transientLoads.increment();
            return address;
        } catch (Throwable e) {
            transients.free(address);
            throw e;
        }
    }

    private void fill(CachedFile file, int frame, long pageNumber, PageType type, long generation) {
        long address = frames.address(frame);
        boolean isBack;
        try {
            isBack = take(file, pageNumber, type, generation, address, true);
            if (!isBack) {
                readVerified(file, address, pageNumber, type, generation);
            }
        } catch (Throwable e) {
            abandon(file, frame, pageNumber);
            throw e;
        }
        frames.load(frame, type);
        if (isBack) {
            frames.touch(frame, type);
        }
        publish(file, frame, pageNumber);
        (isBack ? counters.broughtBack : counters.loads).increment();
    }

    /**
     * Loads the absent ones of a few neighbouring pages with one read, if there are at least two; those for which there is a frame without
     * waiting, and that are not damaged.
     */
    void loadRun(CachedFile file, PageRun run) {
        long first = run.firstPage();
        long end = first < 0 ? first : Math.min(first + run.count(), file.device().size() >>> PageLayout.PAGE_SHIFT);
        while (first < end && isHere(file, run, first)) {
            first++;
        }
        while (first < end && isHere(file, run, end - 1)) {
            end--;
        }
        int bytes = (int) (end - first) << PageLayout.PAGE_SHIFT;
        long buffer = end - first >= 2 ? pool.allocate(bytes) : 0;
        if (buffer == 0) {
            return;
        }
        try {
            loadFrom(file, run.part(first, (int) (end - first)), 0, buffer, false);
        } finally {
            pool.free(buffer, bytes);
        }
    }

    /**
     * Whether a page of a run is in the cache or on its way there, or was brought back now from where it was evicted to. In a cold run it goes
     * before others then, and stays there, too: a scan should not change what is kept.
     */
    boolean isHere(CachedFile file, PageRun run, long pageNumber) {
        DirectMap map = file.map();
        return map.get(pageNumber) != 0
                || victims.has(file.slot(), pageNumber) && bringBack(file, run, pageNumber);
    }

    private boolean bringBack(CachedFile file, PageRun run, long pageNumber) {
        int frame = claim(file, pageNumber);
        if (frame == 0) {
            return false;
        }
        boolean isBack = false;
        try {
            isBack = take(file, pageNumber, run.type(), run.generation(), frames.address(frame), !run.isCold());
        } finally {
            if (!isBack) {
                abandon(file, frame, pageNumber);
            }
        }
        if (isBack) {
            publishAhead(file, run, frame, pageNumber);
            counters.broughtBack.increment();
        }
        return isBack;
    }

    /** Whether a page was had back from where it was evicted to, and is the one that is wanted; else it is read, and judged, as any other. */
    private boolean take(CachedFile file, long pageNumber, PageType type, long generation, long target, boolean isMoved) {
        boolean isTaken = victims.take(file.slot(), pageNumber, target, isMoved);
        boolean isWanted = isTaken && PageSeal.isSealedAs(target, type, file.storeId(), pageNumber, generation);
        if (isTaken && !isWanted) {
            victims.drop(file.slot(), pageNumber);
        }
        return isWanted;
    }

    /**
     * Begins the loads of the pages of a run from one with an index on, reads all of the run, and ends those loads, whatever any of it throws.
     *
     * @param isClaimed whether a load was begun of a page before this one
     * @return whether the pages were read
     */
    private boolean loadFrom(CachedFile file, PageRun run, int index, long buffer, boolean isClaimed) {
        if (index == run.count()) {
            return isClaimed && readRun(file, run.firstPage(), run.count(), buffer);
        }
        int frame = claim(file, run.firstPage() + index);
        boolean isRead = false;
        try {
            isRead = loadFrom(file, run, index + 1, buffer, isClaimed || frame != 0);
        } finally {
            end(file, run, frame, index, isRead ? buffer + ((long) index << PageLayout.PAGE_SHIFT) : 0);
        }
        return isRead;
    }

    /** A frame for an absent page, marked as being loaded; 0 when there is none ready, or the page is not absent. */
    private int claim(CachedFile file, long pageNumber) {
        DirectMap map = file.map();
        int frame = map.get(pageNumber) == 0 ? source.takeReady() : 0;
        return frame != 0 && source.beginLoad(map, pageNumber, frame, false) ? frame : 0;
    }

    private static boolean readRun(CachedFile file, long firstPage, int count, long buffer) {
        try {
            file.device().read(firstPage << PageLayout.PAGE_SHIFT, buffer, count << PageLayout.PAGE_SHIFT);
            return true;
        } catch (StoreException unread) {
            return false; // whoever needs one of them reads it again and gets the error
        }
    }

    /** Ends the load of a page of a run, if it was begun; {@code read} is 0 when it failed. */
    private void end(CachedFile file, PageRun run, int frame, int index, long read) {
        long pageNumber = run.firstPage() + index;
        if (frame == 0 || !verifyOrAbandon(file, frame, read, pageNumber, run.type(), run.generation())) {
            return;
        }
        Memory.copy(read, frames.address(frame), PageLayout.PAGE_BYTES);
        publishAhead(file, run, frame, pageNumber);
        counters.loads.increment();
    }

    /** Makes a page of a run visible that nobody has used yet. */
    void publishAhead(CachedFile file, PageRun run, int frame, long pageNumber) {
        frames.markAhead(frame);
        publish(file, frame, pageNumber);
        if (run.isCold()) {
            cold.add(frame);
        }
    }

    /**
     * Whether a page that a load has read is good; if not, or whatever that throws, the load is ended, and the page absent.
     *
     * @param read where it was read to, 0 when it was not
     */
    boolean verifyOrAbandon(
            CachedFile file, int frame, long read, long pageNumber, PageType type, long generation) {
        boolean isGood = false;
        try {
            if (read != 0) {
                PageSeal.verify(read, type, file.storeId(), pageNumber, generation, file.device().name());
                isGood = true;
            }
        } catch (CorruptionException damaged) {
            // whoever needs it reads it again and gets the error
        } finally {
            if (!isGood) {
                abandon(file, frame, pageNumber);
            }
        }
        return isGood;
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
