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
     * the map counts in the budget, exists only where pages are cached, and a chunk can be had whenever a frame can. It comes with
     * its first entry, and goes when its last page is evicted, or else when the clock passes its frame and finds no entry in it.
     *
     * Whoever reads an entry does so without a lock and outside of epochs. So the frame of a chunk that has gone may hold anything
     * by the time it is read, and a reader looks into the directory again: if its element is the same, the chunk was there all the
     * while. An element holds a number beside the frame's address, so that it is not the same when the frame has come back. Frames
     * stay mapped, so what is read for nothing does no harm.
     *
     * Whoever changes an entry needs the chunk to stay. An absent entry is changed under the lock, under which alone chunks go, or
     * beside another entry of the chunk that cannot go; one that is not absent keeps its chunk, and is changed by whom it belongs to.
     *
     * Shared field   read       written                 guarded by
     * directory      volatile   volatile                lock
     * its elements   acquire    release                 lock
     * an entry       acquire    CAS, volatile           lock while it is absent; then whoever made it negative, or the frame's write lock
     */
    private static final int CHUNK_SHIFT = PageLayout.PAGE_SHIFT - 2;
    private static final int CHUNK_PAGES = 1 << CHUNK_SHIFT;
    /** The lower bits of an element are a number, the rest is the address of a chunk without the bits that are 0 in it. */
    private static final int NUMBER_BITS = 28;

    private static final int ADDRESS_SHIFT = NUMBER_BITS - PageLayout.PAGE_SHIFT;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final FrameTable frames;
    private final int fileSlot;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile long[] directory = new long[0];
    // Guarded by lock.
    private long covered;
    // Written under lock, read without it.
    private volatile int chunks;

    /** An empty map of the file that has {@code fileSlot} in the cache. */
    DirectMap(FrameTable frames, int fileSlot) {
        this.frames = frames;
        this.fileSlot = fileSlot;
    }

    /** The entry of a page; absent for any number that no chunk covers. */
    int get(long pageNumber) {
        long index = pageNumber >>> CHUNK_SHIFT;
        while (true) {
            long[] elements = directory;
            if (index >= elements.length) {
                return 0;
            }
            long element = (long) ELEMENT.getAcquire(elements, (int) index);
            if (element == 0) {
                return 0;
            }
            int entry = Memory.getIntAcquire(entryAddress(element, pageNumber));
            if (element == (long) ELEMENT.getAcquire(elements, (int) index) && elements == directory) {
                return entry;
            }
        }
    }

    /** Changes an entry, if it is as expected, which is not absent, and the caller's to change: then its chunk stays. */
    boolean compareAndSet(long pageNumber, int expected, int entry) {
        return Memory.compareAndSetInt(entryAddress(element(pageNumber), pageNumber), expected, entry);
    }

    /** Changes an entry that is the caller's, or stands beside one that is; a full fence. */
    void set(long pageNumber, int entry) {
        Memory.putIntVolatile(entryAddress(element(pageNumber), pageNumber), entry);
    }

    /** Whether there is a chunk for a page; for a moment. */
    boolean covers(long pageNumber) {
        return element(pageNumber) != 0;
    }

    /** Makes an absent entry another one; false when there is no chunk for the page, or its entry is not absent. */
    boolean enter(long pageNumber, int entry) {
        lock.lock();
        try {
            long element = element(pageNumber);
            return element != 0 && Memory.compareAndSetInt(entryAddress(element, pageNumber), 0, entry);
        } finally {
            lock.unlock();
        }
    }

    /** Makes {@code chunk}, a frame just taken, the chunk for a page, with an entry of it; false when there is one already. */
    boolean enter(long pageNumber, int entry, int chunk) {
        int index = Math.toIntExact(pageNumber >>> CHUNK_SHIFT);
        lock.lock();
        try {
            if (covers(pageNumber)) {
                return false;
            }
            if (index >= directory.length) {
                directory = Arrays.copyOf(directory, Math.max(index + 1, directory.length * 2));
            }
            long address = frames.address(chunk);
            Memory.fill(address, PageLayout.PAGE_BYTES, 0);
            frames.setOwner(chunk, fileSlot, pageNumber);
            frames.setStatus(chunk, FrameTable.MAP);
            long element = address << ADDRESS_SHIFT | ++covered & (1L << NUMBER_BITS) - 1;
            Memory.putIntVolatile(entryAddress(element, pageNumber), entry);
            ELEMENT.setRelease(directory, index, element);
            chunks++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Gives up the chunk for a page if every entry of it is absent; returns its frame, which is then the caller's, or 0. */
    int removeEmpty(long pageNumber) {
        if (!isEmpty(element(pageNumber))) {
            return 0;
        }
        lock.lock();
        try {
            long element = element(pageNumber);
            if (!isEmpty(element)) {
                return 0;
            }
            ELEMENT.setRelease(directory, (int) (pageNumber >>> CHUNK_SHIFT), 0L);
            chunks--;
            return frames.frameAt(chunkAddress(element));
        } finally {
            lock.unlock();
        }
    }

    /** Whether there is a chunk without entries; only a hint where the lock is not held. */
    private static boolean isEmpty(long element) {
        return element != 0 && Memory.isZero(chunkAddress(element), PageLayout.PAGE_BYTES);
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

    /** Gives the chunks back; every entry is absent and nobody uses the map any more. */
    void release(FrameSupply supply) {
        long[] elements;
        lock.lock();
        try {
            elements = directory;
            directory = new long[0];
            chunks = 0;
        } finally {
            lock.unlock();
        }
        for (long element : elements) {
            if (element != 0) {
                supply.giveBack(frames.frameAt(chunkAddress(element)));
            }
        }
    }

    /** What the directory has of a page; 0 when there is no chunk for it. */
    private long element(long pageNumber) {
        long[] elements = directory;
        long index = pageNumber >>> CHUNK_SHIFT;
        return index < elements.length ? (long) ELEMENT.getAcquire(elements, (int) index) : 0;
    }

    private static long chunkAddress(long element) {
        return element >>> ADDRESS_SHIFT & -PageLayout.PAGE_BYTES;
    }

    private static long entryAddress(long element, long pageNumber) {
        return chunkAddress(element) + ((pageNumber & CHUNK_PAGES - 1) << 2);
    }
}
