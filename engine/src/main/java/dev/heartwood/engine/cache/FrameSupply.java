package dev.heartwood.engine.cache;

import dev.heartwood.engine.base.Epochs;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The frames that hold nothing: fresh ones that were never used, a list of free ones, and batches in limbo that become free
 * once every operation that may still read them has ended. Those that were used are write-locked. Thread-safe.
 */
final class FrameSupply {
    /*
     * One lock: a frame is taken once per load from the device, which costs a hundred times as much. Fresh frames are only
     * counted, so that memory that was never needed is never touched; and they come last, because the first touch of memory is
     * a page fault, and on a virtual machine one of its host as well.
     */
    private static final int BATCHES_INITIAL = 64;

    /** While readers hold the limbo back, so many fresh frames are taken before it is looked at again. */
    private static final int FRESH_PER_LOOK = 16;

    private final FrameTable frames;
    private final Epochs epochs;
    private final FrameBlocks blocks;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock. The batches are a ring of a power of two.
    private int freshBlock;
    private int freshFrames;
    private int freshCount;
    private int freeHead;
    private int freeCount;
    private int[] batchHeads = new int[BATCHES_INITIAL];
    private int[] batchCounts = new int[BATCHES_INITIAL];
    private long[] batchStamps = new long[BATCHES_INITIAL];
    private int firstBatch;
    private int batches;
    private int limboCount;
    // Written under lock, read without it as a hint.
    private volatile int available;

    FrameSupply(FrameTable frames, FrameBlocks blocks, Epochs epochs) {
        this.frames = frames;
        this.blocks = blocks;
        this.epochs = epochs;
        this.freshCount = blocks.frames();
        this.available = freshCount;
    }

    /** A free frame, write-locked and with its link clear; 0 when there is none now. */
    int poll() {
        lock.lock();
        try {
            if (freeHead == 0 && freshCount % FRESH_PER_LOOK == 0) {
                reap();
            }
            int frame = freeHead != 0 ? pop() : freshCount != 0 ? takeFresh() : 0;
            countAvailable();
            return frame;
        } finally {
            lock.unlock();
        }
    }

    private int pop() {
        int frame = freeHead;
        freeHead = frames.link(frame);
        freeCount--;
        frames.setLink(frame, 0);
        frames.clearAccessed(frame);
        return frame;
    }

    private int takeFresh() {
        if (freshFrames == blocks.blockFrames(freshBlock)) {
            freshBlock++;
            freshFrames = 0;
        }
        int frame = frames.frameAt(blocks.blockAddress(freshBlock)) + freshFrames++;
        freshCount--;
        frames.locks().lockWrite(frame);
        return frame;
    }

    /** Takes back a frame that nobody else has seen since it was taken. */
    void giveBack(int frame) {
        assert frames.locks().isWriteLocked(frame);
        frames.setStatus(frame, FrameTable.FREE);
        lock.lock();
        try {
            push(frame);
            countAvailable();
        } finally {
            lock.unlock();
        }
    }

    /** Takes {@code count} frames, linked from {@code head}, that were unpublished before this call but may still be read. */
    void retire(int head, int count) {
        long stamp = epochs.advance();
        lock.lock();
        try {
            if (batches == batchHeads.length) {
                growBatches();
            }
            int slot = firstBatch + batches & batchHeads.length - 1;
            batchHeads[slot] = head;
            batchCounts[slot] = count;
            batchStamps[slot] = stamp;
            batches++;
            limboCount += count;
            countAvailable();
        } finally {
            lock.unlock();
        }
    }

    /** Frames free or in limbo, about. */
    int available() {
        return available;
    }

    /** Frames whose last readers have not ended yet, about. */
    int inLimbo() {
        lock.lock();
        try {
            return limboCount;
        } finally {
            lock.unlock();
        }
    }

    private void reap() {
        while (batches > 0 && epochs.passed(batchStamps[firstBatch])) {
            int frame = batchHeads[firstBatch];
            while (frame != 0) {
                int next = frames.link(frame);
                push(frame);
                frame = next;
            }
            limboCount -= batchCounts[firstBatch];
            firstBatch = firstBatch + 1 & batchHeads.length - 1;
            batches--;
        }
    }

    private void push(int frame) {
        assert frames.poison(frame);
        frames.setLink(frame, freeHead);
        freeHead = frame;
        freeCount++;
    }

    private void countAvailable() {
        available = freshCount + freeCount + limboCount;
    }

    private void growBatches() {
        int old = batchHeads.length;
        int[] heads = Arrays.copyOf(batchHeads, old * 2);
        int[] counts = Arrays.copyOf(batchCounts, old * 2);
        long[] stamps = Arrays.copyOf(batchStamps, old * 2);
        for (int i = 0; i < batches; i++) {
            int from = firstBatch + i & old - 1;
            heads[i] = batchHeads[from];
            counts[i] = batchCounts[from];
            stamps[i] = batchStamps[from];
        }
        batchHeads = heads;
        batchCounts = counts;
        batchStamps = stamps;
        firstBatch = 0;
    }
}
