package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pages read through a cache: once, verified, by one reader for all. */
class CachedFileTest extends FormattedFileTest {
    @Test
    void aPageIsReadOnce() {
        assertFalse(fixture.isCached(7));
        fixture.read(7, GENERATION);
        fixture.read(7, GENERATION);
        assertTrue(fixture.isCached(7));
        assertEquals(1, device.reads.get());
        assertEquals(1, fixture.cache.stats().loads());
    }

    @Test
    void moreOfTheFileThanFitsCanBeRead() {
        for (int round = 0; round < 3; round++) {
            for (int page = 0; page < PAGES; page++) {
                fixture.read(page, GENERATION);
            }
        }
        assertTrue(fixture.cache.stats().evictions() > 2 * PAGES);
        assertEquals(0, fixture.cache.stats().transientLoads());
    }

    private void bringPair(long page) {
        file.bring(page, 2, PageType.BRANCH_LEAF, GENERATION, false);
    }

    @Test
    void twoPagesAreReadAtOnce() {
        fixture.read(9, GENERATION);
        bringPair(7);
        assertTrue(fixture.isCached(7) && fixture.isCached(8));
        assertEquals(2, device.reads.get());
        fixture.read(7, GENERATION);
        fixture.read(8, GENERATION);
        assertEquals(2, device.reads.get());
        assertEquals(3, fixture.cache.stats().loads());
    }

    @Test
    void aPairOfWhichOneIsCachedIsNotRead() {
        fixture.read(7, GENERATION);
        bringPair(6);
        bringPair(7);
        assertEquals(1, device.reads.get());
        assertFalse(fixture.isCached(6) || fixture.isCached(8));
    }

    @Test
    void aPairBeyondTheFileIsNotRead() {
        fixture.read(7, GENERATION);
        bringPair(PAGES - 1);
        bringPair(-1);
        assertEquals(1, device.reads.get());
    }

    @Test
    void ofADamagedPairTheGoodPageIsKept() {
        fixture.read(9, GENERATION);
        device.flip(8, 20_000);
        bringPair(7);
        assertTrue(fixture.isCached(7));
        assertFalse(fixture.isCached(8));
        assertThrows(CorruptionException.class, () -> fixture.read(8, GENERATION));
    }

    @Test
    void aPairThatCannotBeReadStaysAbsent() {
        fixture.read(9, GENERATION);
        device.failingRead.set(1);
        bringPair(7);
        assertFalse(fixture.isCached(7) || fixture.isCached(8));
        fixture.read(7, GENERATION);
        fixture.read(8, GENERATION);
    }

    @Test
    void ofARunWhatIsAbsentIsReadAtOnce() {
        fixture.read(2, GENERATION);
        fixture.read(5, GENERATION);
        fixture.read(9, GENERATION);
        long bytes = device.bytesRead();
        file.bring(2, 8, PageType.BRANCH_LEAF, GENERATION, false);
        assertEquals(4, device.reads.get());
        assertEquals(6 * PageLayout.PAGE_BYTES, device.bytesRead() - bytes);
        for (int page = 2; page < 10; page++) {
            fixture.read(page, GENERATION);
        }
        assertEquals(4, device.reads.get());
        assertEquals(8, fixture.cache.stats().loads());
    }

    @Test
    void ofADamagedRunTheGoodPagesAreKept() {
        fixture.read(1, GENERATION);
        device.flip(4, 20_000);
        file.bring(2, 5, PageType.BRANCH_LEAF, GENERATION, false);
        for (int page = 2; page < 7; page++) {
            assertEquals(page != 4, fixture.isCached(page), "page " + page);
        }
        assertThrows(CorruptionException.class, () -> fixture.read(4, GENERATION));
        device.flip(4, 20_000);
        fixture.read(4, GENERATION);
    }

    @Test
    void aRunThatCannotBeReadStaysAbsent() {
        fixture.read(1, GENERATION);
        device.failingRead.set(1);
        file.bring(2, 5, PageType.BRANCH_LEAF, GENERATION, false);
        for (int page = 2; page < 7; page++) {
            assertFalse(fixture.isCached(page));
            fixture.read(page, GENERATION);
        }
    }

    @Test
    void aFailedReadLeavesThePageAbsent() {
        device.failingRead.set(1);
        assertThrows(StoreIoException.class, () -> fixture.read(7, GENERATION));
        assertFalse(fixture.isCached(7));
        fixture.read(7, GENERATION);
    }

    @Test
    void aDamagedPageIsRefusedAndNotCached() {
        device.flip(7, 20_000);
        CorruptionException e = assertThrows(CorruptionException.class, () -> fixture.read(7, GENERATION));
        assertEquals(7, e.page());
        assertFalse(fixture.isCached(7));
        device.flip(7, 20_000);
        fixture.read(7, GENERATION);
    }

    @Test
    void anOlderPageThanExpectedIsRefused() {
        CorruptionException e = assertThrows(CorruptionException.class, () -> fixture.read(7, GENERATION + 1));
        assertTrue(e.expected().contains("generation"));
    }

    @Test
    void aPageBeyondTheFileIsRefused() {
        assertThrows(CorruptionException.class, () -> fixture.read(PAGES, GENERATION));
        assertThrows(CorruptionException.class, () -> fixture.read(1L << 50, GENERATION));
        assertThrows(CorruptionException.class, () -> fixture.read(-1, GENERATION));
        file.prefetch(PAGES - 2, 20, CacheFixture.TYPE, GENERATION);
        file.prefetch(1L << 50, 20, CacheFixture.TYPE, GENERATION);
        fixture.read(PAGES - 1, GENERATION);
    }

