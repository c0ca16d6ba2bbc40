package dev.heartwood.engine.cache;

import dev.heartwood.engine.page.PageLayout;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Which pages are dirty, by file and extent, those expected to last first, then the oldest, and which are being written. Thread-safe. */
final class DirtyQueue {
    /*
     * An extent is in its file's map while it has dirty pages or pages being written. It is queued, in one of two cache-wide FIFOs, from
     * its first dirty page until somebody takes it to write it back; taking moves its dirty pages to `writing`. Pages that
     * become dirty meanwhile queue it again when the write ends, by when who writes all may have looked: pages of an extent that a
     * checkpoint needs come at once. A page being written is not dropped until the write has ended:
     * drop() waits, so that nobody reuses its place on the device under a write that is still under way.
     *
     * The first failed write latches its file: the pages stay dirty, the extent stays in the map, and nothing of that file is
     * taken any more.
     *
     * An element of the FIFO whose extent was taken or dropped meanwhile is recognised by its serial and skipped.
     */
    private static final int FIFO_SLACK = 64;

    /** The dirty pages of one extent, as bits. */
    static final class DirtyExtent {
        final CachedFile file;
        final long extent;
        /** Orders extents by when they were queued; 0 when this one is not queued. */
        private long serial;
        private int dirty;
        private int writing;
        private Lifetime lifetime = Lifetime.BRIEF;

        private DirtyExtent(CachedFile file, long extent) {
            this.file = file;
            this.extent = extent;
        }

        /** The pages being written; stable while this thread writes them. */
        int writing() {
            return writing;
        }

        long firstPage() {
            return extent << PageLayout.EXTENT_SHIFT;
        }
    }

    /** What is dirty of one file; a field of the file, guarded by the queue's lock. */
    static final class FileDirt {
        private final LinkedHashMap<Long, DirtyExtent> extents = new LinkedHashMap<>();
        private int pages;
        private int extentsWriting;
        private volatile Throwable failure;

        /** The first failure to write, or null. */
        Throwable failure() {
            return failure;
        }
    }

