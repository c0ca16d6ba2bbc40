package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many threads use tiny caches at random, as a store would: extents are written, read in every way, written back, discarded and
 * written anew with a higher generation. The model is, per extent, the pages written and their generation; a count of readers
 * per extent plays the part of the reference that a store holds on a branch while it reads it.
 */
class PageCachePropertyTest {
    private static final int EXTENTS = 24;
    private static final long CLOSE = PageLayout.EXTENT_PAGES;
    /** So that each extent has a part of the map to itself. */
    private static final long FAR_APART = 1024;
    private static final int THREADS = 8;
    private static final int STEPS = 1_500;

    /** What an extent holds: nothing while {@code pages} is 0. Readers retain it; it is discarded when the last one leaves. */
    private static final class Version {
        private final int extent;
        private final long firstPage;
        private final long generation;
        private volatile int pages;
        // Starts with the reference of the table.
        private final AtomicInteger references = new AtomicInteger(1);

        private Version(int extent, long firstPage, long generation) {
            this.extent = extent;
            this.firstPage = firstPage;
            this.generation = generation;
        }

        private long firstPage() {
            return firstPage;
        }

        private boolean retain() {
            int before = references.get();
            while (before > 0 && !references.compareAndSet(before, before + 1)) {
                before = references.get();
            }
            return before > 0;
        }
    }

    private final AtomicReferenceArray<Version> table = new AtomicReferenceArray<>(EXTENTS);
    private CacheFixture fixture;
    private boolean failReads;

