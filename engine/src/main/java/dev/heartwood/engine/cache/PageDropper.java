package dev.heartwood.engine.cache;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.page.PageLayout;

/** Takes pages out of the cache that nobody needs any more. Thread-safe. */
final class PageDropper {
    /*
     * First the dirty bits, which waits for writes under way; then, page by page, the frames, which waits for loads under way, and what is kept
     * of an evicted page.
     * A frame found in the map may be evicted by another thread before its lock is had, and then stays write-locked for as
     * long as it is free; so the lock is only tried, and the map asked again after each failure.
     *
     * Who has the lock of a frame that is in the map? One who has just published it, or is about to evict it, for a few instructions and a copy of
     * the page, between which no virtual thread can be parked; a reader that is just failing to have it, likewise; or one that keeps a page locked although
     * nobody asks for it any more, against the word of who drops it, as after a StackOverflowError in the midst of a call. For the others a
     * yield is enough, since a thread that is stopped there goes on some time. For the last one nothing can be done but to let others have the
     * processor, also that of a virtual thread's carrier, and to say once what is waited for: the frame's memory must not go as long as
     * somebody may read it.
     */
    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    private static final int YIELDS = 100;

    private static final long POLL_NANOS = 1_000_000;

    /** After so many polls, some seconds, it is told what is waited for. */
    static final int POLLS_UNTOLD = 5_000;

    private final FrameTable frames;
    private final FrameSupply supply;
    private final PageLoader loader;
    private final DirtyQueue dirty;
    private final VictimCache victims;
    private final CacheCounters counters;
    private final Clock clock;

    PageDropper(
            FrameTable frames,
            FrameSupply supply,
            PageLoader loader,
            DirtyQueue dirty,
            VictimCache victims,
            CacheCounters counters,
            Clock clock) {
        this.frames = frames;
        this.supply = supply;
        this.loader = loader;
        this.dirty = dirty;
        this.victims = victims;
        this.counters = counters;
        this.clock = clock;
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
        victims.dropAll(file.slot());
    }

    private void dropFrames(CachedFile file, long page, long end) {
        int head = 0;
        int count = 0;
        try {
            for (long p = page; p < end; p++) {
                int frame = unpublish(file, p);
                victims.drop(file.slot(), p);
                if (frame != 0) {
                    head = chained(frame, head);
                    count++;
                }
            }
        } finally {
            // Also where waiting for a load finds the Java heap full.
            if (count > 0) {
                supply.retire(head, count);
            }
        }
    }

    /** Puts a frame that holds nothing any more before others of its kind; returns the new head. */
    private int chained(int frame, int head) {
        frames.setStatus(frame, FrameTable.FREE);
        frames.setLink(frame, head);
        return frame;
    }

    /** The frame, now write-locked, that held a page, or 0. */
    private int unpublish(CachedFile file, long page) {
        DirectMap map = file.map();
        int rounds = 0;
        int entry;
        while ((entry = map.get(page)) != 0) {
            if (entry < 0) {
                loader.awaitLoad(file, page, entry);
            } else if (frames.locks().tryLockWrite(entry)) {
                // It may hold another page by now. If not, it is in the map as long as it is locked.
                if (frames.ownerSlot(entry) == file.slot() && frames.ownerPage(entry) == page) {
                    map.set(page, 0);
                    return entry;
                }
                frames.locks().unlockWrite(entry);
            } else {
                rounds++;
                pause(file, page, rounds);
            }
        }
        return 0;
    }

    private void pause(CachedFile file, long page, int rounds) {
        if (rounds <= YIELDS) {
            Thread.yield();
            return;
        }
        if (rounds == YIELDS + POLLS_UNTOLD) {
            tell(file, page);
        }
        clock.parkNanos(POLL_NANOS);
    }

    private static void tell(CachedFile file, long page) {
        try {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "page " + page + " of " + file.device().name()
                            + " is needed no longer, but a reader has left it locked; its memory is waited for");
        } catch (RuntimeException | Error e) {
            // Of a handler of the user's, or of a full heap: the frames dropped so far must not be lost for it.
        }
    }
}