    private record Queued(DirtyExtent extent, long serial) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition written = lock.newCondition();
    // Guarded by lock.
    // Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Map<Lifetime, Queue<Queued>> fifos = new EnumMap<>(
            Map.of(Lifetime.BRIEF, new LinkedList<>(), Lifetime.LASTING, new LinkedList<>()));
    private long lastSerial;
    private int queued;
    // Written under lock, read without.
    private volatile int pages;

    /** Notes that pages of an extent, which are published, are dirty. */
    void add(CachedFile file, long extent, int mask, Lifetime lifetime) {
        lock.lock();
        try {
            DirtyExtent e = file.dirt().extents.computeIfAbsent(extent, x -> new DirtyExtent(file, x));
            assert (mask & (e.dirty | e.writing)) == 0;
            e.dirty |= mask;
            e.lifetime = lifetime;
            count(file, Integer.bitCount(mask));
            enqueue(e);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the oldest queued extent that is expected to last, or else the oldest, of any file whose writes have not failed; null when
     * there is none.
     */
    DirtyExtent takeOldest() {
        lock.lock();
        try {
            DirtyExtent lasting = takeOldest(fifos.get(Lifetime.LASTING));
            return lasting != null ? lasting : takeOldest(fifos.get(Lifetime.BRIEF));
        } finally {
            lock.unlock();
        }
    }

    private DirtyExtent takeOldest(Queue<Queued> fifo) {
        Queued oldest;
        while ((oldest = fifo.poll()) != null) {
            DirtyExtent e = oldest.extent;
            if (oldest.serial != e.serial) {
                continue;
            }
            if (e.file.dirt().failure == null) {
                return take(e);
            }
            unqueue(e);
        }
        return null;
    }

    /** Takes a queued extent of a file that was queued no later than {@code serialMax}; null when there is none. */
    DirtyExtent takeOldest(CachedFile file, long serialMax) {
        lock.lock();
        try {
            if (file.dirt().failure == null) {
                for (DirtyExtent e : file.dirt().extents.values()) {
                    if (e.serial != 0 && e.serial <= serialMax) {
                        return take(e);
                    }
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Takes one extent if it is queued; else null. */
    DirtyExtent take(CachedFile file, long extent) {
        lock.lock();
        try {
            DirtyExtent e = file.dirt().extents.get(extent);
            return e == null || e.serial == 0 || file.dirt().failure != null ? null : take(e);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the writing of an extent whose pages are now clean. */
    void finished(DirtyExtent e) {
        lock.lock();
        try {
            count(e.file, -Integer.bitCount(e.writing));
            endWriting(e);
            settle(e);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the writing of an extent that failed: its pages are dirty again, and its file takes no more writes. */
    void failed(DirtyExtent e, Throwable failure) {
        lock.lock();
        try {
            fail(e.file, failure);
            e.dirty |= e.writing;
            endWriting(e);
        } finally {
            lock.unlock();
        }
    }

    /** Latches a file's first failure. */
    void fail(CachedFile file, Throwable failure) {
        lock.lock();
        try {
            if (file.dirt().failure == null) {
                file.dirt().failure = failure;
                file.unwritable(failure);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Forgets dirty pages of an extent, first waiting for those being written; returns how many were dirty. */
    int drop(CachedFile file, long extent, int mask) {
        lock.lock();
        try {
            DirtyExtent e;
            while ((e = file.dirt().extents.get(extent)) != null && (e.writing & mask) != 0) {
                written.awaitUninterruptibly();
            }
            if (e == null) {
                return 0;
            }
            int dropped = Integer.bitCount(e.dirty & mask);
            e.dirty &= ~mask;
            count(file, -dropped);
            settle(e);
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until nothing of a file is being written. */
    void awaitWritten(CachedFile file) {
        lock.lock();
        try {
            while (file.dirt().extentsWriting > 0) {
                written.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until nothing of one extent is being written. */
    void awaitWritten(CachedFile file, long extent) {
        lock.lock();
        try {
            DirtyExtent e;
            while ((e = file.dirt().extents.get(extent)) != null && e.writing != 0) {
                written.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all dirty pages of a file, first waiting for those being written. */
    void dropAll(CachedFile file) {
        lock.lock();
        try {
            // Nothing of the file is taken from here on: it has no queued extent any more.
            for (DirtyExtent e : file.dirt().extents.values()) {
                count(file, -Integer.bitCount(e.dirty));
                e.dirty = 0;
                unqueue(e);
            }
            awaitWritten(file);
            Iterator<DirtyExtent> left = file.dirt().extents.values().iterator();
            while (left.hasNext()) {
                DirtyExtent e = left.next();
                count(file, -Integer.bitCount(e.dirty));
                left.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The serial of the extent queued last. */
    long lastSerial() {
        lock.lock();
        try {
            return lastSerial;
        } finally {
            lock.unlock();
        }
    }

    /** The dirty pages of all files, those being written included. */
    int pages() {
        return pages;
    }

    /** The dirty pages of one file, those being written included. */
    int pages(CachedFile file) {
        lock.lock();
        try {
            return file.dirt().pages;
        } finally {
            lock.unlock();
        }
    }

    private DirtyExtent take(DirtyExtent e) {
        assert e.writing == 0;
        unqueue(e);
        e.writing = e.dirty;
        e.dirty = 0;
        e.file.dirt().extentsWriting++;
        return e;
    }

    private void endWriting(DirtyExtent e) {
        e.writing = 0;
        e.file.dirt().extentsWriting--;
        written.signalAll();
    }

    private void enqueue(DirtyExtent e) {
        if (e.serial == 0 && e.writing == 0) {
            Queue<Queued> fifo = fifos.get(e.lifetime);
            fifo.add(new Queued(e, lastSerial + 1)); // first, since the Java heap may be full
            e.serial = ++lastSerial;
            queued++;
            if (fifo.size() > 2 * queued + FIFO_SLACK) {
                fifo.removeIf(q -> q.serial != q.extent.serial);
            }
        }
    }

    private void unqueue(DirtyExtent e) {
        if (e.serial != 0) {
            e.serial = 0;
            queued--;
        }
    }

    /** Queues an extent that still has dirty pages, or forgets it. */
    private void settle(DirtyExtent e) {
        if (e.dirty != 0) {
            enqueue(e);
        } else if (e.writing == 0) {
            unqueue(e);
            e.file.dirt().extents.remove(e.extent, e);
        }
    }

    private void count(CachedFile file, int change) {
        file.dirt().pages += change;
        pages += change;
    }
}
