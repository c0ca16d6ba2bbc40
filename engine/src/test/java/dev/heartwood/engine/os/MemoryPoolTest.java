package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MemoryPoolTest {
    @Test
    void givesOutEverythingAndTakesItBack() {
        try (MemoryPool pool = MemoryPool.open((3 << 20) + 5000)) {
            assertEquals((3 << 20) + 4096, pool.capacity());
            List<Long> blocks = new ArrayList<>();
            long block;
            while ((block = pool.allocate(4096)) != 0) {
                Memory.putLong(block, block);
                blocks.add(block);
            }
            assertEquals(pool.capacity(), pool.allocated());
            assertEquals(pool.capacity() / 4096, blocks.size());
            for (long b : blocks) {
                assertEquals(b, Memory.getLong(b));
                pool.free(b, 4096);
            }
            assertEquals(0, pool.allocated());
            assertNotEquals(0, pool.allocate(2 << 20));
            assertNotEquals(0, pool.allocate(1 << 20));
            assertEquals(0, pool.allocate(8192));
            assertNotEquals(0, pool.allocate(1));
        }
    }

    /** As when there is no room on the Java heap to have memory given back. */
    @Test
    void nothingIsTakenWhereWhoIsToldThatItIsShortFails() {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            pool.whenShort(1 << 20, isRefused -> {
                throw new OutOfMemoryError("for a test");
            });
            assertThrows(OutOfMemoryError.class, () -> pool.allocate(4096));
            assertEquals(0, pool.allocated());
            assertThrows(OutOfMemoryError.class, () -> pool.allocate(2 << 20));
        }
    }

    @Test
    void alignsBlocksToTheirSize() {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            for (long bytes = 1; bytes <= 4 << 20; bytes = bytes * 3 + 1) {
                long block = pool.allocate(bytes);
                assertNotEquals(0, block);
                assertEquals(0, block % Math.min(MemoryPool.blockBytes(bytes), 2 << 20), "block of " + bytes);
                Memory.putByte(block, 1);
                Memory.putByte(block + bytes - 1, 1);
                pool.free(block, bytes);
            }
            assertEquals(0, pool.allocated());
        }
    }

    @Test
    void saysWhenLittleIsLeft() {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            List<Boolean> told = new ArrayList<>();
            pool.whenShort(256 << 10, told::add);
            pool.allocate(512 << 10);
            pool.allocate(256 << 10);
            assertEquals(List.of(), told);
            pool.allocate(4096);
            assertEquals(List.of(false), told);
            assertEquals(0, pool.allocate(256 << 10));
            assertEquals(0, pool.allocate(2 << 20), "more than there is");
            assertEquals(List.of(false, true, true), told);
            assertNotEquals(0, pool.allocateSpare(4096));
            assertEquals(0, pool.allocateSpare(256 << 10));
            assertEquals(3, told.size(), "who can do without");
        }
    }

    @Test
    void refusesWrongFrees() {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long block = pool.allocate(16384);
            assertThrows(IllegalStateException.class, () -> pool.free(block, 8192));
            assertThrows(IllegalStateException.class, () -> pool.free(block + 4096, 4096));
            assertThrows(IllegalStateException.class, () -> pool.free(block + 1, 16384));
            assertThrows(IllegalStateException.class, () -> pool.free(block - (1 << 20), 16384));
            pool.free(block, 16384);
            assertThrows(IllegalStateException.class, () -> pool.free(block, 16384));
            long half = pool.allocate(8192);
            pool.free(half, 8192);
            assertThrows(IllegalStateException.class, () -> pool.free(half, 8192));
        }
    }

    @Test
    void closesTwiceAndIgnoresLateFrees() {
        MemoryPool pool = MemoryPool.open(1 << 20);
        long block = pool.allocate(4096);
        pool.close();
        pool.close();
        pool.free(block, 4096);
        assertThrows(IllegalStateException.class, () -> pool.allocate(4096));
        assertThrows(AssertionError.class, () -> Memory.getByte(block));
    }

    @Test
    void refusesWhatTheSystemCannotMap() {
        assertThrows(InsufficientMemoryException.class, () -> MemoryPool.mapAligned(1L << 47));
        assertThrows(InsufficientMemoryException.class, () -> MemoryPool.open(1L << 42));
        assertThrows(IllegalArgumentException.class, () -> MemoryPool.open(0));
    }

    @Test
    void blocksNeverOverlap() {
        long seed = 20;
        SplittableRandom random = new SplittableRandom(seed);
        try (MemoryPool pool = MemoryPool.open(5 << 20)) {
            TreeMap<Long, Long> model = new TreeMap<>();
            long allocated = 0;
            for (int step = 0; step < 50_000; step++) {
                if (model.isEmpty() || random.nextInt(100) < 55) {
                    long bytes = 1 + (random.nextInt(1 << 20) >>> random.nextInt(20));
                    long block = pool.allocate(bytes);
                    if (block != 0) {
                        String where = "seed " + seed + ", step " + step;
                        Map.Entry<Long, Long> below = model.floorEntry(block);
                        Long above = model.ceilingKey(block);
                        assertTrue(below == null || below.getKey() + below.getValue() <= block, where);
                        assertTrue(above == null || block + MemoryPool.blockBytes(bytes) <= above, where);
                        model.put(block, MemoryPool.blockBytes(bytes));
                        allocated += MemoryPool.blockBytes(bytes);
                    }
                } else {
                    Long key = model.ceilingKey(model.firstKey() + random.nextInt(5 << 20));
                    Long block = key != null ? key : model.firstKey();
                    long bytes = model.remove(block);
                    pool.free(block, bytes);
                    allocated -= bytes;
                }
                assertEquals(allocated, pool.allocated());
            }
            model.forEach(pool::free);
            assertEquals(0, pool.allocated());
            assertNotEquals(0, pool.allocate(4 << 20), "free neighbours join");
        }
    }

    @Test
    void smallBlocksAreKeptForWhoWantsSuchNext() {
        try (MemoryPool pool = MemoryPool.open(1 << 16)) {
            pool.keepSmallBlocks();
            long small = pool.allocate(4096);
            long larger = pool.allocate(8192);
            assertEquals(12288, pool.allocated());
            pool.free(small, 4096);
            pool.free(larger, 8192);
            assertEquals(0, pool.allocated());
            assertEquals(larger, pool.allocate(5000));
            assertEquals(small, pool.allocate(1));
            assertEquals(12288, pool.allocated());
            assertFalse(pool.isMostlyAllocated());
            long another = pool.allocate(32768);
            assertTrue(pool.isMostlyAllocated());
            pool.free(another, 32768);
            assertFalse(pool.isMostlyAllocated());
        }
    }

    @Test
    void keptBlocksAreThereForAnySize() {
        try (MemoryPool pool = MemoryPool.open(1 << 16)) {
            pool.keepSmallBlocks();
            for (int round = 0; round < 3; round++) {
                List<Long> blocks = new ArrayList<>();
                for (long block = pool.allocate(4096); block != 0; block = pool.allocate(4096)) {
                    blocks.add(block);
                }
                assertEquals(16, blocks.size());
                blocks.forEach(block -> pool.free(block, 4096));
                long all = pool.allocate(1 << 16);
                assertNotEquals(0, all);
                assertEquals(1 << 16, pool.allocated());
                pool.free(all, 1 << 16);
            }
        }
    }

    @Test
    void refusesWrongFreesOfKeptBlocks() throws Exception {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            pool.keepSmallBlocks();
            long block = pool.allocate(8192);
            assertThrows(IllegalStateException.class, () -> pool.free(block, 4096));
            assertThrows(IllegalStateException.class, () -> pool.free(block + 4096, 4096));
            pool.free(block, 8192);
            assertThrows(IllegalStateException.class, () -> pool.free(block, 8192));
            // Another thread has another place for it.
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            for (int i = 0; i < 2; i++) {
                Thread other = Thread.ofPlatform().start(() -> {
                    try {
                        pool.free(block, 8192);
                    } catch (Throwable e) {
                        thrown.set(e);
                    }
                });
                other.join();
                assertInstanceOf(IllegalStateException.class, thrown.getAndSet(null));
            }
            pool.close();
            assertThrows(IllegalStateException.class, () -> pool.allocate(8192));
            pool.free(block, 8192);
        }
    }

    @Test
    void servesManyThreadsThatKeepSmallBlocks() throws Exception {
        try (MemoryPool pool = MemoryPool.open(1 << 16)) {
            pool.keepSmallBlocks();
            serveManyThreads(pool, 2);
            assertNotEquals(0, pool.allocate(1 << 16));
        }
    }

    @Test
    void servesManyThreads() throws Exception {
        try (MemoryPool pool = MemoryPool.open(8 << 20)) {
            serveManyThreads(pool, 5);
        }
    }

    private static void serveManyThreads(MemoryPool pool, int sizes) throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long mark = t + 1;
                results.add(threads.submit(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        long bytes = 4096L << i % sizes;
                        long block = pool.allocate(bytes);
                        if (block != 0) {
                            Memory.putLong(block, mark);
                            Memory.putLong(block + bytes - 8, mark);
                            assertEquals(mark, Memory.getLong(block));
                            assertEquals(mark, Memory.getLong(block + bytes - 8));
                            pool.free(block, bytes);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertEquals(0, pool.allocated());
        }
    }
}
