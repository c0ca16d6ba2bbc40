package dev.heartwood.engine.cache;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
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
    private final VictimCache victims;
    private final MemoryPool pool;

    PageLoader(
            FrameTable frames,
            FrameSource source,
            FrameSupply supply,
            CacheCounters counters,
            LoadWaits waits,
            TransientPages transients,
            VictimCache victims,
            MemoryPool pool) {
        this.frames = frames;
        this.source = source;
        this.supply = supply;
        this.counters = counters;
        this.waits = waits;
        this.transients = transients;
        this.victims = victims;
        this.pool = pool;
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
        long address = frames.address(frame);
        boolean isBack;
        try {
            isBack = victims.take(file.slot(), pageNumber, address);
            if (!isBack) {
                readVerified(file, address, pageNumber, type, generation);
            }
            assert PageSeal.isSealedAs(address, type, file.storeId(), pageNumber, generation);
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
    void loadRun(CachedFile file, long firstPage, int count, PageType type, long generation) {
        long first = firstPage;
        long end = firstPage < 0 ? firstPage : Math.min(firstPage + count, file.device().size() >>> PageLayout.PAGE_SHIFT);
        while (first < end && isHere(file, first)) {
            first++;
        }
        while (first < end && isHere(file, end - 1)) {
            end--;
        }
        int bytes = (int) (end - first) << PageLayout.PAGE_SHIFT;
        long buffer = end - first >= 2 ? pool.allocate(bytes) : 0;
        if (buffer == 0) {
            return;
        }
        try {
            loadFrom(file, first, end, first, buffer, false, type, generation);
        } finally {
            pool.free(buffer, bytes);
        }
    }

    /** Whether a page is in the cache or on its way there, or was brought back now from where it was evicted to. */
    boolean isHere(CachedFile file, long pageNumber) {
        DirectMap map = file.map();
        return map.get(pageNumber) != 0 || victims.has(file.slot(), pageNumber) && bringBack(file, pageNumber);
    }

    private boolean bringBack(CachedFile file, long pageNumber) {
        int frame = claim(file, pageNumber);
        if (frame == 0) {
            return false;
        }
        boolean isBack = false;
        try {
            isBack = victims.take(file.slot(), pageNumber, frames.address(frame));
        } finally {
            if (!isBack) {
                abandon(file, frame, pageNumber);
            }
        }
        if (isBack) {
            frames.markAhead(frame);
            publish(file, frame, pageNumber);
            counters.broughtBack.increment();
        }
        return isBack;
    }

    /**
     * Begins the loads of the pages from {@code page} on, reads all from {@code first} on, and ends those loads, whatever any of it throws.
     *
     * @param isClaimed whether a load was begun of a page before this one
     * @return whether the pages were read
     */
    private boolean loadFrom(
            CachedFile file, long first, long end, long page, long buffer, boolean isClaimed, PageType type, long generation) {
        if (page == end) {
            return isClaimed && readRun(file, first, (int) (end - first), buffer);
        }
        int frame = claim(file, page);
        boolean isRead = false;
        try {
            isRead = loadFrom(file, first, end, page + 1, buffer, isClaimed || frame != 0, type, generation);
        } finally {
            end(file, frame, page, isRead ? buffer + (page - first << PageLayout.PAGE_SHIFT) : 0, type, generation);
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
    private void end(CachedFile file, int frame, long pageNumber, long read, PageType type, long generation) {
        if (frame == 0) {
            return;
        }
        if (!verifyOrAbandon(file, frame, read, pageNumber, type, generation)) {
            return;
        }
        Memory.copy(read, frames.address(frame), PageLayout.PAGE_BYTES);
        frames.markAhead(frame);
        publish(file, frame, pageNumber);
        counters.loads.increment();
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
