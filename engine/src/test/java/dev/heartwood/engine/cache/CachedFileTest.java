package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CachedFileTest {
    private static final int FRAMES = 128;
    private static final int PAGES = 4096;
    private static final long GENERATION = 3;

    private CacheFixture fixture;
    private CachedFile file;
    private MemoryDevice device;

    @BeforeEach
    void open() {
        fixture = new CacheFixture(FRAMES, PAGES);
        file = fixture.file;
        device = fixture.device;
        fixture.format(0, PAGES, GENERATION);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

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
        file.bringPair(page, PageType.BRANCH_LEAF, GENERATION);
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
    void dirtyPagesAreReadableAndWrittenBackJoined() {
        fixture.insertDirty(64, 20, GENERATION + 1);
        fixture.insertDirty(84, 12, GENERATION + 1);
        assertEquals(32, file.dirtyPages());
        fixture.read(90, GENERATION + 1);
        assertEquals(0, device.reads.get());
        file.writeBackAll();
        assertEquals(0, file.dirtyPages());
        assertEquals(1, device.writes.get());
        assertEquals(32, fixture.cache.stats().writtenBack());
        CacheFixture.check(device.contents(95), 95, GENERATION + 1);
        assertTrue(fixture.isCached(95));
    }

    @Test
    void manyExtentsAreWrittenBackTogether() {
        fixture.close();
        fixture = new CacheFixture(1024, PAGES);
        file = fixture.file;
        device = fixture.device;
        long[] firstPages = new long[6];
        for (int extent = 0; extent < 12; extent++) {
            fixture.insertDirty(extent * 32L, extent % 2 == 0 ? 32 : 9, GENERATION);
            firstPages[extent / 2] = (extent / 2) * 32L;
        }
        file.writeBack(firstPages, 6);
        assertEquals(6, device.writes.get());
        assertEquals(3 * 41, file.dirtyPages());
        file.writeBackAll();
        assertEquals(12, device.writes.get());
        assertEquals(0, file.dirtyPages());
        for (int extent = 0; extent < 12; extent++) {
            CacheFixture.check(device.contents(extent * 32L + 8), extent * 32L + 8, GENERATION);
        }
    }

    @Test
    void discardedDirtyPagesAreNeverWritten() {
        fixture.insertDirty(64, 32, GENERATION + 1);
        file.discard(64, 32);
        file.writeBackAll();
        assertEquals(0, device.writes.get());
        assertEquals(32, fixture.cache.stats().discardedDirty());
        fixture.insertDirty(64, 4, GENERATION + 2);
        file.discard(65, 2);
        file.writeBackAll();
        assertEquals(2, device.writes.get());
        fixture.read(64, GENERATION + 2);
        fixture.read(67, GENERATION + 2);
        fixture.read(65, GENERATION);
    }

    @Test
    void aPageStillCachedIsNotOverwritten() {
        fixture.read(64, GENERATION);
        assertThrows(IllegalStateException.class, () -> fixture.insertDirty(64, 1, GENERATION + 1));
        file.discard(64, 1);
        fixture.insertDirty(64, 1, GENERATION + 1);
        assertThrows(IllegalArgumentException.class, () -> fixture.insertDirty(90, 8, GENERATION + 1));
    }

    @Test
    void aFailedWriteBackIsRememberedAndNothingDirtyIsLost() {
        fixture.insertDirty(64, 32, GENERATION + 1);
        fixture.insertDirty(96, 3, GENERATION + 1);
        device.failingWrite.set(1);
        PreviousFailureException e = assertThrows(PreviousFailureException.class, file::writeBackAll);
        assertSame(file.failure(), e.getCause());
        assertEquals(35, file.dirtyPages());
        assertThrows(PreviousFailureException.class, file::writeBackAll);
        assertThrows(PreviousFailureException.class, () -> file.writeBack(new long[] {64}, 1));
        assertThrows(PreviousFailureException.class, () -> fixture.insertDirty(128, 1, GENERATION + 1));
        assertFalse(fixture.cache.writeBackSome());
        for (int page = 1000; page < 1000 + 4 * FRAMES; page++) {
            fixture.read(page, GENERATION);
        }
        for (int page = 64; page < 99; page++) {
            fixture.read(page, GENERATION + 1);
        }
    }

    @Test
    void aFailureInTheQueueIsRememberedToo() {
        fixture.close();
        fixture = new CacheFixture(1024, PAGES);
        file = fixture.file;
        for (int extent = 0; extent < 10; extent++) {
            fixture.insertDirty(extent * 32L, 32, GENERATION);
        }
        fixture.device.failingWrite.set(4);
        assertThrows(PreviousFailureException.class, file::writeBackAll);
        assertTrue(file.failure() instanceof StoreIoException);
        assertTrue(file.dirtyPages() >= 32);
    }

    @Test
    void aFailedWriteThroughIsRemembered() {
        long buffer = fixture.sealed(64, 2, GENERATION + 1);
        device.failingWrite.set(1);
        assertThrows(StoreIoException.class, () -> file.writeThrough(64, 2, buffer));
        assertThrows(PreviousFailureException.class, () -> file.writeThrough(64, 2, buffer));
        fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
    }

    @Test
    void theBackgroundIsAskedToWriteBackAboveAShare() {
        AtomicInteger asked = new AtomicInteger();
        fixture.cache.onWriteBackDue(asked::incrementAndGet);
        fixture.insertDirty(0, 32, GENERATION + 1);
        assertEquals(0, asked.get());
        fixture.insertDirty(32, 32, GENERATION + 1);
        fixture.insertDirty(64, 16, GENERATION + 1);
        assertEquals(1, asked.get());
        while (fixture.cache.writeBackSome()) {
            continue;
        }
        assertTrue(file.dirtyPages() <= fixture.cache.stats().frames() / 2);
        CacheFixture.check(device.contents(0), 0, GENERATION + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whenTheBackgroundCannotWriteNothingDirtyIsLostAndNothingIsWaitedForForEver(boolean queueFails) {
        fixture.close();
        fixture = new CacheFixture(512, PAGES);
        file = fixture.file;
        int extents = 11;
        for (int extent = 0; extent < extents; extent++) {
            fixture.insertDirty(extent * 32L, 32, GENERATION + 1);
        }
        AtomicInteger writesBegun = new AtomicInteger();
        if (queueFails) {
            fixture.device.during = () -> {
                if (writesBegun.incrementAndGet() == 1) {
                    throw new IllegalStateException("planted");
                }
            };
        } else {
            fixture.device.failingWrite.set(2);
        }
        while (fixture.cache.writeBackSome()) {
            continue;
        }
        assertTrue(queueFails ? file.failure().getMessage().equals("planted") : file.failure() instanceof StoreIoException);
        int written = (int) (extents * 32 - file.dirtyPages());
        assertTrue(written % 32 == 0 && written <= (queueFails ? 0 : 2 * 32), written + " pages written");
        for (int page = 0; page < extents * 32; page++) {
            fixture.read(page, GENERATION + 1);
        }
        for (int extent = 0; extent < extents; extent++) {
            file.discard(extent * 32L, 32);
        }
        assertEquals(0, file.dirtyPages());
    }

    /** Who drops pages that a write-back had taken hung when its queue failed and could not be closed either. */
    @Test
    void whereTheQueueCannotBeClosedNothingIsWaitedForForEver() {
        CacheFixture broken = new CacheFixture(512, PAGES);
        for (int extent = 0; extent < 11; extent++) {
            broken.insertDirty(extent * 32L, 32, GENERATION + 1);
        }
        AtomicInteger writesBegun = new AtomicInteger();
        broken.device.during = () -> {
            if (writesBegun.incrementAndGet() <= 2) {
                throw new IllegalStateException("planted");
            }
        };
        while (broken.cache.writeBackSome()) {
            continue;
        }
        assertEquals(2, writesBegun.get(), "one while it writes and one while it closes");
        assertEquals("planted", broken.file.failure().getMessage());
        assertEquals(11 * 32, broken.file.dirtyPages());
        broken.file.close();
        broken.cache.close();
        assertTrue(broken.pool.allocated() > 0, "writes may be under way from the buffers, so nobody else gets them");
        broken.pool.close();
        broken.device.close();
    }

    @Test
    void whatIsExpectedToLastIsWrittenBackFirst() {
        fixture.close();
        fixture = new CacheFixture(512, PAGES);
        file = fixture.file;
        device = fixture.device;
        long buffer = fixture.sealed(8 * 32L, 32, GENERATION + 1);
        for (int extent = 0; extent < 8; extent++) {
            fixture.insertDirty(extent * 32L, 32, GENERATION + 1);
        }
        file.insertLasting(8 * 32L, 32, buffer);
        fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
        fixture.cache.writeBackSome();
        assertEquals(1, device.writes.get());
        CacheFixture.check(device.contents(8 * 32L), 8 * 32L, GENERATION + 1);
        file.writeBackAll();
        CacheFixture.check(device.contents(7 * 32L), 7 * 32L, GENERATION + 1);
    }

    @Test
    void moreDirtyPagesThanFitAreWrittenBackByTheirProducer() {
        for (int extent = 0; extent < 40; extent++) {
            fixture.insertDirty(extent * 32L, 32, GENERATION + 1);
            assertTrue(file.dirtyPages() <= fixture.cache.stats().frames() / 4 * 3);
        }
        for (int page = 0; page < 40 * 32; page++) {
            fixture.read(page, GENERATION + 1);
        }
    }

    @Test
    void prefetchedPagesArriveWithFewReads() {
        fixture.read(70, GENERATION);
        file.prefetch(64, 32, CacheFixture.TYPE, GENERATION);
        for (int page = 64; page < 96; page++) {
            fixture.read(page, GENERATION);
        }
        assertEquals(3, device.reads.get());
        assertEquals(31, fixture.cache.stats().prefetches());
        assertEquals(1, fixture.cache.stats().loads());
    }

    @Test
    void aDamagedPageInAPrefetchIsReportedToItsReaderOnly() {
        device.flip(70, 9_000);
        file.prefetch(64, 32, CacheFixture.TYPE, GENERATION);
        fixture.read(69, GENERATION);
        fixture.read(71, GENERATION);
        assertThrows(CorruptionException.class, () -> fixture.read(70, GENERATION));
        device.failingRead.set(1);
        file.prefetch(128, 32, CacheFixture.TYPE, GENERATION);
        fixture.read(130, GENERATION);
    }

    @Test
    void prefetchesThatNobodyWaitsForGiveTheirFramesBack() {
        for (int extent = 0; extent < 8; extent++) {
            file.prefetch(extent * 32L, 32, CacheFixture.TYPE, GENERATION);
        }
        for (int page = 2000; page < 2000 + 4 * FRAMES; page++) {
            fixture.read(page, GENERATION);
        }
        file.prefetch(3000, 32, CacheFixture.TYPE, GENERATION);
        file.discard(2990, 64);
        assertFalse(fixture.isCached(3001));
    }

    @Test
    void aScanDoesNotFlushTheHotPages() {
        int hot = FRAMES / 2;
        for (int round = 0; round < 2; round++) {
            for (int page = 0; page < hot; page++) {
                fixture.read(page, GENERATION);
            }
        }
        for (int extent = 4; extent < PAGES / 32; extent++) {
            file.prefetch(extent * 32L, 32, CacheFixture.TYPE, GENERATION);
            for (int page = extent * 32; page < extent * 32 + 32; page++) {
                file.unlockShared(file.lockShared(page, CacheFixture.TYPE, GENERATION));
            }
        }
        int kept = 0;
        for (int page = 0; page < hot; page++) {
            kept += fixture.isCached(page) ? 1 : 0;
        }
        assertEquals(hot, kept);
    }

    @Test
    void mergeOutputDoesNotFlushTheHotPages() {
        int hot = FRAMES / 4;
        for (int page = 0; page < hot; page++) {
            fixture.read(page, GENERATION);
        }
        for (int extent = 4; extent < PAGES / 32; extent++) {
            fixture.insertDirty(extent * 32L, 32, GENERATION + 1);
            fixture.cache.writeBackSome();
        }
        int kept = 0;
        for (int page = 0; page < hot; page++) {
            kept += fixture.isCached(page) ? 1 : 0;
        }
        assertEquals(hot, kept);
    }

    @Test
    void anExtentIsReadAroundItsDirtyPages() {
        device.flip(70, 9_000);
        file.discard(70, 2);
        fixture.insertDirty(70, 2, GENERATION);
        fixture.read(66, GENERATION);
        int before = device.reads.get();
        long buffer = fixture.pool.allocate(PageLayout.EXTENT_BYTES);
        file.readExtent(64, 32, buffer, CacheFixture.TYPE, GENERATION);
        assertEquals(2, device.reads.get() - before);
        for (int i = 0; i < 32; i++) {
            CacheFixture.check(buffer + ((long) i << PageLayout.PAGE_SHIFT), 64 + i, GENERATION);
        }
        assertFalse(fixture.isCached(80));
        file.discard(70, 2);
        assertThrows(
                CorruptionException.class, () -> file.readExtent(64, 32, buffer, CacheFixture.TYPE, GENERATION));
        fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
    }

    @Test
    void extentsAreReadAhead() {
        fixture.insertDirty(72, 4, GENERATION);
        long[] buffers = new long[8];
        int[] requests = new int[8];
        try (ExtentReader reader = new ExtentReader(file, 4)) {
            for (int i = 0; i < 8; i++) {
                buffers[i] = fixture.pool.allocate(PageLayout.EXTENT_BYTES);
                requests[i] = reader.begin(64 + 32L * i, 32, buffers[i], CacheFixture.TYPE, GENERATION);
            }
            assertEquals(8, reader.pending());
            for (int i = 0; i < 8; i++) {
                reader.finish(requests[i]);
                CacheFixture.check(buffers[i] + PageLayout.PAGE_BYTES, 65 + 32L * i, GENERATION);
                CacheFixture.check(buffers[i] + 9 * PageLayout.PAGE_BYTES, 73 + 32L * i, GENERATION);
            }
            device.failingRead.set(1);
            int failing = reader.begin(640, 32, buffers[0], CacheFixture.TYPE, GENERATION);
            assertThrows(StoreIoException.class, () -> reader.finish(failing));
            device.flip(642, 8_000);
            int damaged = reader.begin(640, 32, buffers[0], CacheFixture.TYPE, GENERATION);
            assertThrows(CorruptionException.class, () -> reader.finish(damaged));
            assertEquals(0, reader.pending());
        }
        abandonExtents(buffers);
        for (long buffer : buffers) {
            fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    /** What nobody wants any more does not write to its buffer afterwards, whether it is abandoned by itself or the reader is closed. */
    private void abandonExtents(long[] buffers) {
        try (ExtentReader reader = new ExtentReader(file, 4)) {
            device.failingRead.set(1);
            reader.abandon(reader.begin(64, 32, buffers[0], CacheFixture.TYPE, GENERATION));
            assertEquals(0, reader.pending());
            int last = reader.begin(64, 32, buffers[0], CacheFixture.TYPE, GENERATION);
            reader.close();
            reader.abandon(last);
            assertEquals(0, reader.pending());
        }
    }

    @Test
    void manyReadersOfAnAbsentPageShareOneRead() throws InterruptedException {
        int threads = 8;
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        device.during = () -> {
            reading.countDown();
            await(go);
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

    /** Otherwise a later write to the reused extent could be overtaken by the old one. */
    @Test
    void discardWaitsForAWriteUnderWay() throws InterruptedException {
        fixture.insertDirty(64, 32, GENERATION + 1);
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        device.during = () -> {
            writing.countDown();
            await(go);
        };
        Thread writer = Thread.ofPlatform().start(file::writeBackAll);
        writing.await();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread discarder = Thread.ofPlatform().start(() -> {
            try {
                file.discard(64, 32);
                fixture.insertDirty(64, 32, GENERATION + 2);
                file.writeBackAll();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        while (discarder.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        device.during = () -> {};
        go.countDown();
        writer.join();
        discarder.join();
        assertEquals(null, failure.get());
        assertEquals(null, file.failure());
        assertEquals(0, fixture.cache.stats().discardedDirty());
        CacheFixture.check(device.contents(70), 70, GENERATION + 2);
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

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Writers wait with their slots for what a merge gives them: it waited for one of these when it copied its next pages. */
    @Test
    void pagesAreCopiedForMergesHoweverManyOperationsWait() {
        try (CacheFixture fixture = new CacheFixture(64, 64)) {
            fixture.format(0, 4, 7);
            fixture.read(1, 7);
            int[] slots = new int[Epochs.SLOTS];
            for (int i = 0; i < slots.length; i++) {
                slots[i] = fixture.epochs.enterSuspended();
            }
            long buffer = fixture.pool.allocate(PageLayout.EXTENT_BYTES);
            long stamp = fixture.epochs.advance();
            assertEquals(ReadPlan.of(0b1101, 0), fixture.file.copyCached(0, 4, buffer));
            int brief = fixture.epochs.enterBriefly();
            assertTrue(fixture.epochs.passed(stamp));
            assertFalse(fixture.epochs.passed(fixture.epochs.advance()), "it is not overlooked");
            fixture.epochs.exit(brief);
            for (int slot : slots) {
                fixture.epochs.exit(slot);
            }
            assertFalse(fixture.epochs.isOccupied());
            fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }
}
