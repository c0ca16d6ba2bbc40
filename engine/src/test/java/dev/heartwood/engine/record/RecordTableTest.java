package dev.heartwood.engine.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Starving;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordTableTest {
    private static final long HASH = 0x1234_5678_9abc_def0L;

    /** Where 64-bit ARM has user programs: kernels there begin at the end of 48 bits. Nothing is read there. */
    @ParameterizedTest
    @ValueSource(longs = {64, 0x7fff_ffff_ffc0L, 0x8000_0000_0000L, 0xffff_ffff_ffc0L})
    void aSlotKeepsWhatItIsGiven(long record) {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long address = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            Memory.fill(address, MemoryPool.BLOCK_BYTES_MIN, 0);
            RecordTable table = new RecordTable(address, MemoryPool.BLOCK_BYTES_MIN);
            long bucket = table.bucket(HASH);
            table.remember(bucket, HASH);
            assertTrue(table.put(bucket, HASH, record));
            assertTrue(table.mayHold(bucket, HASH));
            assertSlot(table, bucket, record);
            long other = record ^ 0x4000_0000_0000L;
            table.move(table.slotOf(bucket, record), other);
            assertEquals(0, table.slotOf(bucket, record));
            assertSlot(table, bucket, other);
            table.drop(bucket, HASH);
            assertFalse(table.mayHold(bucket, HASH));
            assertTrue(table.remembers(bucket, HASH));
        }
    }

    /** A thread that held a bucket's lock never came to give it back, where those that packed or took in records had all carriers and only yielded. */
    @Test
    void whoWaitsForABucketLeavesTheCarriersToWhoHasIt() throws InterruptedException {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long address = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            Memory.fill(address, MemoryPool.BLOCK_BYTES_MIN, 0);
            RecordTable table = new RecordTable(address, MemoryPool.BLOCK_BYTES_MIN);
            long bucket = table.bucket(HASH);
            Starving starving = new Starving();
            starving.run(
                    () -> {
                        table.lock(bucket);
                        starving.awaitWake();
                        table.unlock(bucket);
                    },
                    () -> {
                        table.awaitUnlocked(bucket);
                        table.lock(bucket);
                        table.unlock(bucket);
                    });
            assertFalse(table.isLocked(bucket));
        }
    }

    /** Memory beyond that was taken and never used: of a budget of 256 GiB a GiB. */
    @Test
    void aTableTakesNoMoreThanItUses() {
        assertEquals(RecordTable.BYTES_MAX, RecordCache.tableBytes(16L << 30, 0));
        assertEquals(RecordTable.BYTES_MAX, RecordCache.tableBytes(8L << 30, 64L << 30));
        assertTrue(RecordCache.tableBytes(4L << 30, 0) < RecordTable.BYTES_MAX);
    }

    private static void assertSlot(RecordTable table, long bucket, long record) {
        long slot = table.slotOf(bucket, record);
        assertNotEquals(0, slot);
        assertFalse(table.isUsed(slot), "nobody has used it");
    }
}
