package dev.heartwood.engine.cache;

import dev.heartwood.StoreException;
import dev.heartwood.engine.cache.DirtyQueue.DirtyExtent;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;

/** Writes many dirty extents of one file with several under way at once. Belongs to one thread. */
final class ExtentWriter implements AutoCloseable {
    /*
     * A write of the queue takes one range of memory, and the frames of an extent are scattered; so its pages are copied
     * into a buffer first, which costs a fraction of the write and keeps the writes long. Without memory for buffers, or
     * without a queue, each extent is written synchronously from its frames.
     */
    private static final int SLOTS_MAX = 8;
    private static final int SLOTS_MIN = 2;
    private static final int DEPTH = 32;

    private final WriteBack writeBack;
    private final FrameTable frames;
    private final CachedFile file;
    private final MemoryPool pool;
    private final DirtyExtent[] extents = new DirtyExtent[SLOTS_MAX];
    private final Throwable[] failures = new Throwable[SLOTS_MAX];
    private final int[] writesLeft = new int[SLOTS_MAX];
    private int slots;
    private long buffers;
    private IoQueue queue;

    ExtentWriter(WriteBack writeBack, FrameTable frames, CachedFile file, MemoryPool pool) {
        this.writeBack = writeBack;
        this.frames = frames;
        this.file = file;
        this.pool = pool;
    }

    /** Starts writing an extent that was taken from the queue of dirty extents. */
    void write(DirtyExtent extent) {
        int slot;
        try {
            slot = openQueue() ? freeSlot() : -1;
        } catch (Throwable e) {
            writeBack.failed(extent, e);
            throw e;
        }
        if (slot < 0) {
            writeBack.write(extent);
            return;
        }
        extents[slot] = extent;
        failures[slot] = null;
        writesLeft[slot] = 1; // held until all its writes are queued
        for (int left = extent.writing(); left != 0; ) {
            int first = Integer.numberOfTrailingZeros(left);
            int count = WriteBack.runLength(left, first);
            while (queue.pending() == queue.depth()) {
                reap();
            }
            start(slot, first, count);
            left &= ~WriteBack.runMask(first, count);
        }
        queue.submit();
        ended(slot);
    }

    /** Waits until everything is written or has failed. */
    @Override
    public void close() {
        Throwable cause = null;
        try {
            while (queue != null && queue.pending() > 0) {
                reap();
            }
        } catch (Throwable e) {
            cause = e;
            throw e;
        } finally {
            try {
                closeQueue();
            } finally {
                breakOff(cause);
            }
        }
    }

    /** Gives back what was not written to its end: whoever waits for it must not wait for ever. */
    private void breakOff(Throwable cause) {
        for (DirtyExtent extent : extents) {
            if (extent != null) {
                writeBack.failed(extent, cause != null ? cause : new IllegalStateException("write-back was broken off"));
            }
        }
    }

    private void closeQueue() {
        if (queue != null) {
            queue.close();
        }
        if (buffers != 0) {
            pool.free(buffers, (long) slots * PageLayout.EXTENT_BYTES);
        }
    }

    private void start(int slot, int first, int count) {
        long buffer = buffers + (long) slot * PageLayout.EXTENT_BYTES + ((long) first << PageLayout.PAGE_SHIFT);
        for (int i = 0; i < count; i++) {
            long page = writeBack.address(extents[slot], first + i);
            Memory.copy(page, buffer + ((long) i << PageLayout.PAGE_SHIFT), PageLayout.PAGE_BYTES);
        }
        long position = extents[slot].firstPage() + first << PageLayout.PAGE_SHIFT;
        queue.write(position, buffer, count << PageLayout.PAGE_SHIFT, slot);
        writesLeft[slot]++;
    }

    private boolean openQueue() {
        if (queue == null && buffers == 0) {
            slots = 2 * SLOTS_MAX;
            while (buffers == 0 && slots > SLOTS_MIN) {
                slots /= 2;
                buffers = pool.allocate((long) slots * PageLayout.EXTENT_BYTES);
            }
            if (buffers != 0) {
                queue = newQueue();
            }
        }
        return queue != null;
    }

    private IoQueue newQueue() {
        try {
            return file.device().newQueue(DEPTH);
        } catch (StoreException e) {
            return null; // for want of descriptors, perhaps: then without a queue
        }
    }

    private int freeSlot() {
        while (true) {
            for (int slot = 0; slot < slots; slot++) {
                if (extents[slot] == null) {
                    return slot;
                }
            }
            reap();
        }
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
            failures[slot] = e;
        }
        ended(slot);
    }

    private void ended(int slot) {
        if (--writesLeft[slot] > 0) {
            return;
        }
        DirtyExtent extent = extents[slot];
        extents[slot] = null;
        if (failures[slot] == null) {
            writeBack.finished(extent);
        } else {
            writeBack.failed(extent, failures[slot]);
        }
    }
}
