package dev.heartwood.engine.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

    /** A bucket that is locked for long, since its holder was preempted or waits for a carrier, took all of a processor for each who waited. */
    @Test
    void whoWaitsForABucketSleeps() throws InterruptedException {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long address = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
            Memory.fill(address, MemoryPool.BLOCK_BYTES_MIN, 0);
            RecordTable table = new RecordTable(address, MemoryPool.BLOCK_BYTES_MIN);
            long bucket = table.bucket(HASH);
            table.lock(bucket);
            Thread packer = Thread.ofPlatform().start(() -> table.awaitUnlocked(bucket));
            Thread reader = Thread.ofPlatform().start(() -> {
                table.lock(bucket);
                table.unlock(bucket);
            });
            awaitSleep(packer);
            awaitSleep(reader);
            table.unlock(bucket);
            packer.join();
            reader.join();
            assertFalse(table.isLocked(bucket));
        }
    }

    private static void awaitSleep(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
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
