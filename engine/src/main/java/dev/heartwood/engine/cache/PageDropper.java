package dev.heartwood.engine.cache;

import dev.heartwood.engine.page.PageLayout;

/** Takes pages out of the cache that nobody needs any more. Thread-safe. */
final class PageDropper {
    /*
     * First the dirty bits, which waits for writes under way; then, page by page, the frames, which waits for loads under way.
     * A frame found in the map may be evicted by another thread before its lock is had, and then stays write-locked for as
     * long as it is free; so the lock is only tried, and the map asked again after each failure.
     */
    private final FrameTable frames;
    private final FrameSupply supply;
    private final PageLoader loader;
    private final DirtyQueue dirty;
    private final CacheCounters counters;

    PageDropper(
            FrameTable frames, FrameSupply supply, PageLoader loader, DirtyQueue dirty, CacheCounters counters) {
        this.frames = frames;
        this.supply = supply;
        this.loader = loader;
        this.dirty = dirty;
        this.counters = counters;
    }

    /** Drops a run of pages; when it returns, no I/O of the cache on them is under way. */
    void drop(CachedFile file, long firstPage, int count) {
        long end = firstPage + count;
        long page = firstPage;
        while (page < end) {
            long extent = page >>> PageLayout.EXTENT_SHIFT;
            long extentEnd = Math.min(end, extent + 1 << PageLayout.EXTENT_SHIFT);
            int mask = WriteBack.runMask((int) page & PageLayout.EXTENT_PAGES - 1, (int) (extentEnd - page));
            counters.discardedDirty.add(dirty.drop(file, extent, mask));
            dropFrames(file, page, extentEnd);
            page = extentEnd;
        }
    }

    /** Drops every page of a file. */
    void dropAll(CachedFile file) {
        dirty.dropAll(file);
        DirectMap map = file.map();
        long page = 0;
        while ((page = map.nextCovered(page)) < map.pagesEnd()) {
            dropFrames(file, page, page + PageLayout.EXTENT_PAGES);
            page += PageLayout.EXTENT_PAGES;
        }
    }

    private void dropFrames(CachedFile file, long page, long end) {
        int head = 0;
        int count = 0;
        for (long p = page; p < end; p++) {
            int frame = unpublish(file, p);
            if (frame != 0) {
                frames.setStatus(frame, FrameTable.FREE);
                frames.setLink(frame, head);
                head = frame;
                count++;
            }
        }
        if (count > 0) {
            supply.retire(head, count);
        }
    }

    /** The frame, now write-locked, that held a page, or 0. */
    private int unpublish(CachedFile file, long page) {
        DirectMap map = file.map();
        int entry;
        while ((entry = map.get(page)) != 0) {
            if (entry < 0) {
                loader.awaitLoad(file, page, entry);
            } else if (frames.locks().tryLockWrite(entry)) {
                if (map.compareAndSet(page, entry, 0)) {
                    return entry;
                }
                frames.locks().unlockWrite(entry);
            } else {
                Thread.yield();
            }
        }
        return 0;
    }
}
