package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.concurrent.CountDownLatch;

/** A cache over a {@link MemoryDevice}, with pages whose contents follow from their number and generation. */
final class CacheFixture implements AutoCloseable {
    static final long STORE = 42;
    static final PageType TYPE = PageType.BRANCH_LEAF;
    private static final long POOL_BYTES = 16 << 20;
    static final long LENDER_BYTES = 1 << 20;

    final Epochs epochs = new Epochs();
    final MemoryPool pool = MemoryPool.open(POOL_BYTES);
    /** Memory that the cache may borrow; none is lent until somebody does. */
    final MemoryPool lender = MemoryPool.open(LENDER_BYTES);
    final MemoryDevice device;
    final PageCache cache;
    final CachedFile file;

    CacheFixture(int frames, int devicePages) {
        device = new MemoryDevice(devicePages);
        // The metadata takes at least one block of its own.
        cache = new PageCache(pool, (frames + frames / 32 + 16L) << PageLayout.PAGE_SHIFT, LENDER_BYTES, epochs);
        file = cache.attach(device, STORE);
    }

    /** Puts pages on the device as if written long ago. */
    void format(long firstPage, int count, long generation) {
        for (long page = firstPage; page < firstPage + count; page++) {
            fill(device.contents(page), page, generation);
        }
    }

    /** A buffer with sealed pages; 128 KiB that live as long as the fixture. */
    long sealed(long firstPage, int count, long generation) {
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        for (int i = 0; i < count; i++) {
            fill(buffer + ((long) i << PageLayout.PAGE_SHIFT), firstPage + i, generation);
        }
        return buffer;
    }

    void insertDirty(long firstPage, int count, long generation) {
        long buffer = sealed(firstPage, count, generation);
        try {
            file.insertDirty(firstPage, count, buffer);
        } finally {
            pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    /** Reads a page through the cache and checks its contents. */
    void read(long page, long generation) {
        int epoch = epochs.enter();
        try {
            check(file.page(page, TYPE, generation), page, generation);
        } finally {
            epochs.exit(epoch);
        }
    }

    boolean isCached(long page) {
        int epoch = epochs.enter();
        try {
            return file.map().get(page) > 0;
        } finally {
            epochs.exit(epoch);
        }
    }

    static void fill(long address, long page, long generation) {
        for (int i = PageLayout.BODY; i < PageLayout.PAGE_BYTES; i += 8) {
            Memory.putLong(address + i, word(page, generation, i));
        }
        PageSeal.seal(address, TYPE, STORE, page, generation);
    }

    static void check(long address, long page, long generation) {
        for (int i = PageLayout.BODY; i < PageLayout.PAGE_BYTES; i += 504) {
            assertEquals(word(page, generation, i), Memory.getLong(address + i), "page " + page);
        }
        assertEquals(page, Memory.getLong(address + PageLayout.ADDRESS));
        assertEquals(generation, Memory.getLong(address + PageLayout.GENERATION));
    }

    private static long word(long page, long generation, int i) {
        return (page * 0x9E3779B97F4A7C15L ^ generation) * 31 + i;
    }

    /** Closes everything, and checks that every frame and all memory came back. */
    @Override
    public void close() {
        file.close();
        CacheStats stats = cache.stats();
        assertEquals(stats.frames(), stats.framesAvailable());
        assertEquals(0, stats.framesDirty());
        cache.close();
        assertEquals(0, pool.allocated());
        assertEquals(0, lender.allocated());
        pool.close();
        lender.close();
        device.close();
    }

    /** Waits whatever happens. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
