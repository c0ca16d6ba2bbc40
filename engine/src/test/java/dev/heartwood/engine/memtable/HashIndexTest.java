package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.Starving;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashIndexTest {
    private static final int KEYS = 1 << 16;

    /** Those who waited for a table that another batch has grow kept all carriers from that one, which had waited for a lock. */
    @Test
    void whoWaitsForAGrowthLeavesTheCarriersToWhoGrows() throws InterruptedException {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            PoolBlocks blocks = new PoolBlocks(pool);
            HashIndex index = new HashIndex(blocks, 4);
            assertTrue(index.prepare());
            List<Thread> threads = new ArrayList<>();
            // A table is allocated under this lock.
            synchronized (index) {
                Thread grower = Thread.ofVirtual().start(() -> index.reserve(KEYS));
                Starving.awaitSleep(grower);
                threads.add(grower);
                threads.addAll(Starving.beginWaiting(() -> index.reserve(KEYS)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            long held = blocks.bytesHeld();
            assertTrue(index.reserve(KEYS));
            assertTrue(held > 0 && held == blocks.bytesHeld(), "each table has grown");
            blocks.release();
        }
    }

    /** Each insert passed all keys before it, and a table that grew all of each: a memtable of 50,000 such keys took over a billion steps. */
    @ParameterizedTest
    @ValueSource(longs = {0, -1, 0x1234_5678_9abc_def0L})
    void keysInEachOthersWayHaveTheMemtableSealed(long hash) {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, pool.capacity());
            long key = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            long number = 0;
            while (number < 5_000 && memtable.reserve(0, Long.BYTES, 0)) {
                Memory.putLong(key, number);
                memtable.insert(0, hash, key, Long.BYTES, ++number, Entries.PUT, 0, 0);
            }
            // As many steps as there were keys before, for each.
            assertEquals(SlotTable.DISTANCE_MAX + 2, number);
            assertFalse(memtable.reserveBatch(0, 1, Long.BYTES));
            FoundEntry found = new FoundEntry();
            for (long each = 0; each < number; each++) {
                Memory.putLong(key, each);
                assertTrue(memtable.find(hash, key, Long.BYTES, Entries.NEWEST, found));
                assertEquals(each + 1, found.sequence);
            }
            memtable.release();
        }
    }

    /** More space for its records is nothing that it lacks: who writes would have it promised in vain, or be refused where there is none. */
    @Test
    void whatIsSealedForItsKeysWantsNoSpace() {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, pool.capacity());
            long key = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            long number = 0;
            while (number < 5_000 && memtable.reserve(0, Long.BYTES, 0)) {
                Memory.putLong(key, number);
                memtable.insert(0, 0, key, Long.BYTES, ++number, Entries.PUT, 0, 0);
            }
            memtable.limit(memtable.chunkBytes(), false);
            assertEquals(0, memtable.limitWanted(MemoryPool.BLOCK_BYTES_MIN));
            memtable.release();
        }
    }

    /** At every size that tables pass through, as full as they ever are. */
    @Test
    void keysThatSpreadFillTheMemtable() {
        try (MemoryPool pool = MemoryPool.open(64 << 20)) {
            Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, pool.capacity());
            SplittableRandom random = new SplittableRandom(1);
            long key = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            for (long number = 0; number < 600_000; number++) {
                Memory.putLong(key, number);
                assertTrue(memtable.reserve(0, Long.BYTES, 0), number + " keys");
                memtable.insert(0, random.nextLong(), key, Long.BYTES, number + 1, Entries.PUT, 0, 0);
            }
            memtable.release();
        }
    }
}