    @Test
    void aLockedPageIsNotEvicted() {
        long locked = file.lockShared(9, CacheFixture.TYPE, GENERATION);
        for (int page = 100; page < 100 + 4 * FRAMES; page++) {
            fixture.read(page, GENERATION);
        }
        assertTrue(fixture.isCached(9));
        CacheFixture.check(locked, 9, GENERATION);
        assertEquals(locked, file.lockShared(9, CacheFixture.TYPE, GENERATION));
        file.unlockShared(locked);
        file.unlockShared(locked);
        for (int page = 100; page < 100 + 8 * FRAMES; page++) {
            fixture.read(page, GENERATION);
        }
        assertFalse(fixture.isCached(9));
    }

    @Test
    void whenEveryFrameIsLockedPagesGoPastTheCache() {
        List<Long> locked = new ArrayList<>();
        for (int page = 0; page < 2 * FRAMES; page++) {
            long address = file.lockShared(page, CacheFixture.TYPE, GENERATION);
            CacheFixture.check(address, page, GENERATION);
            locked.add(address);
        }
        assertTrue(fixture.cache.stats().transientLoads() > 0);
        fixture.read(3000, GENERATION);
        fixture.insertDirty(3200, 32, GENERATION + 1);
        assertEquals(32, fixture.cache.stats().writtenThrough());
        fixture.read(3201, GENERATION + 1);
        locked.forEach(file::unlockShared);
        // The first to come evicts, but its own epoch holds back what it evicted.
        fixture.read(3001, GENERATION);
        fixture.read(3002, GENERATION);
        assertTrue(fixture.isCached(3002));
    }

    /** Whatever was evicted while somebody stayed in an epoch could not be used, and so all of the cache was evicted. */
    @Test
    void anOperationThatStaysInItsEpochDoesNotHaveTheCacheEmptied() {
        int hot = FRAMES / 2;
        heat(hot);
        int epoch = fixture.epochs.enter();
        for (int page = 1000; page < 1000 + 2 * FRAMES; page++) {
            fixture.read(page, GENERATION);
        }
        int kept = cachedOf(hot);
        fixture.epochs.exit(epoch);
        assertTrue(kept >= hot * 3 / 4, kept + " of " + hot);
    }

    /** An operation that reads more pages than there are frames holds its own frames in limbo; it must not wait for itself. */
    @Test
    void anOperationLargerThanTheCacheEnds() {
        int epoch = fixture.epochs.enter();
        long[] addresses = new long[3 * FRAMES];
        for (int page = 0; page < addresses.length; page++) {
            addresses[page] = file.page(page, CacheFixture.TYPE, GENERATION);
        }
        for (int page = 0; page < addresses.length; page++) {
            CacheFixture.check(addresses[page], page, GENERATION);
        }
        fixture.epochs.exit(epoch);
        assertTrue(fixture.cache.stats().transientLoads() > 0);
    }

    @Test
    void manyReadersOfAnAbsentPageShareOneRead() throws InterruptedException {
        int threads = 8;
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        device.during = () -> {
            reading.countDown();
            CacheFixture.await(go);
        };
        List<Thread> readers = new ArrayList<>();
        AtomicInteger good = new AtomicInteger();
        for (int i = 0; i < threads; i++) {
            Thread.Builder builder = i % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
            readers.add(builder.start(() -> {
                fixture.read(5, GENERATION);
                good.incrementAndGet();
            }));
        }
        reading.await();
        go.countDown();
        for (Thread reader : readers) {
            reader.join();
        }
        assertEquals(threads, good.get());
        assertEquals(1, device.reads.get());
    }

    @Test
    void waitersOfAFailedReadReadForThemselves() throws InterruptedException {
        device.failingRead.set(1);
        device.during = Thread::yield;
        List<Thread> readers = new ArrayList<>();
        AtomicInteger failed = new AtomicInteger();
        AtomicInteger good = new AtomicInteger();
        for (int i = 0; i < 8; i++) {
            readers.add(Thread.ofPlatform().start(() -> {
                try {
                    fixture.read(5, GENERATION);
                    good.incrementAndGet();
                } catch (StoreException e) {
                    failed.incrementAndGet();
                }
            }));
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertEquals(1, failed.get());
        assertEquals(7, good.get());
        assertEquals(2, device.reads.get());
    }

    @Test
    void filesShareACacheAndAreKeptApart() {
        CachedFile other = fixture.cache.attach(device, CacheFixture.STORE);
        fixture.read(7, GENERATION);
        int epoch = fixture.epochs.enter();
        long page = other.page(7, CacheFixture.TYPE, GENERATION);
        assertNotEquals(file.page(7, CacheFixture.TYPE, GENERATION), page);
        fixture.epochs.exit(epoch);
        assertEquals(PageLayout.PAGE_BYTES, other.mapBytes());
        other.close();
        fixture.read(7, GENERATION);
        assertEquals(2, device.reads.get());
    }

    @Test
    void anInterruptedReaderFinishesAndKeepsItsFlag() {
        Thread.currentThread().interrupt();
        fixture.read(7, GENERATION);
        file.prefetch(64, 32, CacheFixture.TYPE, GENERATION);
        fixture.read(70, GENERATION);
        assertTrue(Thread.interrupted());
    }
}
