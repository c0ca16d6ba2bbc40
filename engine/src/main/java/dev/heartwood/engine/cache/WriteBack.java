package dev.heartwood.engine.cache;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.engine.cache.DirtyQueue.DirtyExtent;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;

/** Writes dirty extents to their devices, joining neighbours. Thread-safe. */
final class WriteBack {
    /*
     * Pages are immutable and a dirty frame is neither evicted nor dropped, so writing needs no lock on the frames: the
     * queue's `writing` bits are what a page's removal waits for.
     *
     * A failure is never thrown to whoever happens to write another's extent to get a frame; it is latched in the extent's
     * file, and thrown to that file's callers.
     */
    private static final int EXTENTS_FOR_QUEUE = 3;

    private final FrameTable frames;
    private final DirtyQueue queue;
    private final ColdQueue cold;
    private final MemoryPool pool;
    private final CacheCounters counters;

    WriteBack(FrameTable frames, DirtyQueue queue, ColdQueue cold, MemoryPool pool, CacheCounters counters) {
        this.frames = frames;
        this.queue = queue;
        this.cold = cold;
        this.pool = pool;
        this.counters = counters;
    }

    /** Writes the oldest dirty extent of any file; false when there is none that can be written. */
    boolean writeOldest() {
        DirtyExtent extent = queue.takeOldest();
        if (extent == null) {
            return false;
        }
        write(extent);
        return true;
    }

    /** Writes up to so many of the oldest dirty extents of any files, several at once; false when there are fewer that can be written. */
    boolean writeOldest(int extents) {
        DirtyExtent[] taken = new DirtyExtent[extents];
        int count = 0;
        while (count < extents && (taken[count] = queue.takeOldest()) != null) {
            count++;
        }
        int to;
        for (int from = 0; from < count; from = to) {
            to = from + 1;
            while (to < count && taken[to].file == taken[from].file) {
                to++;
            }
            write(taken, from, to);
        }
        return count == extents;
    }

    /** Writes extents of one file that were taken from the queue, several at once. */
    private void write(DirtyExtent[] taken, int from, int to) {
        int next = from;
        try (ExtentWriter writer = new ExtentWriter(this, frames, taken[from].file, pool)) {
            while (next < to) {
                writer.write(taken[next++]);
            }
        } catch (Throwable e) {
            // The writer has failed what it was given.
            queue.fail(taken[from].file, e);
            while (next < to) {
                failed(taken[next++], e);
            }
        }
    }

    /** Writes everything of a file that is dirty now; returns when it is on the device. */
    void writeAll(CachedFile file) {
        long serialMax = queue.lastSerial();
        if (queue.pages(file) <= EXTENTS_FOR_QUEUE * PageLayout.EXTENT_PAGES) {
            DirtyExtent extent;
            while ((extent = queue.takeOldest(file, serialMax)) != null) {
                write(extent);
            }
        } else {
            try (ExtentWriter writer = new ExtentWriter(this, frames, file, pool)) {
                DirtyExtent extent;
                while ((extent = queue.takeOldest(file, serialMax)) != null) {
                    writer.write(extent);
                }
            }
        }
        // What others had taken before counts, too.
        queue.awaitWritten(file);
        requireWritable(file);
    }

    /** Writes what is dirty of some extents of a file; returns when it is on the device. */
    void write(CachedFile file, long[] firstPages, int count) {
        try (ExtentWriter writer = new ExtentWriter(this, frames, file, pool)) {
            for (int i = 0; i < count; i++) {
                DirtyExtent extent = queue.take(file, firstPages[i] >>> PageLayout.EXTENT_SHIFT);
                if (extent != null) {
                    writer.write(extent);
                }
            }
        }
        for (int i = 0; i < count; i++) {
            queue.awaitWritten(file, firstPages[i] >>> PageLayout.EXTENT_SHIFT);
        }
        requireWritable(file);
    }

    /** Throws when a write to the file failed earlier. */
    static void requireWritable(CachedFile file) {
        Throwable failure = file.dirt().failure();
        if (failure != null) {
            throw new PreviousFailureException(failure);
        }
    }

    /** Writes an extent that was taken from the queue, with this thread, one call for each run of neighbours. */
    void write(DirtyExtent extent) {
        try {
            long[] addresses = new long[PageLayout.EXTENT_PAGES];
            int left = extent.writing();
            while (left != 0) {
                int first = Integer.numberOfTrailingZeros(left);
                int count = runLength(left, first);
                for (int i = 0; i < count; i++) {
                    addresses[i] = address(extent, first + i);
                }
                long position = extent.firstPage() + first << PageLayout.PAGE_SHIFT;
                extent.file.device().writePages(position, addresses, count);
                left &= ~runMask(first, count);
            }
        } catch (Throwable e) {
            failed(extent, e);
            return;
        }
        finished(extent);
    }

    /** The address of a page of an extent that is being written. */
    long address(DirtyExtent extent, int page) {
        int frame = extent.file.map().get(extent.firstPage() + page);
        assert frame > 0 && frames.status(frame) == FrameTable.DIRTY;
        return frames.address(frame);
    }

    /** Ends the writing of an extent: its pages are clean, and preferred victims unless they were accessed. */
    void finished(DirtyExtent extent) {
        int mask = extent.writing();
        for (int left = mask; left != 0; left &= left - 1) {
            int frame = extent.file.map().get(extent.firstPage() + Integer.numberOfTrailingZeros(left));
            frames.setStatus(frame, FrameTable.CLEAN);
            cold.add(frame);
        }
        // First: counting may need room on the Java heap, and whoever waits for the writing waits for this.
        queue.finished(extent);
        counters.writtenBack.add(Integer.bitCount(mask));
    }

    /** Ends the writing of an extent that failed. */
    void failed(DirtyExtent extent, Throwable failure) {
        queue.failed(extent, failure);
    }

    static int runLength(int mask, int first) {
        return Integer.numberOfTrailingZeros(~(mask >>> first));
    }

    static int runMask(int first, int count) {
        return (int) ((1L << count) - 1 << first);
    }
}
