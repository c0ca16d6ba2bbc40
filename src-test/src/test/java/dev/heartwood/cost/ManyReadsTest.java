package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What reads of many keys at once ask of the device. Indexes and filters are in the cache, of the rest a small part. */
class ManyReadsTest {
    private static final int RECORDS = 150_000;
    private static final int KEYS = 100;
    private static final int CALLS = 40;

    /** Most keys have a read of their own; some lie on pages that are in the cache. */
    private static final int UNDER_WAY_LEAST = 20;

    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.mib(1))
            .build();

    private final SimulatedMachine machine = new SimulatedMachine(1);

    private KeyValueStore loaded() {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            Load.random(store, RECORDS);
            store.settle();
        }
        return SimulatedStoreHost.open(machine, OPTIONS);
    }

    private static List<byte[]> keys(SplittableRandom random, int records) {
        List<byte[]> keys = new ArrayList<>();
        random.ints(KEYS, 0, records).forEach(number -> keys.add(Load.key(number)));
        return keys;
    }

    private record Cost(long waitedFor, long begun) {
        static Cost of(KeyValueStore store, Runnable reads) {
            StoreStats before = store.stats();
            reads.run();
            StoreStats after = store.stats();
            return new Cost(
                    after.pageReads() - before.pageReads(), after.pagesPrefetched() - before.pagesPrefetched());
        }
    }

    private static void read(UnaryOperator<List<byte[]>> reader, SplittableRandom random, int calls) {
        for (int call = 0; call < calls; call++) {
            List<byte[]> keys = keys(random, RECORDS);
            List<byte[]> values = reader.apply(keys);
            for (int i = 0; i < KEYS; i++) {
                assertEquals(Load.VALUE_BYTES, values.get(i).length, () -> "of " + new String(keys.get(0)));
            }
        }
    }

    /** It reads as gets do, and looks each key up once. */
    @Test
    void aDeviceThatDoesOneReadAfterTheOtherHasNoneBegun() {
        StoreOptions options = OPTIONS.toBuilder().device(DeviceKind.POSIX).build();
        try (TestDirectory directory = new TestDirectory("reads")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                Load.random(store, RECORDS);
                store.settle();
            }
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                read(store::getAll, new SplittableRandom(1), CALLS);
                Cost cost = Cost.of(store, () -> read(store::getAll, new SplittableRandom(2), CALLS));
                assertEquals(0, cost.begun());
                assertTrue(cost.waitedFor() > 0, cost::toString);
            }
        }
    }

    @Test
    void manyAreUnderWayAtOnce() {
        SplittableRandom random = new SplittableRandom(1);
        try (KeyValueStore store = loaded()) {
            read(store::getAll, random, CALLS);
            machine.mostUnderWay();
            read(store::getAll, random, CALLS);
            int most = machine.mostUnderWay();
            assertTrue(most >= UNDER_WAY_LEAST, most + " reads under way at once");
            Cost cost = Cost.of(store, () -> read(store::getAll, random, CALLS));
            long pages = cost.waitedFor() + cost.begun();
            assertTrue(pages <= 1.1 * CALLS * KEYS, pages + " pages read for " + CALLS * KEYS + " keys");
            assertTrue(20 * cost.waitedFor() <= cost.begun(), cost + " pages");
            try (Snapshot snapshot = store.snapshot()) {
                Cost seen = Cost.of(store, () -> read(snapshot::getAll, random, CALLS));
                assertTrue(20 * seen.waitedFor() <= seen.begun(), seen + " pages, of a snapshot");
            }
        }
    }

    @Test
    void aPageIsReadOnceForAllKeysThatLieOnIt() {
        try (KeyValueStore store = loaded()) {
            read(store::getAll, new SplittableRandom(1), CALLS);
            List<byte[]> inOrder = IntStream.range(0, RECORDS)
                    .mapToObj(Load::key)
                    .sorted(Arrays::compareUnsigned)
                    .toList();
            List<byte[]> neighbours = inOrder.subList(RECORDS / 3, RECORDS / 3 + KEYS);
            // A hundred records are on three or four pages.
            Cost cost = Cost.of(store, () -> store.getAll(neighbours));
            assertTrue(cost.waitedFor() + cost.begun() <= 6, cost + " pages");
            Cost again = Cost.of(store, () -> store.getAll(neighbours));
            assertEquals(new Cost(0, 0), again, "of keys that are in the cache");
        }
    }

    /** What they bring counts as read from the device: filters are asked as they are for other reads of it. */
    @Test
    void absentKeysAreToldByFilters() {
        SplittableRandom random = new SplittableRandom(3);
        try (KeyValueStore store = loaded()) {
            read(store::getAll, random, CALLS);
            Cost cost = Cost.of(store, () -> {
                for (int call = 0; call < CALLS; call++) {
                    List<byte[]> keys = keys(random, RECORDS);
                    keys.replaceAll(key -> Arrays.copyOf(key, Load.KEY_BYTES - 1));
                    store.getAll(keys).forEach(value -> assertNull(value));
                }
            });
            long pages = cost.waitedFor() + cost.begun();
            assertTrue(pages <= CALLS * KEYS / 10, pages + " pages read for " + CALLS * KEYS + " keys that are not there");
        }
    }

    /** Values that lie apart are begun as soon as their places are known, be they on one page or on several. Keys of this length fill many leaves. */
    @Test
    void valuesThatLieApartAreBegunAsWell() {
        int records = 12_000;
        SplittableRandom random = new SplittableRandom(2);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            for (int i = 0; i < records; i++) {
                store.put(longKey(i), apart(i));
            }
            store.settle();
        }
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            Runnable reads = () -> {
                for (int call = 0; call < CALLS / 4; call++) {
                    List<Integer> numbers = random.ints(KEYS, 0, records).boxed().toList();
                    List<byte[]> values = store.getAll(numbers.stream().map(ManyReadsTest::longKey).toList());
                    for (int i = 0; i < KEYS; i++) {
                        assertArrayEquals(apart(numbers.get(i)), values.get(i));
                    }
                }
            };
            reads.run();
            Cost cost = Cost.of(store, reads);
            assertTrue(20 * cost.waitedFor() <= cost.begun(), cost + " pages");
        }
    }

    private static byte[] longKey(int number) {
        byte[] key = new byte[600];
        new SplittableRandom(number).nextBytes(key);
        return key;
    }

    private static byte[] apart(int number) {
        return Arrays.copyOf(Load.value(number), number % 3 == 0 ? 9_000 : 2_000);
    }

    /** What they bring counts as read from the device, also where a record cache takes little else. */
    @Test
    void recordsThatWereReadFromTheDeviceAreCached() {
        try (KeyValueStore store = loaded()) {
            List<byte[]> keys = keys(new SplittableRandom(4), RECORDS);
            store.getAll(keys);
            long hits = store.stats().recordHits();
            store.getAll(keys);
            hits = store.stats().recordHits() - hits;
            assertTrue(hits > KEYS * 9 / 10, hits + " of " + KEYS + " records were cached");
        }
    }
}
