package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is read before it is asked for, and past the pages that are asked for often. */
class CachedFileReadAheadTest extends FormattedFileTest {
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

    /** As those that a call of many keys has begun, and not come to yet: with an extent for each a few of them took all that there is. */
    @Test
    void aFewPagesThatAreBegunTakeNoMoreMemoryThanTheyAre() {
        fixture.read(70, GENERATION);
        long before = fixture.pool.allocated();
        file.prefetch(64, 2, CacheFixture.TYPE, GENERATION);
        assertEquals(before + 2 * PageLayout.PAGE_BYTES, fixture.pool.allocated());
        file.prefetch(100, 5, CacheFixture.TYPE, GENERATION);
        assertEquals(before + (2 + 8) * PageLayout.PAGE_BYTES, fixture.pool.allocated());
        fixture.read(100, GENERATION);
        fixture.read(65, GENERATION);
        assertEquals(before, fixture.pool.allocated());
    }

    /** Gets were refused for want of memory that pages had which somebody had begun to read, and nobody came for. */
    @Test
    void whoFindsNoMemoryHasThatOfPagesThatNobodyComesFor() {
        MemoryPool pool = fixture.pool;
        int epoch = fixture.epochs.enter();
        file.prefetch(64, 4, CacheFixture.TYPE, GENERATION);
        List<Long> taken = new ArrayList<>();
        for (long page = pool.allocate(PageLayout.PAGE_BYTES); page != 0; page = pool.allocate(PageLayout.PAGE_BYTES)) {
            taken.add(page);
        }
        TransientPages transients = fixture.cache.transients;
        List<Long> reserve = TransientPagesTest.takeAll(transients);
        CacheFixture.check(
                fixture.cache.loader.loadTransient(file, 200, CacheFixture.TYPE, GENERATION), 200, GENERATION);
        fixture.epochs.exit(epoch);
        reserve.forEach(transients::free);
        taken.forEach(page -> pool.free(page, PageLayout.PAGE_BYTES));
        transients.freePassed();
    }

    /** Has the next operation of the device find the Java heap full. */
    private void failOnce() {
        AtomicBoolean armed = new AtomicBoolean(true);
        device.during = () -> {
            if (armed.getAndSet(false)) {
                throw new OutOfMemoryError("for a test");
            }
        };
    }

    /** Its pages counted as being read for ever: nobody could read them, nor close the file. */
    @Test
    void aPrefetchThatFindsTheHeapFullLeavesItsPagesToOthers() {
        file.prefetch(64, 32, CacheFixture.TYPE, GENERATION);
        failOnce();
        assertThrows(OutOfMemoryError.class, () -> fixture.read(70, GENERATION));
        for (int page = 64; page < 96; page++) {
            fixture.read(page, GENERATION);
        }
        file.prefetch(128, 32, CacheFixture.TYPE, GENERATION);
        file.discard(128, 32);
    }

    /** Frames that were dropped before the one that was waited for belonged to nobody any more; the fixture counts them. */
    @Test
    void aDropThatFindsTheHeapFullLosesNoFrame() {
        fixture.read(64, GENERATION);
        fixture.read(65, GENERATION);
        file.prefetch(66, 8, CacheFixture.TYPE, GENERATION);
        failOnce();
        assertThrows(OutOfMemoryError.class, () -> file.discard(64, 32));
        assertFalse(fixture.isCached(64));
    }

    /** What the fixture looks at afterwards: no frame is missing. */
    @Test
    void aFileThatIsClosedWithAFullHeapLeavesNothingBehind() {
        for (int extent = 2; extent < 6; extent++) {
            file.prefetch(extent * 32L, 8, CacheFixture.TYPE, GENERATION);
        }
        failOnce();
        assertThrows(OutOfMemoryError.class, file::close);
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

    /** Four files of which scans had left a little were enough for nothing to be read ahead any more in a small cache. */
    @Test
    void whatOthersHaveLeftKeepsNobodyFromReadingAhead() {
        CachedFile other = fixture.cache.attach(device, CacheFixture.STORE);
        int allowed = fixture.cache.stats().frames() / 4;
        assertEquals(allowed, file.prefetch(64, allowed, CacheFixture.TYPE, GENERATION));
        assertEquals(8, other.prefetch(128, 8, CacheFixture.TYPE, GENERATION));
        other.close();
    }

    @Test
    void buffersLastAsLongAsWhatIsUnderWay() {
        long before = fixture.pool.allocated();
        file.prefetch(64, 16, CacheFixture.TYPE, GENERATION);
        assertTrue(fixture.pool.allocated() > before);
        fixture.read(64, GENERATION);
        assertEquals(before, fixture.pool.allocated());
    }

    /** Others looked for a frame among what it had under way, and got its failure. */
    @Test
    void aQueueThatHasFailedIsNoFailureOfOtherFiles() {
        MemoryDevice broken = new MemoryDevice(PAGES);
        CachedFile other = fixture.cache.attach(broken, CacheFixture.STORE);
        other.prefetch(64, 8, CacheFixture.TYPE, GENERATION);
        broken.queuesFail = true;
        List<Long> locked = new ArrayList<>();
        try {
            for (int page = 0; page < 2 * FRAMES; page++) {
                locked.add(file.lockShared(page, CacheFixture.TYPE, GENERATION));
            }
            assertTrue(fixture.cache.stats().transientLoads() > 0);
        } finally {
            broken.queuesFail = false;
            locked.forEach(file::unlockShared);
            other.close();
            broken.close();
        }
    }

    @Test
    void aScanDoesNotFlushTheHotPages() {
        int hot = FRAMES / 2;
        heat(hot);
        for (int extent = 4; extent < PAGES / 32; extent++) {
            file.prefetch(extent * 32L, 32, CacheFixture.TYPE, GENERATION);
            for (int page = extent * 32; page < extent * 32 + 32; page++) {
                file.unlockShared(file.lockShared(page, CacheFixture.TYPE, GENERATION));
            }
        }
        assertEquals(hot, cachedOf(hot));
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
        assertEquals(hot, cachedOf(hot));
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
