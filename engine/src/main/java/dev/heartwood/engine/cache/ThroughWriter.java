package dev.heartwood.engine.cache;

import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.page.PageLayout;

/**
 * Writes sealed pages past the cache as {@link CachedFile#writeThrough} does, an extent while its caller fills the next: the output of
 * merges. Belongs to one thread. After an exception only {@link #close} may follow.
 */
public final class ThroughWriter implements AutoCloseable {
    /** Writes under way at once. */
    static final int DEPTH = 1;

    private final CachedFile file;
    private final DirtyPages dirtyPages;
    private final IoQueue queue;
    private final boolean keeps;
    private long firstPage;
    private int count;
    private long address;
    private int evicting;

    /** @param keeps whether copies stay in the cache while it has frames to spare */
    ThroughWriter(CachedFile file, DirtyPages dirtyPages, IoQueue queue, boolean keeps) {
        this.file = file;
        this.dirtyPages = dirtyPages;
        this.queue = queue;
        this.keeps = keeps;
    }

    /**
     * Waits for the write before and starts one of pages that are contiguous at {@code address}, which is the writer's until the next call.
     *
     * @param places how many of them may be kept in the place of others
     * @return how many of those before were
     */
    public int write(long first, int pages, long from, int places) {
        int evicted = await();
        dirtyPages.requireNew(file, first, pages);
        firstPage = first;
        count = pages;
        address = from;
        evicting = places;
        try {
            queue.write(first << PageLayout.PAGE_SHIFT, from, pages << PageLayout.PAGE_SHIFT, 0);
            queue.submit();
        } catch (RuntimeException | Error e) {
            dirtyPages.failed(file, e);
            throw e;
        }
        return evicted;
    }

    /** Waits until everything is on the device; returns how many pages were kept in the place of others. */
    public int await() {
        if (queue.pending() == 0) {
            return 0;
        }
        try {
            queue.await();
        } catch (RuntimeException | Error e) {
            dirtyPages.failed(file, e);
            throw e;
        }
        return dirtyPages.wroteThrough(file, firstPage, count, address, keeps, evicting);
    }

    /** Waits until nothing is under way any more, whatever comes of it. Idempotent. */
    @Override
    public void close() {
        queue.close();
    }
}
