package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dirty pages: what is written back when, and what becomes of them when that fails. */
class CachedFileWriteBackTest extends FormattedFileTest {
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

    /** Otherwise a later write to the reused extent could be overtaken by the old one. */
    @Test
    void discardWaitsForAWriteUnderWay() throws InterruptedException {
        fixture.insertDirty(64, 32, GENERATION + 1);
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        device.during = () -> {
            writing.countDown();
            CacheFixture.await(go);
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
}
