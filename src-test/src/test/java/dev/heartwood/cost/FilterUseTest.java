package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** When reads ask filters: not for keys that they expect to find in the cache, and before they read the device, unless that is for the filter. */
class FilterUseTest {
    private static final int READS = 5_000;

    private static KeyValueStore settled(TestDirectory directory, int records, ByteSize memory) {
        KeyValueStore store = Heartwood.open(
                directory.path(), StoreOptions.builder()
                        .memory(memory)
                        .memtable(ByteSize.mib(1))
                        .build());
        Load.random(store, records);
        store.settle();
        return store;
    }

    private static long probes(KeyValueStore store, Runnable reads) {
        long before = store.stats().filterProbes();
        reads.run();
        return store.stats().filterProbes() - before;
    }

    private static void hits(UnaryOperator<byte[]> reader, SplittableRandom random, int records, int reads) {
        for (int i = 0; i < reads; i++) {
            int number = random.nextInt(records);
            assertArrayEquals(Load.value(number), reader.apply(Load.key(number)));
        }
    }

    private static void misses(KeyValueStore store, SplittableRandom random, int records, int reads) {
        for (int i = 0; i < reads; i++) {
            assertNull(store.get(Load.key(records + 1 + random.nextInt(records))));
        }
    }

    @Test
    void keysThatAreFoundInTheCacheAreLookedForAtOnce() {
        int records = 50_000;
        SplittableRandom random = new SplittableRandom(1);
        try (TestDirectory directory = new TestDirectory("filters");
                KeyValueStore store = settled(directory, records, ByteSize.mib(48))) {
            for (int i = 0; i < records; i++) {
                store.get(Load.key(i));
            }
            // Reads of a snapshot do not ask the record cache.
            try (Snapshot snapshot = store.snapshot()) {
                long found = probes(store, () -> hits(snapshot::get, random, records, READS));
                assertTrue(found < READS / 50, found + " probes for " + READS + " keys that are there");
            }
            long missed = probes(store, () -> misses(store, random, records, READS));
            assertTrue(missed > READS * 49 / 50, missed + " probes for " + READS + " keys that are not");
        }
    }

    @Test
    void filtersThatDoNotFitAreNotReadForKeysThatAreThere() {
        int records = 2_500_000;
        SplittableRandom random = new SplittableRandom(3);
        byte[] value = new byte[4];
        try (TestDirectory directory = new TestDirectory("filters");
                KeyValueStore store = Heartwood.open(
                        directory.path(),
                        StoreOptions.builder().memory(ByteSize.mib(16)).build())) {
            for (int i = 0; i < records; i++) {
                store.put(Load.key(i), value);
            }
            store.settle();
            for (int round = 0; round < 2; round++) {
                long before = store.stats().pageReads();
                for (int i = 0; i < READS; i++) {
                    assertArrayEquals(value, store.get(Load.key(random.nextInt(records))));
                }
                double found = (double) (store.stats().pageReads() - before) / READS;
                // Were they, it would be 1.7.
                assertTrue(found < 1.1, found + " pages read for a key that is there");
                before = store.stats().pageReads();
                misses(store, random, records, READS);
                double missed = (double) (store.stats().pageReads() - before) / READS;
                assertTrue(missed < 1.1, missed + " pages read for a key that is not");
            }
        }
    }

    /** Filters that are asked stay in the cache, and leaves have the less room. */
    @Test
    void filtersInTheCacheAreNotAskedForKeysThatHaveAllBeenThere() {
        int records = 400_000;
        SplittableRandom random = new SplittableRandom(5);
        try (TestDirectory directory = new TestDirectory("filters");
                KeyValueStore store = settled(directory, records, ByteSize.mib(16));
                Snapshot snapshot = store.snapshot()) {
            long missed = probes(store, () -> misses(store, random, records, READS));
            assertTrue(missed > READS * 49 / 50, missed + " probes for " + READS + " keys that are not there");
            long read = store.stats().pageReads();
            long found = probes(store, () -> hits(snapshot::get, random, records, READS));
            read = store.stats().pageReads() - read;
            assertTrue(read > READS / 2, read + " pages read, which are to be most leaves");
            // All are asked what the root has kept of what was written last; the leaves' filters only those that are not there.
            assertTrue(
                    found < missed - READS * 24 / 25,
                    found + " probes for " + READS + " keys that are there, " + missed + " for as many that are not");
        }
    }

    @Test
    void beforeTheDeviceIsReadFiltersAreAsked() {
        int records = 400_000;
        SplittableRandom random = new SplittableRandom(2);
        try (TestDirectory directory = new TestDirectory("filters");
                KeyValueStore store = settled(directory, records, ByteSize.mib(16))) {
            long missed = missesAfterHits(store, random, records, records, READS / 5);
            assertTrue(missed < READS / 5 / 5, missed + " pages read for " + READS / 5 + " keys that are not there");
        }
    }

    /** As when a store was just opened: to look for the key costs as much as to read the filter's page, but only that answers for others. */
    @Test
    void readersThatMissNowAndThenBringFiltersIntoTheCache() {
        int records = 400_000;
        SplittableRandom random = new SplittableRandom(4);
        try (TestDirectory directory = new TestDirectory("filters")) {
            settled(directory, records, ByteSize.mib(16)).close();
            try (KeyValueStore store = Heartwood.open(
                    directory.path(), StoreOptions.builder().memory(ByteSize.mib(16)).build())) {
                long first = missesAfterHits(store, random, records, 1, READS / 5);
                assertTrue(first > READS / 5 / 10, first + " pages read at first: filters were in the cache");
                missesAfterHits(store, random, records, 1, READS);
                long missed = missesAfterHits(store, random, records, 1, READS / 5);
                assertTrue(missed < READS / 5 / 5, missed + " pages read for " + READS / 5 + " keys that are not there");
            }
        }
    }

    /** The pages read for keys that are not there, each after one that is there was read again and again: the reader comes to expect what it looks for. */
    private static long missesAfterHits(KeyValueStore store, SplittableRandom random, int records, int hotKeys, int misses) {
        long missed = 0;
        try (Snapshot snapshot = store.snapshot()) {
            for (int i = 0; i < misses; i++) {
                byte[] hot = Load.key(random.nextInt(hotKeys));
                for (int n = 0; n < 6; n++) {
                    snapshot.get(hot);
                }
                long before = store.stats().pageReads();
                assertNull(snapshot.get(Load.key(records + 1 + random.nextInt(records))));
                missed += store.stats().pageReads() - before;
            }
        }
        return missed;
    }
}
