package dev.heartwood.engine.background;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.cache.MemoryDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** What is promised to memtables beside what merges may take. */
class SpacePromiseTest {
    private static final int EXTENTS = 128;
    private static final int MEMTABLE_BYTES = 1 << 20;

    /** Twice what the largest of trees needs for merges was less than nothing. */
    @Test
    void noDeviceIsAmpleForTheLargestTree() {
        AtomicLong forMerges = new AtomicLong(Long.MAX_VALUE);
        MemoryDevice device = new MemoryDevice(EXTENTS * PageLayout.EXTENT_PAGES, 0);
        try (MemoryPool pool = MemoryPool.open(4 << 20)) {
            ExtentAllocator extents = new ExtentAllocator(device, (long) EXTENTS * PageLayout.EXTENT_BYTES, 1);
            SpacePromise.Space space = new SpacePromise.Space(extents, () -> 0, forMerges::get, () -> MEMTABLE_BYTES);
            Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, MEMTABLE_BYTES);
            SpacePromise promise = new SpacePromise(space, memtable);
            promise.coverWithLast(MEMTABLE_BYTES / 2);
            assertFalse(promise.isAmple());
            forMerges.set(1);
            promise.prepareNext();
            assertTrue(promise.isAmple());
        } finally {
            device.close();
        }
    }

    /** Walking the tree takes longer the more runs there are, and was done for each memtable. */
    @Test
    void noTreeIsWalkedWhereSpaceIsPlentyAndItIsBeforeAnybodyIsRefused() {
        AtomicLong atMost = new AtomicLong(20);
        AtomicInteger walks = new AtomicInteger();
        MemoryDevice device = new MemoryDevice(EXTENTS * PageLayout.EXTENT_PAGES, 0);
        try (MemoryPool pool = MemoryPool.open(4 << 20)) {
            ExtentAllocator extents = new ExtentAllocator(device, (long) EXTENTS * PageLayout.EXTENT_BYTES, 1);
            LongSupplier walk = () -> {
                walks.incrementAndGet();
                return 2;
            };
            SpacePromise.Space space = new SpacePromise.Space(extents, atMost::get, walk, () -> MEMTABLE_BYTES);
            SpacePromise promise = new SpacePromise(space, new Memtable(pool, new SortArrays(), 1, 1, MEMTABLE_BYTES));
            promise.prepareNext();
            promise.cover(4096, Promised.GROWTH, false);
            assertEquals(0, walks.get());
            // For a batch that is larger than the memtable what merges take at most would be kept, and get blocks.
            new SpacePromise(space, new Memtable(pool, new SortArrays(), 1, 1, MEMTABLE_BYTES)).cover(3 * MEMTABLE_BYTES, Promised.GROWTH, false);
            assertEquals(1, walks.get());
            promise.prepareNext();
            // So few are left that what merges take at most is more, but what they do take is not.
            extents.promise(EXTENTS / 8, Promised.GROWTH, 0);
            promise.cover(8192, Promised.GROWTH, false);
            assertEquals(2, walks.get());
            atMost.set(0);
            promise.prepareNext();
            assertEquals(3, walks.get());
        } finally {
            device.close();
        }
    }

    /** A step ahead is a part of what memtables have when they are sealed, not of what they may have. */
    @Test
    void whatIsPromisedAheadIsAPartOfWhatMemtablesHave() {
        assertTrue(growthLeft(32 << 20) < 32);
        assertTrue(growthLeft(1 << 20) > 44);
    }

    /** The extents that may be promised beside a memtable of some entries. */
    private static int growthLeft(int memtableBytes) {
        MemoryDevice device = new MemoryDevice(EXTENTS * PageLayout.EXTENT_PAGES, 0);
        try (MemoryPool pool = MemoryPool.open(4 << 20)) {
            ExtentAllocator extents = new ExtentAllocator(device, (long) EXTENTS * PageLayout.EXTENT_BYTES, 1);
            SpacePromise promise = new SpacePromise(
                    new SpacePromise.Space(extents, () -> 0, () -> 0, () -> memtableBytes), new Memtable(pool, new SortArrays(), 1, 1, 32 << 20));
            promise.cover(4096, Promised.GROWTH, false);
            promise.cover(8192, Promised.GROWTH, false);
            int left = 0;
            try {
                while (true) {
                    extents.promise(1, Promised.GROWTH, 0);
                    left++;
                }
            } catch (NoSpaceException full) {
                return left;
            }
        } finally {
            device.close();
        }
    }
}
