package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What reads of values that lie apart from their keys ask of the device: two of them fill a page, and all take three times the memory.
 * Keys, filters and indexes stay in the cache.
 */
class LargeValueReadTest {
    private static final int VALUE_BYTES = 2000;
    private static final int RECORDS = 24_000;
    private static final int READS = 2_000;
    private static final int SCANS = 200;
    private static final int SCANNED = 50;

    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    private final SimulatedMachine machine = new SimulatedMachine(1);

    private static byte[] value(int number) {
        return Arrays.copyOf(Load.value(number), VALUE_BYTES);
    }

    @BeforeEach
    void load() {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(Load.key(i), value(i));
            }
            store.settle();
        }
    }

    @Test
    void aReadCostsThePageOfItsValue() {
        Cost cost = costOfWarm(LargeValueReadTest::read);
        double pages = (double) cost.pages() / READS;
        assertTrue(pages <= 1.15, pages + " page reads for a key");
    }

    /**
     * What something that was done once before asks of the device.
     *
     * @param pages pages read
     * @param missed those of them that an operation had to wait for by itself
     */
    private record Cost(long pages, long missed) {}

    private Cost costOfWarm(BiConsumer<KeyValueStore, SplittableRandom> action) {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            SplittableRandom random = new SplittableRandom(1);
            action.accept(store, random);
            StoreStats before = store.stats();
            action.accept(store, random);
            StoreStats after = store.stats();
            long missed = after.pageReads() - before.pageReads();
            return new Cost(missed + after.pagesPrefetched() - before.pagesPrefetched(), missed);
        }
    }

    private static void read(KeyValueStore store, SplittableRandom random) {
        for (int i = 0; i < READS; i++) {
            int number = random.nextInt(RECORDS);
            assertArrayEquals(value(number), store.get(Load.key(number)));
        }
    }

    @Test
    void aScanOfASettledStoreReadsItsValuesTogetherAndAheadOfUse() {
        Cost cost = costOfWarm(LargeValueReadTest::scan);
        double pages = (double) cost.pages() / SCANS;
        double missed = (double) cost.missed() / SCANS;
        double needed = SCANNED / 2.0;
        assertTrue(pages <= 2 * needed, pages + " page reads for a scan, " + needed + " needed");
        assertTrue(missed <= 3, missed + " page reads that a scan had to wait for by itself");
    }

    private static void scan(KeyValueStore store, SplittableRandom random) {
        for (int i = 0; i < SCANS; i++) {
            try (Cursor cursor = store.cursor(KeyRange.all())) {
                cursor.seek(Load.key(random.nextInt(RECORDS)));
                for (int n = 0; n < SCANNED && cursor.valid(); n++) {
                    assertEquals(VALUE_BYTES, cursor.valueSegment().byteSize());
                    cursor.next();
                }
            }
        }
    }
}
