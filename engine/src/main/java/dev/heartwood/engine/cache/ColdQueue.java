package dev.heartwood.engine.cache;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The frames whose pages came in by a scan, a prefetch or a merge rather than by a lookup, oldest first: preferred victims. A
 * hint only: a frame in it may have been taken for something else meanwhile. Thread-safe.
 */
final class ColdQueue {
    /*
     * Linked through the frames, each at most once. A frame that was evicted otherwise stays in the queue; when it comes out,
     * the evictor judges what the frame holds then.
     */
    private final FrameTable frames;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock.
    private int head;
    private int tail;
    // Written under lock.
    private volatile int size;

    ColdQueue(FrameTable frames) {
        this.frames = frames;
    }

    /** Appends a frame, unless it is in the queue already. */
    void add(int frame) {
        lock.lock();
        try {
            if (frames.coldLink(frame) != 0) {
                return;
            }
            frames.setColdLink(frame, -1);
            if (tail == 0) {
                head = frame;
            } else {
                frames.setColdLink(tail, frame);
            }
            tail = frame;
            size++;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the oldest frame out; 0 when there is none. */
    int poll() {
        lock.lock();
        try {
            int frame = head;
            if (frame != 0) {
                head = Math.max(frames.coldLink(frame), 0);
                tail = head == 0 ? 0 : tail;
                frames.setColdLink(frame, 0);
                size--;
            }
            return frame;
        } finally {
            lock.unlock();
        }
    }

    int size() {
        return size;
    }
}
