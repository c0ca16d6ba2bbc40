package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.record.StoreRecords;

/**
 * A bucket of the record cache is changed, and that fails; others find it unlocked. Runs in the engine that {@link FailedOnceTest} has loaded.
 */
public final class FailedRecords {
    private static final long CACHE_BYTES = 1 << 20;
    private static final long LENDER_BYTES = 1 << 20;
    private static final int KEY_BYTES = 8;

    /** Two keys of one bucket, which their top bits choose. */
    private static final long HASH = 0x1234_5678_9abc_def0L;

    private static final long NEIGHBOUR = HASH ^ 1L << 30;

    private FailedRecords() {}

    /** While a key is remembered that was met once. */
    public static final class WhileRemembered implements Runnable {
        @Override
        public void run() {
            with(records -> {
                FailingOnce.arm();
                assertThrows(OutOfMemoryError.class, () -> records.offer(HASH));
                assertMayBeChanged(records);
            });
        }
    }

    /** While the record of a key that was packed is dropped. */
    public static final class WhileDropped implements Runnable {
        @Override
        public void run() {
            with(records -> {
                records.offer(HASH);
                records.offer(HASH);
                assertTrue(records.has(HASH));
                FailingOnce.arm();
                assertThrows(OutOfMemoryError.class, () -> records.pack(HASH));
                assertMayBeChanged(records);
            });
        }
    }

    /** Who packs would wait for ever; who reads passes a locked bucket over. */
    private static void assertMayBeChanged(Records records) {
        records.offer(NEIGHBOUR);
        records.offer(NEIGHBOUR);
        assertTrue(records.has(NEIGHBOUR), "the bucket is locked");
        records.pack(HASH);
        assertFalse(records.has(HASH));
        assertTrue(records.has(NEIGHBOUR));
    }

    private interface Scenario {
        void run(Records records);
    }

    private static void with(Scenario scenario) {
        try (MemoryPool lender = MemoryPool.open(LENDER_BYTES);
                RecordCache cache = new RecordCache(MemoryPool.open(CACHE_BYTES), lender, 0, new Epochs())) {
            long key = lender.allocate(MemoryPool.BLOCK_BYTES_MIN);
            Memory.putLong(key, HASH);
            scenario.run(new Records(cache.store(true), key));
            assertEquals(0, cache.bytesBorrowed());
        }
    }

    /** What the cache has of one key, under hashes that a test chooses. */
    private record Records(StoreRecords store, long key) {
        void offer(long hash) {
            FoundEntry found = new FoundEntry();
            found.set(Entries.PUT, 1, key, KEY_BYTES);
            store.offer(store.ticket(), hash, key, KEY_BYTES, found);
        }

        boolean has(long hash) {
            return store.find(hash, key, KEY_BYTES, new FoundEntry());
        }

        void pack(long hash) {
            StoreRecords.Packing packing = store.beginPacking();
            packing.accept(hash);
            packing.finish();
        }
    }
}
