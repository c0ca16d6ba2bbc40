package dev.heartwood.engine.cache;

import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.page.PageLayout;

/**
 * Writes sealed pages past the cache as {@link CachedFile#writeThrough} does, some extents while its caller fills the next: the output of
 * merges. Belongs to one thread. After an exception only {@link #close} may follow.
 */
public final class ThroughWriter implements AutoCloseable {
    /** The most writes under way at once. */
    public static final int DEPTH_MAX = 4;

    /** One write; its number is the tag of its operation. */
    private static final class Write {
        private boolean underWay;
        private long firstPage;
        private int count;
        private long address;
        private int evicting;
    }

    private final CachedFile file;
    private final DirtyPages dirtyPages;
    private final IoQueue queue;
    private final boolean keeps;
    private final Write[] writes;
    private long evicted;
    /** What the writes under way may evict, all together. */
    private long evicting;

    /**
     * A writer with up to {@code depth} writes under way at once.
     *
     * @param keeps whether copies stay in the cache while it has frames to spare
     * @throws dev.heartwood.StoreException when the system refuses a queue
     */
    ThroughWriter(CachedFile file, DirtyPages dirtyPages, int depth, boolean keeps) {
        this.file = file;
        this.dirtyPages = dirtyPages;
        this.keeps = keeps;
        writes = new Write[depth];
        for (int i = 0; i < depth; i++) {
            writes[i] = new Write();
        }
        queue = file.device().newQueue(depth); // last: an open queue that nobody closes would keep the file open
    }

    /** Whether there are as many writes under way as there may be, so that {@link #reap} comes before the next. */
    public boolean isFull() {
        return queue.pending() == writes.length;
    }

    /**
     * Starts a write of pages that are contiguous at {@code address}, which is the writer's until {@link #reap} returns it. The writer is
     * not full.
     *
     * @param places how many of them may be kept in the place of others
     */
    public void write(long first, int pages, long from, int places) {
        dirtyPages.requireNew(file, first, pages);
        int tag = 0;
        while (writes[tag].underWay) {
            tag++;
        }
        Write write = writes[tag];
        write.underWay = true;
        write.firstPage = first;
        write.count = pages;
        write.address = from;
        write.evicting = places;
        evicting += places;
        try {
            queue.write(first << PageLayout.PAGE_SHIFT, from, pages << PageLayout.PAGE_SHIFT, tag);
            queue.submit();
        } catch (RuntimeException | Error e) {
            dirtyPages.failed(file, e);
            throw e;
        }
    }

    /** Waits for one of the writes under way, of which there is one, and returns the address it was from. */
    public long reap() {
        Write write;
        try {
            write = writes[(int) queue.await()];
        } catch (RuntimeException | Error e) {
            dirtyPages.failed(file, e);
            throw e;
        }
        write.underWay = false;
        evicting -= write.evicting;
        evicted += dirtyPages.wroteThrough(file, write.firstPage, write.count, write.address, keeps, write.evicting);
        return write.address;
    }

    /** Waits until everything is on the device. */
    public void await() {
        while (queue.pending() > 0) {
            reap();
        }
    }

    /** How many pages were kept in the place of others, or may be of those under way. */
    public long placesTaken() {
        return evicted + evicting;
    }

    /** Waits until nothing is under way any more, whatever comes of it. Idempotent. */
    @Override
    public void close() {
        queue.close();
    }
}
