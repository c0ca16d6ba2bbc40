package dev.heartwood.engine.cache;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/** Takes new pages in, to be written back later, and keeps their share of the cache bounded. Thread-safe. */
final class DirtyPages {
    /*
     * Above the first share of the cache the background is asked to write back, once until it has answered; above the second
     * the thread that brings more does it itself. Late writing is worth something: what is freed before it is written
     * costs the device nothing.
     */
    private static final int EXTENTS_AT_ONCE = 4;

    private final FrameTable frames;
    private final FrameSource source;
    private final DirtyQueue queue;
    private final WriteBack writeBack;
    private final CacheCounters counters;
    private final int dueAbove;
    private final int dirtyMax;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile Runnable whenDue = () -> {};

    DirtyPages(FrameTable frames, FrameSource source, DirtyQueue queue, WriteBack writeBack, CacheCounters counters) {
        this.frames = frames;
        this.source = source;
        this.queue = queue;
        this.writeBack = writeBack;
        this.counters = counters;
        this.dueAbove = frames.size() / 2;
        this.dirtyMax = frames.size() / 4 * 3;
    }

    void setWhenDue(Runnable action) {
        whenDue = action;
    }

    /** Bytes of dirty pages above which the background is asked. */
    long dueAboveBytes() {
        return (long) dueAbove << PageLayout.PAGE_SHIFT;
    }

    boolean isDue() {
        return queue.pages() > dueAbove;
    }

    boolean isAsked() {
        return asked.get();
    }

    /** Lets whoever inserts next ask again. */
    void forgetAsked() {
        asked.set(false);
    }

    /** Writes back some of what is due; returns whether more is. */
    boolean writeSome(int extentsMax) {
        asked.set(false);
        int pagesDue = queue.pages() - dueAbove;
        int extents = Math.ceilDiv(Math.max(0, pagesDue), PageLayout.EXTENT_PAGES);
        return writeBack.writeOldest(Math.min(extents, extentsMax)) && isDue();
    }

    /** Copies sealed pages of one extent in, or writes them to the device when no frames can be had. */
    void insert(CachedFile file, long firstPage, int count, long address, Lifetime lifetime) {
        requireOneExtent(firstPage, count);
        requireNew(file, firstPage, count);
        while (queue.pages() + count > dirtyMax && writeBack.writeOldest(EXTENTS_AT_ONCE)) {
            continue;
        }
        int[] taken = new int[count];
        if (queue.pages() + count > dirtyMax
                || !source.take(taken, count)
                || !publish(file, taken, firstPage, count, address)) {
            writeThrough(file, firstPage, count, address);
            return;
        }
        int first = (int) firstPage & PageLayout.EXTENT_PAGES - 1;
        queue.add(file, firstPage >>> PageLayout.EXTENT_SHIFT, WriteBack.runMask(first, count), lifetime);
        askIfDue();
    }

    private void askIfDue() {
        if (isDue() && asked.compareAndSet(false, true)) {
            try {
                whenDue.run();
            } catch (RuntimeException | Error e) {
                asked.set(false);
                throw e;
            }
        }
    }

    /** Writes sealed pages to the device now. */
    void writeThrough(CachedFile file, long firstPage, int count, long address) {
        writeNow(file, firstPage, count, address);
        wroteThrough(file, firstPage, count, address, false, 0);
    }

    /** As {@link #writeThrough}, and keeps copies; returns how many in the place of others, {@code evicting} at most. */
    int writeAndKeep(CachedFile file, long firstPage, int count, long address, int evicting) {
        writeNow(file, firstPage, count, address);
        return wroteThrough(file, firstPage, count, address, true, evicting);
    }

    private void writeNow(CachedFile file, long firstPage, int count, long address) {
        requireNew(file, firstPage, count);
        try {
            file.device().write(firstPage << PageLayout.PAGE_SHIFT, address, count << PageLayout.PAGE_SHIFT);
        } catch (RuntimeException | Error e) {
            failed(file, e);
            throw e;
        }
    }

