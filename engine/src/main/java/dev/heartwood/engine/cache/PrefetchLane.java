package dev.heartwood.engine.cache;

import dev.heartwood.StoreException;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** One queue of reads into the cache with what is under way in it. Used between {@link #enter} and {@link #exit}. */
final class PrefetchLane implements AutoCloseable {
    /*
     * A request is one read of neighbouring absent pages: a single page straight into its frame, several into a buffer from
     * which they are copied when the read is done, since frames are scattered and one long read is much cheaper than many.
     * What is under way, in all files together, is kept to a share of the cache: nobody may ever wait for it. Where that is used up, what others
     * have begun and do not come back for is completed first; a lane in which nothing is under way has no buffers.
     *
     * A page that turns out damaged is left absent; whoever needs it reads it again and gets the error. Whatever is thrown, no page stays
     * marked as being loaded by a lane that does not load it: who wants the page, or drops it, would look for ever.
     */
    private static final int DEPTH = 8;
    private static final int UNDER_WAY_SHARE_SHIFT = 2;

    private static final class Request {
        private PageRun run;
        private long buffer;
        private long bufferBytes;
        private final int[] frames = new int[PageLayout.EXTENT_PAGES];
    }

    private final CachedFile file;
    private final int number;
    private final FrameTable frames;
    private final FrameSource source;
    private final FrameSupply supply;
    private final PageLoader loader;
    private final MemoryPool pool;
    private final CacheCounters counters;
    private final AtomicInteger underWay;
    private final int underWayMax;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock.
    private final Request[] requests = new Request[DEPTH];
    private IoQueue queue;
    private boolean closed;
    // Written under lock, read without as a hint.
    private volatile int pending;

    PrefetchLane(CachedFile file, PageCache cache, int number) {
        this.file = file;
        this.number = number;
        this.frames = cache.frames;
        this.source = cache.source;
        this.supply = cache.supply;
        this.loader = cache.loader;
        this.pool = cache.pool;
        this.counters = cache.counters;
        this.underWay = cache.prefetchesUnderWay;
        this.underWayMax = frames.size() >>> UNDER_WAY_SHARE_SHIFT;
    }

    boolean tryEnter() {
        // Not again by the thread that is inside and, looking for a frame, would reap what it is just queueing.
        return !lock.isHeldByCurrentThread() && lock.tryLock();
    }

    void enter() {
        lock.lock();
    }

    void exit() {
        lock.unlock();
    }

    boolean isIdle() {
        return pending == 0;
    }

    /** Whether one more read would wait for one that is under way; a hint. */
    boolean isFull() {
        return pending >= DEPTH;
    }

    /** Starts reading the absent pages of a run; frames that are not at hand end it early. Returns how far it came. */
    int prefetch(PageRun run) {
        if (closed || !openQueue()) {
            return 0;
        }
        int i = 0;
        while (i < run.count()) {
            long page = run.firstPage() + i;
            if (loader.isHere(file, run, page)) {
                i++;
                continue;
            }
            int started = start(freeSlot(), run.part(page, run.count() - i));
            if (started == 0) {
                break;
            }
            i += started;
        }
        queue.submit();
        freeBuffersOfIdle();
        return i;
    }

    /** Waits for one request and publishes its pages; false when nothing is under way. */
    boolean reapOne() {
        if (pending == 0) {
            return false;
        }
        int slot;
        int before = queue.pending();
        try {
            slot = (int) queue.await();
        } catch (StoreException e) {
            if (queue.pending() == before) {
                throw e; // the queue failed, not one operation: its pages stay unavailable
            }
            end((int) queue.failedTag(), false); // whoever needs a page of it reads it again and gets the error
            return true;
        } catch (Error e) {
            if (queue.pending() != before) {
                end((int) queue.failedTag(), false); // a full Java heap, perhaps while it was told what failed
            }
            throw e;
        }
        end(slot, true);
        return true;
    }

    /** Ends the loads of a request that is not under way any more. */
    private void end(int slot, boolean good) {
        pending--;
        Request request = requests[slot];
        PageRun run = request.run;
        request.run = null;
        underWay.addAndGet(-run.count());
        try {
            endFrom(request, run, 0, good);
        } finally {
            freeBuffersOfIdle();
        }
    }

    /** Ends the load of each page from the one with an index on, whatever that of another one throws. */
    private void endFrom(Request request, PageRun run, int index, boolean good) {
        if (index == run.count()) {
            return;
        }
        try {
            end(request, run, index, good);
        } finally {
            endFrom(request, run, index + 1, good);
        }
    }

    /** Waits for everything and gives the memory back; nothing is prefetched any more. */
    @Override
    public void close() {
        closed = true;
        try {
            while (reapOne()) {
                continue;
            }
        } finally {
            closeQueue();
        }
    }

    private void closeQueue() {
        try {
            if (queue != null) {
                queue.close();
            }
        } finally {
            queue = null;
            abandonAll();
            freeBuffers();
        }
    }

    /** Makes the pages absent again that were not waited for, since waiting failed. */
    private void abandonAll() {
        for (int slot = 0; slot < DEPTH; slot++) {
            if (requests[slot] != null && requests[slot].run != null) {
                end(slot, false);
            }
        }
    }

    private void freeBuffersOfIdle() {
        if (pending == 0) {
            freeBuffers();
        }
    }

    private void freeBuffers() {
        for (Request request : requests) {
            if (request != null) {
                freeBuffer(request);
            }
        }
    }

    private void freeBuffer(Request request) {
        if (request.buffer != 0) {
            pool.free(request.buffer, request.bufferBytes);
            request.buffer = 0;
            request.bufferBytes = 0;
        }
    }

    /** Whether a request has a buffer for so many pages. No larger one than is needed: what nobody comes back for keeps it, and there is little. */
    private boolean hasBuffer(Request request, int pages) {
        long bytes = MemoryPool.blockBytes((long) pages << PageLayout.PAGE_SHIFT);
        if (request.bufferBytes < bytes) {
            freeBuffer(request);
            request.buffer = pool.allocate(bytes);
            request.bufferBytes = request.buffer == 0 ? 0 : bytes;
        }
        return request.buffer != 0;
    }

    /** Makes the queue; without one, for want of descriptors perhaps, nothing is read ahead. */
    private boolean openQueue() {
        if (queue == null) {
            try {
                queue = file.device().newQueue(DEPTH);
            } catch (StoreException e) {
                return false;
            }
        }
        return true;
    }

    private int freeSlot() {
        while (true) {
            for (int slot = 0; slot < DEPTH; slot++) {
                if (requests[slot] == null) {
                    requests[slot] = new Request();
                }
                if (requests[slot].run == null) {
                    return slot;
                }
            }
            reapOne();
        }
    }

    /** Starts one read of the absent pages that begin a run; returns how many, 0 when there is no frame. */
    private int start(int slot, PageRun run) {
        Request request = requests[slot];
        int countMax = Math.min(run.count(), PageLayout.EXTENT_PAGES);
        while (underWay.get() + countMax > underWayMax && (reapOne() || source.reapPrefetches())) {
            continue;
        }
        countMax = Math.min(countMax, underWayMax - underWay.get());
        if (countMax > 1 && !hasBuffer(request, countMax)) {
            countMax = 1;
        }
        int count = countMax <= 0 ? 0 : claim(request, run, countMax);
        if (count == 0) {
            return 0;
        }
        long target = count == 1 ? frames.address(request.frames[0]) : request.buffer;
        try {
            request.run = run.part(run.firstPage(), count);
            queue.read(run.firstPage() << PageLayout.PAGE_SHIFT, target, count << PageLayout.PAGE_SHIFT, slot);
        } catch (Throwable e) {
            abandon(request, run, count);
            request.run = null;
            throw e;
        }
        pending++;
        underWay.addAndGet(count);
        counters.prefetches.add(count);
        return count;
    }

    /** Takes a frame for each absent page at the beginning of a run and marks the page as being loaded by this lane. */
    private int claim(Request request, PageRun run, int countMax) {
        int claimed = 0;
        try {
            while (claimed < countMax && claimNext(request, run.firstPage() + claimed, claimed)) {
                claimed++;
            }
            return claimed;
        } catch (Throwable e) {
            abandon(request, run, claimed); // a full Java heap, while a frame was looked for
            throw e;
        }
    }

    private boolean claimNext(Request request, long page, int index) {
        DirectMap map = file.map();
        int frame = map.get(page) == 0 ? source.takeReady() : 0;
        if (frame == 0) {
            return false;
        }
        frames.setLane(frame, number);
        request.frames[index] = frame;
        return source.beginLoad(map, page, frame, false);
    }

    /** Makes the first pages of a run absent again whose load was not begun. */
    private void abandon(Request request, PageRun run, int count) {
        for (int i = 0; i < count; i++) {
            loader.abandon(file, request.frames[i], run.firstPage() + i);
        }
    }

    private void end(Request request, PageRun run, int i, boolean good) {
        int frame = request.frames[i];
        long page = run.firstPage() + i;
        long from = run.count() == 1
                ? frames.address(frame)
                : request.buffer + ((long) i << PageLayout.PAGE_SHIFT);
        if (!loader.verifyOrAbandon(file, frame, good ? from : 0, page, run.type(), run.generation())) {
            return;
        }
        if (run.count() > 1) {
            Memory.copy(from, frames.address(frame), PageLayout.PAGE_BYTES);
        }
        loader.publishAhead(file, run, frame, page);
    }
}
