package dev.heartwood.engine.cache;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the pages of one file are cached: for each page 0 (absent), the frame that holds it, or the negative of the frame into
 * which it is being loaded. Thread-safe.
 */
final class DirectMap {
    /*
     * Two levels: a directory on the heap and chunks of 1024 entries of 4 bytes. A chunk takes a frame of the cache itself, so
     * the map counts in the budget, exists only where there is data, and a chunk can be had whenever a frame can. Chunks live
     * until the file is closed, since whoever reads an entry does so without a lock and outside of epochs; of a file that one thread alone
     * uses, those without entries are given back when they take too many frames.
     *
     * Shared field   read       written                 guarded by
     * directory      volatile   volatile                lock
     * its elements   acquire    release                 lock
     * an entry       acquire    CAS, volatile           whoever made it negative, or the frame's write lock
     */
    private static final int CHUNK_SHIFT = PageLayout.PAGE_SHIFT - 2;
    private static final int CHUNK_PAGES = 1 << CHUNK_SHIFT;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final FrameTable frames;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile long[] directory = new long[0];
    private volatile int chunks;

    DirectMap(FrameTable frames) {
        this.frames = frames;
    }

    /** The entry of a page; absent for any number that no chunk covers. */
    int get(long pageNumber) {
        long[] elements = directory;
        long index = pageNumber >>> CHUNK_SHIFT;
        if (index >= elements.length) {
            return 0;
        }
        long chunk = (long) ELEMENT.getAcquire(elements, (int) index);
        return chunk == 0 ? 0 : Memory.getIntAcquire(chunk + ((pageNumber & CHUNK_PAGES - 1) << 2));
    }

    /** Changes an entry, if it is as expected; {@link #covers} holds. */
    boolean compareAndSet(long pageNumber, int expected, int entry) {
        return Memory.compareAndSetInt(entryAddress(pageNumber), expected, entry);
    }

    /** Changes an entry; a full fence. */
    void set(long pageNumber, int entry) {
        Memory.putIntVolatile(entryAddress(pageNumber), entry);
    }

    /** Whether there is a chunk for a page. */
    boolean covers(long pageNumber) {
        long[] elements = directory;
        long index = pageNumber >>> CHUNK_SHIFT;
        return index < elements.length && (long) ELEMENT.getAcquire(elements, (int) index) != 0;
    }

    /** Makes {@code frame}, just taken, the chunk for a page; returns false when there is one already. */
    boolean cover(long pageNumber, int frame) {
        int index = Math.toIntExact(pageNumber >>> CHUNK_SHIFT);
        lock.lock();
        try {
            if (covers(pageNumber)) {
                return false;
            }
            if (index >= directory.length) {
                directory = Arrays.copyOf(directory, Math.max(index + 1, directory.length * 2));
            }
            Memory.fill(frames.address(frame), PageLayout.PAGE_BYTES, 0);
            frames.setStatus(frame, FrameTable.MAP);
            ELEMENT.setRelease(directory, index, frames.address(frame));
            chunks++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The frames that the map takes. */
    int chunks() {
        return chunks;
    }

    /** The pages from 0 to here may have chunks. */
    long pagesEnd() {
        return (long) directory.length << CHUNK_SHIFT;
    }

    /** The first page, from {@code pageNumber} on, that has a chunk, or {@link #pagesEnd}. */
    long nextCovered(long pageNumber) {
        long page = pageNumber;
        while (page < pagesEnd() && !covers(page)) {
            page = (page | CHUNK_PAGES - 1) + 1;
        }
        return page;
    }

    /** Gives the chunks back in which every entry is absent; nobody uses the map meanwhile. */
    void releaseEmpty(FrameSupply supply) {
        lock.lock();
        try {
            long[] elements = directory;
            for (int i = 0; i < elements.length; i++) {
                if (elements[i] != 0 && isEmpty(elements[i])) {
                    long chunk = elements[i];
                    ELEMENT.setRelease(elements, i, 0L);
                    chunks--;
                    supply.giveBack(frames.frameAt(chunk));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private static boolean isEmpty(long chunk) {
        for (int i = 0; i < PageLayout.PAGE_BYTES; i += Long.BYTES) {
            if (Memory.getLong(chunk + i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Gives the chunks back; every entry is absent and nobody uses the map any more. */
    void release(FrameSupply supply) {
        lock.lock();
        try {
            for (long chunk : directory) {
                if (chunk != 0) {
                    supply.giveBack(frames.frameAt(chunk));
                }
            }
            directory = new long[0];
            chunks = 0;
        } finally {
            lock.unlock();
        }
    }

    private long entryAddress(long pageNumber) {
        long chunk = (long) ELEMENT.getAcquire(directory, (int) (pageNumber >>> CHUNK_SHIFT));
        return chunk + ((pageNumber & CHUNK_PAGES - 1) << 2);
    }
}
