package dev.heartwood.jmh;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Finding a cached page and reading its first bytes, beside a concurrent hash map from page number to address; the path of a
 * miss without the device's time, and that of one that comes back from memory that others have lent; and taking in and discarding an extent of
 * new pages.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
public class PageCacheBenchmark {
    private static final long STORE = 1;
    private static final long GENERATION = 1;
    private static final int DEVICE_PAGES = 1 << 16;
    private static final int FIRST_NEW_PAGE = DEVICE_PAGES / 2;
    private static final long SMALL_BYTES = 8L << 20;
    private static final long LENT_BYTES = 32L << 20;
    /** More than the small cache has frames for, and fewer than with what is lent. */
    private static final int PAGES_BROUGHT_BACK = 6_000;

    /** Pages looked up at random: in the processor's cache, and beyond it. */
    @Param({"64", "16384"})
    public int pages;

    private final Epochs epochs = new Epochs();
    private final ConcurrentHashMap<Long, Long> addresses = new ConcurrentHashMap<>();
    private MemoryPool pool;
    private PageCache cache;
    private CachedFile file;
    private MemoryPool lender;
    private PageCache smallCache;
    private CachedFile smallFile;
    private long extent;
    private int nextMiss;
    private int nextBroughtBack;

    @Setup
    public void open() {
        pool = MemoryPool.open(256L << 20);
        cache = new PageCache(pool, 128L << 20, epochs);
        lender = MemoryPool.open(LENT_BYTES);
        smallCache = new PageCache(pool, SMALL_BYTES, LENT_BYTES, epochs);
        smallFile = smallCache.attach(new SealingDevice(), STORE);
        while (smallCache.borrow(lender)) {}
        extent = pool.allocate(PageLayout.EXTENT_BYTES);
        file = cache.attach(new SealingDevice(), STORE);
        for (int i = 0; i < PageLayout.EXTENT_PAGES; i++) {
            seal(extent + ((long) i << PageLayout.PAGE_SHIFT), FIRST_NEW_PAGE + i);
        }
        for (int round = 0; round < 2; round++) {
            for (long page = 0; page < pages; page++) {
                addresses.put(page, file.page(page, PageType.BRANCH_LEAF, GENERATION));
            }
        }
    }

    @TearDown
    public void close() {
        smallFile.close();
        smallCache.close();
        file.close();
        cache.close();
        pool.close();
        lender.close();
    }

    private static void seal(long address, long page) {
        PageSeal.seal(address, PageType.BRANCH_LEAF, STORE, page, GENERATION);
    }

    private long randomPage() {
        return ThreadLocalRandom.current().nextInt() & pages - 1;
    }

    @Benchmark
    public long randomNumberOnly() {
        return randomPage();
    }

    @Benchmark
    public long hit() {
        return Memory.getLong(file.page(randomPage(), PageType.BRANCH_LEAF, GENERATION) + PageLayout.BODY);
    }

    @Benchmark
    public long hitInsideItsOwnEpoch() {
        int epoch = epochs.enter();
        long read = Memory.getLong(file.page(randomPage(), PageType.BRANCH_LEAF, GENERATION) + PageLayout.BODY);
        epochs.exit(epoch);
        return read;
    }

    @Benchmark
    public long hitLockedShared() {
        long address = file.lockShared(randomPage(), PageType.BRANCH_LEAF, GENERATION);
        long read = Memory.getLong(address + PageLayout.BODY);
        file.unlockShared(address);
        return read;
    }

    @Benchmark
    public long hitInConcurrentHashMap() {
        return Memory.getLong(addresses.get(randomPage()) + PageLayout.BODY);
    }

    /** One thread: reads pages that are never there, so each evicts another. Sealing, copying and verifying included. */
    @Benchmark
    public long miss() {
        int epoch = epochs.enter();
        nextMiss = nextMiss + 1 & DEVICE_PAGES - 1;
        long address = file.page(nextMiss, PageType.BRANCH_LEAF, GENERATION);
        epochs.exit(epoch);
        return address;
    }

    /** One thread: reads pages that were evicted, nearly all of which are copied from lent memory, and others to there. */
    @Benchmark
    public long broughtBack() {
        int epoch = epochs.enter();
        nextBroughtBack = (nextBroughtBack + 1) % PAGES_BROUGHT_BACK;
        long address = smallFile.page(nextBroughtBack, PageType.BRANCH_LEAF, GENERATION);
        epochs.exit(epoch);
        return address;
    }

    /** One thread: 32 pages in and out; nothing is written. */
    @Benchmark
    public void extentInsertedAndDiscarded() {
        file.insertDirty(FIRST_NEW_PAGE, PageLayout.EXTENT_PAGES, extent);
        file.discard(FIRST_NEW_PAGE, PageLayout.EXTENT_PAGES);
    }

    /** Makes each page when it is read. */
    private static final class SealingDevice implements BlockDevice {
        @Override
        public String name() {
            return "sealing";
        }

        @Override
        public long size() {
            return (long) DEVICE_PAGES << PageLayout.PAGE_SHIFT;
        }

        @Override
        public void read(long position, long address, int length) {
            seal(address, position >>> PageLayout.PAGE_SHIFT);
        }

        @Override
        public void write(long position, long address, int length) {}

        @Override
        public void writePages(long position, long[] addresses, int count) {}

        @Override
        public void sync() {}

        @Override
        public void allocate(long size) {}

        @Override
        public void discard(long position, long length) {}

        @Override
        public IoQueue newQueue(int depth) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long bytesRead() {
            return 0;
        }

        @Override
        public long bytesWritten() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
