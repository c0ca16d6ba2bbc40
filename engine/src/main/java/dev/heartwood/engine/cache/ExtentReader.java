package dev.heartwood.engine.cache;

import dev.heartwood.StoreException;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/**
 * Reads runs of pages into the caller's buffers, past the cache, several at a time: the input of merges and long scans. What
 * is cached is copied from there, so dirty pages are seen and hot ones save a read; nothing is brought into the cache. Belongs
 * to one thread. The caller keeps the pages from being discarded until the request is finished.
 */
public final class ExtentReader implements AutoCloseable {
    /*
     * begin() copies the cached pages, which is final since pages are immutable, and reads the absent ones with one read per
     * stretch. A clean cached page between two absent ones is read again rather than splitting the stretch: its bytes on the
     * device are the same. A dirty one splits it, for the device does not have it yet.
     */
    private static final int REQUESTS_MAX = 64;

    private static final class Request {
        private PageRun run;
        private long buffer;
        private int readsLeft;
        /** The pages that came from the device and are to be verified, as bits. */
        private int fromDevice;
        private StoreException failure;
    }

    private final CachedFile file;
    private final IoQueue queue;
    private final Request[] requests = new Request[REQUESTS_MAX];
    private long cachedPages;

    /**
     * A reader with up to {@code depth} reads under way at once.
     *
     * @throws dev.heartwood.StoreException when the system refuses a queue
     */
    public ExtentReader(CachedFile file, int depth) {
        this.file = file;
        this.queue = file.device().newQueue(depth);
    }

    /**
     * Starts reading {@code count} pages, at most an extent, into {@code buffer}, which is aligned to a page.
     *
     * @return the request, to be given to {@link #finish}
     */
    public int begin(long firstPage, int count, long buffer, PageType type, long generation) {
        if (count <= 0 || count > PageLayout.EXTENT_PAGES) {
            throw new IllegalArgumentException(count + " pages");
        }
        int slot = freeSlot();
        Request request = requests[slot];
        request.run = new PageRun(firstPage, count, type, generation, true);
        request.buffer = buffer;
        request.failure = null;
        request.fromDevice = 0;
        request.readsLeft = 1; // held until all its reads are queued
        long plan = file.copyCached(firstPage, count, buffer);
        cachedPages += count - Integer.bitCount(ReadPlan.absent(plan));
        try {
            read(slot, ReadPlan.absent(plan), ReadPlan.dirty(plan));
        } catch (StoreException e) {
            request.failure = e;
        }
        request.readsLeft--;
        return slot;
    }

    /**
     * Waits for a request; its pages are then in its buffer, verified.
     *
     * @throws dev.heartwood.StoreException when a page could not be read or is damaged
     */
    public void finish(int request) {
        Request r = requests[request];
        while (r.readsLeft > 0) {
            reap();
        }
        PageRun run = r.run;
        r.run = null;
        if (r.failure != null) {
            throw r.failure;
        }
        for (int left = r.fromDevice; left != 0; left &= left - 1) {
            int i = Integer.numberOfTrailingZeros(left);
            long page = r.buffer + ((long) i << PageLayout.PAGE_SHIFT);
            file.verify(page, run.type(), run.firstPage() + i, run.generation());
        }
    }

    /**
     * Waits until the device does not write to the buffer of a request any more, whatever comes of it: nobody wants its pages. Nothing is left
     * to wait for once the reader is closed.
     */
    public void abandon(int request) {
        Request r = requests[request];
        try {
            while (r.readsLeft > 0 && queue.pending() > 0) {
                reap();
            }
        } catch (StoreException e) {
            queue.close(); // the queue failed, not one operation, and is of no use any more
        }
        r.run = null;
    }

    /** Waits for everything under way, ignoring failures: the buffers of all requests are their owners' again. Idempotent. */
    @Override
    public void close() {
        queue.close();
    }

    /** Pages that were found in the cache, of all requests so far. */
    public long cachedPages() {
        return cachedPages;
    }

    /** Requests begun and not finished. */
    public int pending() {
        int pending = 0;
        for (Request request : requests) {
            pending += request != null && request.run != null ? 1 : 0;
        }
        return pending;
    }

    private void read(int slot, int absent, int dirty) {
        Request request = requests[slot];
        for (int left = absent; left != 0; ) {
            int first = Integer.numberOfTrailingZeros(left);
            int count = ReadPlan.stretch(left, dirty, first);
            while (queue.pending() == queue.depth()) {
                reap();
            }
            long position = request.run.firstPage() + first << PageLayout.PAGE_SHIFT;
            long target = request.buffer + ((long) first << PageLayout.PAGE_SHIFT);
            queue.read(position, target, count << PageLayout.PAGE_SHIFT, slot);
            request.readsLeft++;
            int mask = WriteBack.runMask(first, count);
            request.fromDevice |= mask;
            left &= ~mask;
        }
        queue.submit();
    }

    private void reap() {
        int slot;
        int pending = queue.pending();
        try {
            slot = (int) queue.await();
        } catch (StoreException e) {
            if (queue.pending() == pending) {
                throw e; // the queue failed, not one operation
            }
            slot = (int) queue.failedTag();
            requests[slot].failure = e;
        }
        requests[slot].readsLeft--;
    }

    private int freeSlot() {
        for (int slot = 0; slot < REQUESTS_MAX; slot++) {
            if (requests[slot] == null) {
                requests[slot] = new Request();
            }
            if (requests[slot].run == null) {
                return slot;
            }
        }
        throw new IllegalStateException(REQUESTS_MAX + " requests are not finished");
    }
}