    @ParameterizedTest
    @ValueSource(ints = {64, 128, 256})
    void randomUseByManyThreads(int frames) throws InterruptedException {
        run(frames, CLOSE, false);
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 200})
    void randomUseWhileReadsFail(int frames) throws InterruptedException {
        run(frames, CLOSE, true);
    }

    /** Parts of the map come and go with the pages in them. */
    @ParameterizedTest
    @ValueSource(ints = {64, 128})
    void randomUseOfExtentsFarApart(int frames) throws InterruptedException {
        run(frames, FAR_APART, true);
    }

    private void run(int frames, long apart, boolean failing) throws InterruptedException {
        long seed = Long.getLong("seed", new Random().nextLong());
        failReads = failing;
        fixture = new CacheFixture(frames, (int) (EXTENTS * apart));
        fixture.device.during = () -> {
            if (fixture.device.reads.get() % 3 == 0) {
                Thread.yield();
            }
        };
        for (int extent = 0; extent < EXTENTS; extent++) {
            table.set(extent, new Version(extent, extent * apart, 1));
        }
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed + t);
            Thread.Builder builder = t % 4 == 3 ? Thread.ofVirtual() : Thread.ofPlatform();
            threads.add(builder.start(() -> {
                try {
                    for (int i = 0; i < STEPS && failure.get() == null; i++) {
                        step(random);
                    }
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        String rerun = "rerun with -Dseed=" + seed;
        if (failure.get() != null) {
            throw new AssertionError(rerun, failure.get());
        }
        fixture.device.failingRead.set(0);
        assertNull(fixture.file.failure(), rerun);
        assertTrue(fixture.cache.stats().broughtBack() > 0, rerun);
        checkEverything(rerun);
        fixture.close();
    }

    private void checkEverything(String rerun) {
        fixture.file.writeBackAll();
        assertEquals(0, fixture.file.dirtyPages(), rerun);
        for (int extent = 0; extent < EXTENTS; extent++) {
            Version version = table.get(extent);
            for (int i = 0; i < version.pages; i++) {
                fixture.read(version.firstPage() + i, version.generation);
                CacheFixture.check(
                        fixture.device.contents(version.firstPage() + i), version.firstPage() + i, version.generation);
            }
        }
    }

    private void step(Random random) {
        Version version = table.get(random.nextInt(EXTENTS));
        if (!version.retain()) {
            return;
        }
        int choice = random.nextInt(100);
        try {
            if (choice < 15) {
                write(version, random);
            } else if (choice < 17) {
                fixture.cache.writeBackSome();
            } else if (choice < 18) {
                fixture.file.writeBackAll();
            } else if (choice < 20) {
                fixture.file.writeBack(new long[] {version.firstPage()}, 1);
            } else if (choice < 21) {
                lend(random);
            } else if (choice < 25) {
                replace(version);
            } else if (version.pages > 0) {
                read(version, random, choice);
            }
        } catch (StoreIoException e) {
            assertTrue(failReads, e.getMessage());
        } finally {
            release(version);
        }
    }

    /** Lends a block for pages that are evicted, or has some back. */
    private void lend(Random random) {
        if (random.nextInt(3) > 0) {
            fixture.cache.borrow(fixture.lender);
        } else {
            fixture.cache.giveBackSome(fixture.lender);
        }
    }

    private void read(Version version, Random random, int choice) {
        if (failReads && random.nextInt(20) == 0) {
            fixture.device.failingRead.set(1 + random.nextInt(3));
        }
        int pages = version.pages;
        long page = version.firstPage() + random.nextInt(pages);
        if (choice < 60) {
            fixture.read(page, version.generation);
        } else if (choice < 75) {
            long address = fixture.file.lockShared(page, CacheFixture.TYPE, version.generation);
            CacheFixture.check(address, page, version.generation);
            Thread.yield();
            CacheFixture.check(address, page, version.generation);
            fixture.file.unlockShared(address);
        } else if (choice < 90) {
            int count = 1 + random.nextInt((int) (version.firstPage() + pages - page));
            fixture.file.prefetch(page, count, CacheFixture.TYPE, version.generation);
        } else {
            readExtent(version, pages, random.nextBoolean());
        }
    }

    private void readExtent(Version version, int pages, boolean ahead) {
        long buffer = fixture.pool.allocate(PageLayout.EXTENT_BYTES);
        try {
            if (ahead) {
                try (ExtentReader reader = new ExtentReader(fixture.file, 4)) {
                    reader.finish(
                            reader.begin(version.firstPage(), pages, buffer, CacheFixture.TYPE, version.generation));
                }
            } else {
                fixture.file.readExtent(
                        version.firstPage(), pages, buffer, CacheFixture.TYPE, version.generation);
            }
            for (int i = 0; i < pages; i++) {
                CacheFixture.check(
                        buffer + ((long) i << PageLayout.PAGE_SHIFT), version.firstPage() + i, version.generation);
            }
        } finally {
            fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    /** One writer at a time appends pages to an extent, as a branch does. */
    private void write(Version version, Random random) {
        synchronized (version) {
            int pages = version.pages;
            if (pages == PageLayout.EXTENT_PAGES || table.get(version.extent) != version) {
                return;
            }
            int count = 1 + random.nextInt(PageLayout.EXTENT_PAGES - pages);
            if (random.nextInt(5) == 0) {
                long buffer = fixture.sealed(version.firstPage() + pages, count, version.generation);
                fixture.file.writeThrough(version.firstPage() + pages, count, buffer);
                fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
            } else {
                fixture.insertDirty(version.firstPage() + pages, count, version.generation);
            }
            version.pages = pages + count;
        }
    }

    /** Unlinks what an extent holds; the extent is used again when the last reader has left. */
    private void replace(Version version) {
        synchronized (version) {
            if (version.references.get() > 0 && table.get(version.extent) == version && version.pages > 0) {
                Version nothing = new Version(version.extent, version.firstPage, 0);
                nothing.references.set(0); // before it is in the table, so that nobody retains it and writes pages of it
                table.set(version.extent, nothing);
                version.references.decrementAndGet();
            }
        }
    }

    private void release(Version version) {
        if (version.references.decrementAndGet() == 0) {
            try {
                fixture.file.discard(version.firstPage(), PageLayout.EXTENT_PAGES);
            } catch (StoreException e) {
                throw new AssertionError(e);
            }
            table.set(version.extent, new Version(version.extent, version.firstPage, version.generation + 1));
        }
    }
}
