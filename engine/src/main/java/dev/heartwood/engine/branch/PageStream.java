package dev.heartwood.engine.branch;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.cache.ThroughWriter;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.function.LongSupplier;

/** Writes pages one after the other into new extents, an extent at a time. Belongs to one thread. */
final class PageStream {
    /*
     * Pages gather unsealed in a buffer of one extent. An extent is allocated, and with it the pages' addresses are known, when
     * the buffer is written: a stream that never fills its buffer can still be moved into another one.
     *
     * What goes past the cache is written while the next extents gather in further buffers, from the first full one on. Further buffers
     * take a small part of the pool, and none that it does not have. Without memory for one or a queue, each is written when it is full.
     */
    private static final int POOL_SHARE = 64;

    private final BranchStorage storage;
    private final long generation;
    private final WriteMode mode;
    private final Purpose purpose;
    private final PageType[] types = new PageType[PageLayout.EXTENT_PAGES];
    private final Extents extents = new Extents();
    private long buffer;
    private int buffered;
    private ThroughWriter writer;
    /** All buffers, in the order in which they were allocated; that which is filled is one of them. */
    private final long[] buffers = new long[ThroughWriter.DEPTH_MAX + 1];

    private int bufferCount;
    private boolean withoutWriter;
    private LongSupplier places = () -> 0;
    private long placesTaken;

    PageStream(BranchStorage storage, long generation, WriteMode mode) {
        this.storage = storage;
        this.generation = generation;
        this.mode = mode;
        this.purpose = mode == WriteMode.CACHED ? Purpose.PACKING : Purpose.COMPACTION;
    }

    /** A block of the pool; throws when there is none. */
    static long allocate(MemoryPool pool, long bytes) {
        long address = pool.allocate(bytes);
        if (address == 0) {
            throw new InsufficientMemoryException("no " + bytes + " bytes left of the memory budget of "
                    + pool.capacity() + " for branches, of which " + pool.allocated() + " are in use");
        }
        return address;
    }

    /** From now on pages of mode {@link WriteMode#KEPT} may take so many places in the cache from others. */
    void takePlaces(LongSupplier supplier) {
        places = supplier;
    }

    /** The address of a new page, to be filled before the next call; its contents are undefined. */
    long append(PageType type) {
        if (buffered == PageLayout.EXTENT_PAGES) {
            writeBuffered();
        } else if (buffer == 0) {
            buffer = keep(allocate(storage.mergePool(), PageLayout.EXTENT_BYTES));
        }
        types[buffered] = type;
        return pageAddress(buffered++);
    }

    long pageAddress(int index) {
        return buffer + ((long) index << PageLayout.PAGE_SHIFT);
    }

    /** Pages appended so far. */
    int pageCount() {
        return extents.count() * PageLayout.EXTENT_PAGES + buffered;
    }

    /** Whether an extent was allocated. */
    boolean hasExtents() {
        return extents.count() > 0;
    }

    /** Writes what is in the buffer; no page may follow unless the buffer was full. */
    void writeBuffered() {
        if (buffered == 0) {
            return;
        }
        extents.makeRoom();
        int extent = storage.extents().allocate(purpose);
        extents.add(extent);
        long first = (long) extent << PageLayout.EXTENT_SHIFT;
        for (int i = 0; i < buffered; i++) {
            PageSeal.seal(pageAddress(i), types[i], storage.storeId(), first + i, generation);
        }
        switch (mode) {
            case CACHED, MERGED -> storage.file().insertDirty(first, buffered, buffer);
            case LASTING -> storage.file().insertLasting(first, buffered, buffer);
            case THROUGH, KEPT -> writePast(first);
        }
        buffered = 0;
    }

    private void writePast(long first) {
        if (!hasWriter()) {
            if (mode == WriteMode.KEPT) {
                placesTaken += storage.file().writeAndKeep(first, buffered, buffer, placesLeft());
            } else {
                storage.file().writeThrough(first, buffered, buffer);
            }
            return;
        }
        long free = writer.isFull() ? writer.reap() : furtherBuffer();
        writer.write(first, buffered, buffer, placesLeft());
        buffer = free == 0 ? writer.reap() : free;
    }

    private int placesLeft() {
        long taken = placesTaken + (writer == null ? 0 : writer.placesTaken());
        return mode == WriteMode.KEPT ? Math.clamp(places.getAsLong() - taken, 0, buffered) : 0;
    }

    private boolean hasWriter() {
        if (writer == null && !withoutWriter && buffered == PageLayout.EXTENT_PAGES) {
            writer = storage.file().newThroughWriter(depth(storage.mergePool()), mode == WriteMode.KEPT);
            withoutWriter = writer == null;
        }
        return writer != null;
    }

    /** Extents of a stream that are written past the cache at once. */
    static int depth(MemoryPool mergePool) {
        return Math.clamp(mergePool.capacity() / POOL_SHARE / PageLayout.EXTENT_BYTES, 1, ThroughWriter.DEPTH_MAX);
    }

    /** Another buffer to fill while the others are written; 0 when there is no memory for it. */
    private long furtherBuffer() {
        return keep(storage.mergePool().allocateSpare(PageLayout.EXTENT_BYTES));
    }

    private long keep(long address) {
        if (address != 0) {
            buffers[bufferCount++] = address;
        }
        return address;
    }

    /** Waits until what was written is on the device, as far as it went past the cache. */
    void awaitWritten() {
        if (writer != null) {
            writer.await();
        }
    }

    int[] extents() {
        return extents.toArray();
    }

    /** Gives the buffers back, once nothing is written from them any more. Idempotent. */
    void close() {
        if (writer != null) {
            writer.close();
            writer = null;
        }
        withoutWriter = true;
        while (bufferCount > 0) {
            storage.mergePool().free(buffers[--bufferCount], PageLayout.EXTENT_BYTES);
        }
        buffer = 0;
    }

    /** Gives back the buffers and everything written; nothing is under way to the extents then. Takes nothing of the Java heap. */
    void abort() {
        close();
        for (int i = 0; i < extents.count(); i++) {
            int extent = extents.number(i);
            storage.file().discard((long) extent << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
            storage.extents().giveBack(extent, purpose);
        }
    }

    /** Takes the buffered pages of a stream that has written none. */
    void appendAll(PageStream other) {
        for (int i = 0; i < other.buffered; i++) {
            Memory.copy(other.pageAddress(i), append(other.types[i]), PageLayout.PAGE_BYTES);
        }
    }
}
