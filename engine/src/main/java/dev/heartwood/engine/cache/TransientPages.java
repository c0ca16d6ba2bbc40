package dev.heartwood.engine.cache;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.BitSet;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Memory for single pages that found no frame, kept only as long as their readers last. What keeps an operation going when all
 * frames are held back, maybe by its own epoch. Thread-safe.
 */
final class TransientPages implements AutoCloseable {
    /*
     * Some pages are taken from the pool beforehand, for the moment when buffers of writes and of reading ahead have taken the
     * rest; they are used last.
     */
    private static final int RESERVED_PAGES = 64;

    private record Retired(long stamp, long address) {}

    private final MemoryPool pool;
    private final Epochs epochs;
    private final long reserve;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by lock; of the retired, the oldest first.
    // Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Queue<Retired> retired = new LinkedList<>();
    private final BitSet reserveTaken = new BitSet(RESERVED_PAGES);

    TransientPages(MemoryPool pool, Epochs epochs) {
        this.pool = pool;
        this.epochs = epochs;
        this.reserve = pool.allocate(RESERVED_PAGES * PageLayout.PAGE_BYTES);
    }

    /** Gives the memory of all pages back whose readers have ended. */
    void freePassed() {
        lock.lock();
        try {
            while (!retired.isEmpty() && epochs.passed(retired.peek().stamp)) {
                free(retired.poll().address);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Memory for one page.
     *
     * @param giveBack gives what others do not need back to the pool, and says whether there was anything; asked when there is no memory left
     */
    long take(BooleanSupplier giveBack) {
        long address = poll();
        if (address == 0 && giveBack.getAsBoolean()) {
            address = poll();
        }
        if (address == 0) {
            throw new InsufficientMemoryException("the page cache has no frame left that is not in use, nor has its pool");
        }
        return address;
    }

    private long poll() {
        freePassed();
        long address = pool.allocate(PageLayout.PAGE_BYTES);
        return address == 0 ? takeReserved() : address;
    }

    private long takeReserved() {
        lock.lock();
        try {
            int page = reserveTaken.nextClearBit(0);
            if (reserve == 0 || page == RESERVED_PAGES) {
                return 0;
            }
            reserveTaken.set(page);
            return reserve + (long) page * PageLayout.PAGE_BYTES;
        } finally {
            lock.unlock();
        }
    }

    /** Gives a page's memory back once the operations active now have ended. */
    void retire(long address) {
        lock.lock();
        try {
            retired.add(new Retired(epochs.advance(), address));
        } finally {
            lock.unlock();
        }
    }

    /** Gives a page's memory back now. */
    void free(long address) {
        long inReserve = address - reserve;
        if (reserve == 0 || inReserve < 0 || inReserve >= RESERVED_PAGES * PageLayout.PAGE_BYTES) {
            pool.free(address, PageLayout.PAGE_BYTES);
            return;
        }
        lock.lock();
        try {
            reserveTaken.clear((int) (inReserve / PageLayout.PAGE_BYTES));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            while (!retired.isEmpty()) {
                free(retired.poll().address);
            }
            if (reserve != 0) {
                pool.free(reserve, RESERVED_PAGES * PageLayout.PAGE_BYTES);
            }
        } finally {
            lock.unlock();
        }
    }
}
