package dev.heartwood.engine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A view with little memory of a large file, of which a page is there every 4 MiB. */
class StoreViewTest {
    private static final long CACHE_BYTES = 1 << 20;
    private static final int PAGES = 1000;
    private static final long APART = 1024;
    private static final long GENERATION = 5;

    private final MemoryPool pool = MemoryPool.open(4 << 20);
    private final ArrayDevice device = new ArrayDevice();
    private final StoreView view;

    StoreViewTest() {
        device.allocate((PAGES * APART) << PageLayout.PAGE_SHIFT);
        long buffer = pool.allocate(PageLayout.PAGE_BYTES);
        for (int i = 0; i < PAGES; i++) {
            Memory.fill(buffer, PageLayout.PAGE_BYTES, 0);
            Memory.putInt(buffer + PageLayout.BODY, i);
            PageSeal.seal(buffer, PageType.BRANCH_LEAF, 0, i * APART, GENERATION);
            device.write(i * APART << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
        }
        pool.free(buffer, PageLayout.PAGE_BYTES);
        view = new StoreView(device, pool, CACHE_BYTES, new Superblocks.Copy[0], null);
    }

    @AfterEach
    void close() {
        view.close();
        assertEquals(0, pool.allocated());
        pool.close();
    }

    private long lock(int number) {
        long page = view.file().lockShared(number * APART, PageType.BRANCH_LEAF, GENERATION);
        assertEquals(number, Memory.getInt(page + PageLayout.BODY));
        return page;
    }

    /** What says where pages are cached took all frames in the end, so that each page was read anew whenever it was wanted. */
    @Test
    void aPageIsReadOnceWhereverItIs() {
        CachedFile file = view.file();
        long held = lock(0);
        for (int i = 1; i < PAGES; i++) {
            file.unlockShared(lock(i));
            file.unlockShared(lock(i));
        }
        assertEquals(0, Memory.getInt(held + PageLayout.BODY));
        file.unlockShared(held);
        file.unlockShared(lock(0));
        assertEquals((long) PAGES << PageLayout.PAGE_SHIFT, device.bytesRead());
    }

    /** The same inside of epochs, as filters are looked up, and with pages that are read ahead. */
    @Test
    void operationsAndReadingAheadDoNotHinderThat() {
        for (int i = 0; i < PAGES; i++) {
            view.file().prefetch(i * APART, 1, PageType.BRANCH_LEAF, GENERATION);
            for (int twice = 0; twice < 2; twice++) {
                int epoch = view.epochs().enter();
                long page = view.file().page(i * APART, PageType.BRANCH_LEAF, GENERATION);
                assertEquals(i, Memory.getInt(page + PageLayout.BODY));
                view.epochs().exit(epoch);
            }
        }
        assertEquals((long) PAGES << PageLayout.PAGE_SHIFT, device.bytesRead());
    }
}
