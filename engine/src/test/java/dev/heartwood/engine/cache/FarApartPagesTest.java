package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A small cache over a large file, of which a few pages are there every 4 MiB: as many parts of the map as there are frames, several times. */
class FarApartPagesTest {
    private static final int PLACES = 1000;
    private static final long APART = 1024;
    private static final int TOGETHER = 4;
    private static final long GENERATION = 7;
    private static final int THREADS = 4;
    private static final int STEPS = 5_000;

    private final Epochs epochs = new Epochs();
    // Reading ahead takes up to 4 MiB for buffers.
    private final MemoryPool pool = MemoryPool.open(16 << 20);
    private final ArrayDevice device = new ArrayDevice();
    private final PageCache cache = new PageCache(pool, 1 << 20, epochs);
    private final CachedFile file = cache.attach(device, CacheFixture.STORE);

    FarApartPagesTest() {
        device.allocate(PLACES * APART << PageLayout.PAGE_SHIFT);
        long buffer = pool.allocate(PageLayout.PAGE_BYTES);
        for (int place = 0; place < PLACES; place++) {
            // At the last place there are pages everywhere.
            int count = place < PLACES - 1 ? TOGETHER : (int) APART;
            for (long page = place * APART; page < place * APART + count; page++) {
                CacheFixture.fill(buffer, page, GENERATION);
                device.write(page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
            }
        }
        pool.free(buffer, PageLayout.PAGE_BYTES);
    }

    @AfterEach
    void close() {
        file.close();
        assertEquals(cache.stats().frames(), cache.stats().framesAvailable());
        cache.close();
        assertEquals(0, pool.allocated());
        pool.close();
    }

    private void read(long page) {
        int epoch = epochs.enter();
        try {
            CacheFixture.check(file.page(page, CacheFixture.TYPE, GENERATION), page, GENERATION);
        } finally {
            epochs.exit(epoch);
        }
    }

    private void lockAndRead(long page) {
        long address = file.lockShared(page, CacheFixture.TYPE, GENERATION);
        CacheFixture.check(address, page, GENERATION);
        file.unlockShared(address);
    }

    @Test
    void aPairIsBroughtWhereNoPageOfItsPartOfTheMapIsYet() {
        file.bring(5 * APART, 2, CacheFixture.TYPE, GENERATION, false);
        long bytesRead = device.bytesRead();
        read(5 * APART);
        read(5 * APART + 1);
        assertEquals(bytesRead, device.bytesRead());
    }

    /** What says where pages are cached took every frame until the file was closed, so that each page beyond was read anew whenever it was wanted. */
    @Test
    void aPageIsReadOnceWhereverItIs() {
        for (int round = 0; round < 2; round++) {
            for (int place = 0; place < PLACES; place++) {
                read(place * APART);
                lockAndRead(place * APART);
            }
        }
        assertEquals(2L * PLACES << PageLayout.PAGE_SHIFT, device.bytesRead());
        assertEquals(0, cache.stats().transientLoads());
    }

    /** The same for what is read ahead, or written. */
    @Test
    void soIsOneReadAheadOrWritten() {
        for (int place = 0; place < PLACES; place++) {
            file.prefetch(place * APART, TOGETHER, CacheFixture.TYPE, GENERATION);
            for (int i = 0; i < TOGETHER; i++) {
                lockAndRead(place * APART + i);
            }
        }
        assertEquals((long) PLACES * TOGETHER << PageLayout.PAGE_SHIFT, device.bytesRead());
        long buffer = pool.allocate(PageLayout.PAGE_BYTES);
        for (int place = 0; place < PLACES - 1; place++) {
            long page = place * APART + TOGETHER;
            CacheFixture.fill(buffer, page, GENERATION);
            file.insertDirty(page, 1, buffer);
            read(page);
        }
        pool.free(buffer, PageLayout.PAGE_BYTES);
        assertEquals((long) PLACES * TOGETHER << PageLayout.PAGE_SHIFT, device.bytesRead());
        assertEquals(0, cache.stats().writtenThrough());
        file.writeBackAll();
        for (int place = 0; place < PLACES - 1; place++) {
            lockAndRead(place * APART + TOGETHER);
        }
    }

    /** Once pages are read that lie close together, nearly all frames hold such. */
    @Test
    void theMapGivesItsFramesBack() {
        for (int place = 0; place < PLACES; place++) {
            read(place * APART);
        }
        int farApart = cache.stats().framesOfMaps();
        assertTrue(farApart > 16, () -> farApart + " frames");
        for (long page = (PLACES - 1) * APART; page < PLACES * APART; page++) {
            read(page);
            read(page);
        }
        int close = cache.stats().framesOfMaps();
        assertTrue(close <= 2, () -> close + " frames");
    }

    /** Pages come and go in every way, and their parts of the map with them, beside each other. */
    @Test
    void manyThreadsUseThemAtRandom() throws InterruptedException {
        long seed = Long.getLong("seed", new Random().nextLong());
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed + t);
            int number = t;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < STEPS && failure.get() == null; i++) {
                        step(random, number);
                    }
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError("rerun with -Dseed=" + seed, failure.get());
        }
    }

    private void step(Random random, int thread) {
        // Most at a few places, so that threads meet there.
        long place = random.nextInt(random.nextInt(4) == 0 ? PLACES - 1 : 8) * APART;
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> read(place + random.nextInt(TOGETHER));
            case 3, 4 -> lockAndRead(place + random.nextInt(TOGETHER));
            case 5 -> file.prefetch(place, TOGETHER, CacheFixture.TYPE, GENERATION);
            case 6 -> file.bring(place, TOGETHER, CacheFixture.TYPE, GENERATION, false);
            default -> insertAndDiscard(place + TOGETHER + thread);
        }
    }

    /** With a page that is the thread's own. */
    private void insertAndDiscard(long page) {
        long buffer = pool.allocate(PageLayout.PAGE_BYTES);
        CacheFixture.fill(buffer, page, GENERATION);
        file.insertDirty(page, 1, buffer);
        pool.free(buffer, PageLayout.PAGE_BYTES);
        lockAndRead(page);
        file.discard(page, 1);
    }
}