    /** Throws unless the file takes writes and nothing is known of these pages. */
    void requireNew(CachedFile file, long firstPage, int count) {
        WriteBack.requireWritable(file);
        requireAbsent(file, firstPage, count);
    }

    /**
     * Notes pages that are on the device, and keeps copies, if that is wanted, while the cache has frames to spare or {@code evicting} others
     * may go; returns how many had to.
     */
    int wroteThrough(CachedFile file, long firstPage, int count, long address, boolean keeps, int evicting) {
        counters.writtenThrough.add(count);
        return keeps ? keep(file, firstPage, count, address, evicting) : 0;
    }

    /** Notes that pages could not be written: the file takes no more then, unless it was for want of space. */
    void failed(CachedFile file, Throwable failure) {
        // Nothing durable refers to these pages yet, and room can be made.
        if (!(failure instanceof NoSpaceException)) {
            queue.fail(file, failure);
        }
    }

    /** What a merge wrote replaces what was read: where all data fit into the cache, they still do after it. */
    private int keep(CachedFile file, long firstPage, int count, long address, int evicting) {
        int evicted = 0;
        for (int i = 0; i < count; i++) {
            boolean mayEvict = evicted < evicting;
            int frame = source.takeSpare();
            if (frame == 0 && mayEvict) {
                frame = source.takeReady();
                evicted++;
            }
            if (frame == 0
                    || !publish(file, frame, firstPage + i, address + ((long) i << PageLayout.PAGE_SHIFT), mayEvict)) {
                break;
            }
        }
        return evicted;
    }

    /** Publishes a copy of a page that is on the device, or gives its frame back where the map finds none that is to spare, or may be taken. */
    private boolean publish(CachedFile file, int frame, long pageNumber, long from, boolean mayEvict) {
        boolean isEntered = false;
        try {
            fill(file, frame, FrameTable.CLEAN, pageNumber, from);
            isEntered = mayEvict
                    ? source.enterReadily(file.map(), pageNumber, frame)
                    : source.enterSparingly(file.map(), pageNumber, frame);
        } finally {
            if (isEntered) {
                frames.locks().unlockWrite(frame);
            } else {
                source.giveBack(frame);
            }
        }
        return isEntered;
    }

    /** Publishes copies of new pages of one extent, or gives their frames back where the map finds none. */
    private boolean publish(CachedFile file, int[] taken, long firstPage, int count, long address) {
        boolean isEntered = false;
        try {
            for (int i = 0; i < count; i++) {
                fill(file, taken[i], FrameTable.DIRTY, firstPage + i, address + ((long) i << PageLayout.PAGE_SHIFT));
            }
            isEntered = source.enter(file.map(), firstPage, taken[0]);
        } finally {
            if (!isEntered) {
                source.giveBack(taken, count);
            }
        }
        if (isEntered) {
            // The first entry keeps the chunk until its frame is unlocked: an extent lies in one.
            for (int i = 1; i < count; i++) {
                file.map().set(firstPage + i, taken[i]);
            }
            for (int i = 0; i < count; i++) {
                frames.locks().unlockWrite(taken[i]);
            }
        }
        return isEntered;
    }

    private void fill(CachedFile file, int frame, int status, long pageNumber, long from) {
        Memory.copy(from, frames.address(frame), PageLayout.PAGE_BYTES);
        frames.setOwner(frame, file.slot(), pageNumber);
        frames.setStatus(frame, status);
    }

    private static void requireOneExtent(long firstPage, int count) {
        int first = (int) firstPage & PageLayout.EXTENT_PAGES - 1;
        if (firstPage < 0 || count <= 0 || first + count > PageLayout.EXTENT_PAGES) {
            throw new IllegalArgumentException(count + " pages from " + firstPage + " are not in one extent");
        }
    }

    /** A page is written once in its life: it was discarded before its place is used again. */
    private static void requireAbsent(CachedFile file, long firstPage, int count) {
        for (long page = firstPage; page < firstPage + count; page++) {
            if (file.map().get(page) != 0) {
                throw new IllegalStateException("page " + page + " of " + file.device().name() + " is still cached");
            }
        }
    }
}
