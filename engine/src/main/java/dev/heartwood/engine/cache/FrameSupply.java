package dev.heartwood.engine.cache;

import dev.heartwood.engine.base.Epochs;
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
     *
     * Whoever retires frames has taken them from everybody else, so that must not fail for want of Java heap: there is room for a
     * number of batches from the beginning, and what comes beside so many waits with the last of them.
     */
    private static final int BATCHES_MIN = 64;

    /** There is room for at least half as many batches as would have all frames in limbo with so many each: as many as a hand of the clock has. */
    private static final int BATCH_FRAMES = Clock.HAND_FRAMES;

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
    private final int[] batchHeads;
    private final int[] batchCounts;
    private final long[] batchStamps;
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
        int ring = Math.max(BATCHES_MIN, Integer.highestOneBit(freshCount / BATCH_FRAMES));
        this.batchHeads = new int[ring];
        this.batchCounts = new int[ring];
        this.batchStamps = new long[ring];
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

    /**
     * Takes {@code count} frames, linked from {@code head}, that were unpublished before this call but may still be read. Takes nothing of the
     * Java heap.
     */
    void retire(int head, int count) {
        long stamp = epochs.advance();
        lock.lock();
        try {
            if (batches == batchHeads.length) {
                joinLast(head, count, stamp);
            } else {
                int slot = firstBatch + batches & batchHeads.length - 1;
                batchHeads[slot] = head;
                batchCounts[slot] = count;
                batchStamps[slot] = stamp;
                batches++;
            }
            limboCount += count;
            countAvailable();
        } finally {
            lock.unlock();
        }
    }

    /** Puts frames before those of the last batch, which all wait for the later readers then. */
    private void joinLast(int head, int count, long stamp) {
        int slot = firstBatch + batches - 1 & batchHeads.length - 1;
        int tail = head;
        for (int next = frames.link(tail); next != 0; next = frames.link(tail)) {
            tail = next;
        }
        frames.setLink(tail, batchHeads[slot]);
        batchHeads[slot] = head;
        batchCounts[slot] += count;
        batchStamps[slot] = Math.max(batchStamps[slot], stamp);
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
}
