package dev.heartwood.differential;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.IncompatibleOptionsException;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Groups of keys in a store of many runs, beside a sorted map: what a cursor shows of a group, and what it reads for it. */
class KeyGroupTest {
    private static final int CASES = 6;
    private static final int OPERATIONS = 60_000;
    private static final int SUFFIX_BYTES = 4;
    private static final int GROUPS = 3_000;

    private static StoreOptions options() {
        return OptionMatrix.smallTree().toBuilder().groupSuffixBytes(SUFFIX_BYTES).build();
    }

    /** Some are prefixes of others, and some end in the greatest byte. */
    private static byte[] group(int number) {
        byte[] group = Arrays.copyOf(ByteBuffer.allocate(8).putInt(number / 3 * 7).array(), 4 + number % 3);
        group[group.length - 1] = (byte) (number % 5 == 0 ? 0xff : group[group.length - 1]);
        return group;
    }

    private static byte[] key(byte[] group, int suffix) {
        return ByteBuffer.allocate(group.length + SUFFIX_BYTES).put(group).putInt(suffix).array();
    }

    private static int suffix(SplittableRandom random) {
        return random.nextInt(8) == 0 ? -1 : random.nextInt(6);
    }

    private static NavigableMap<byte[], byte[]> within(NavigableMap<byte[], byte[]> model, byte[] group, KeyRange range) {
        NavigableMap<byte[], byte[]> keys = new TreeMap<>(Arrays::compareUnsigned);
        model.subMap(group, true, key(group, -1), true).forEach((key, value) -> {
            if (key.length == group.length + SUFFIX_BYTES && range.contains(key)) {
                keys.put(key, value);
            }
        });
        return keys;
    }

    @Test
    void aCursorShowsWhatAGroupHas() {
        int cases = Campaign.run(KeyGroupTest.class, CASES, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            try (TestDirectory directory = new TestDirectory("groups")) {
                NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
                KeyValueStore store = Heartwood.open(directory.path(), options());
                try {
                    for (int i = 0; i < Campaign.operations(OPERATIONS); i++) {
                        operate(store, model, random);
                        if (random.nextInt(OPERATIONS / 2) == 0) {
                            store.close();
                            store = Heartwood.open(directory.path(), options());
                        }
                    }
                    compare(store, model, random);
                    store.settle();
                    compare(store, model, random);
                    assertTrue(store.verify().isClean());
                } finally {
                    store.close();
                }
            }
        });
        Campaign.report(KeyGroupTest.class, cases, "stores with groups");
    }

    private static void operate(KeyValueStore store, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
        byte[] group = group(random.nextInt(GROUPS));
        byte[] key = key(group, suffix(random));
        switch (random.nextInt(12)) {
            case 0, 1 -> {
                store.delete(key);
                model.remove(key);
            }
            case 2 -> assertArrayEquals(model.get(key), store.get(key));
            case 3 -> {
                try (Cursor cursor = store.cursor(KeyRange.all())) {
                    walk(cursor, within(model, group, KeyRange.all()), group, random);
                }
            }
            default -> {
                byte[] value = new byte[random.nextInt(60)];
                random.nextBytes(value);
                store.put(key, value);
                model.put(key, value);
            }
        }
    }

    /** Several groups by one cursor, of a snapshot that is written past. */
    private static void compare(KeyValueStore store, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
        KeyRange range = random.nextBoolean()
                ? KeyRange.all()
                : KeyRange.between(key(group(random.nextInt(GROUPS)), 2), key(group(random.nextInt(GROUPS)), 3));
        NavigableMap<byte[], byte[]> before = new TreeMap<>(model);
        try (Snapshot snapshot = store.snapshot();
                Cursor cursor = snapshot.cursor(range)) {
            for (int i = 0; i < 2_000; i++) {
                byte[] group = group(random.nextInt(GROUPS));
                byte[] key = key(group, suffix(random));
                store.put(key, group);
                model.put(key, group);
                cursor.enterGroup(group);
                walk(cursor, within(before, group, range), group, random);
            }
        }
    }

    private static void walk(
            Cursor cursor, NavigableMap<byte[], byte[]> expected, byte[] group, SplittableRandom random) {
        cursor.enterGroup(group);
        assertFalse(cursor.valid());
        boolean valid = switch (random.nextInt(5)) {
            case 0 -> same(cursor, cursor.next(), expected.firstEntry());
            case 1 -> same(cursor, cursor.first(), expected.firstEntry());
            case 2 -> same(cursor, cursor.last(), expected.lastEntry());
            case 3 -> {
                byte[] to = key(group, suffix(random));
                yield same(cursor, cursor.seek(to), expected.ceilingEntry(to));
            }
            default -> {
                byte[] to = key(group, suffix(random));
                yield same(cursor, cursor.seekBackwards(to), expected.floorEntry(to));
            }
        };
        while (valid) {
            byte[] at = cursor.key();
            valid = random.nextInt(3) == 0
                    ? same(cursor, cursor.previous(), expected.lowerEntry(at))
                    : same(cursor, cursor.next(), expected.higherEntry(at));
        }
    }

    private static boolean same(Cursor cursor, boolean valid, Map.Entry<byte[], byte[]> expected) {
        assertEquals(expected != null, valid);
        if (valid) {
            assertArrayEquals(expected.getKey(), cursor.key());
            assertArrayEquals(expected.getValue(), cursor.value());
        }
        return valid;
    }

    @Test
    void groupsThatAreAbsentCostNoReadsOfLeaves() {
        StoreOptions options = options().toBuilder()
                .ioMode(StoreOptions.IoMode.BUFFERED)
                .spaceAmplificationTarget(1.05)
                .build();
        try (TestDirectory directory = new TestDirectory("groups")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                for (int suffix = 0; suffix < 6; suffix++) {
                    for (int number = 0; number < 40_000; number++) {
                        store.put(key(ByteBuffer.allocate(4).putInt(2 * number).array(), suffix), new byte[200]);
                    }
                }
                store.settle();
                // No two entries are of one key, which the filters cannot tell.
                assertEquals(0, store.stats().spaceAmplification());
            }
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                int groups = 4_000;
                long before = store.stats().pageReads();
                for (int i = 0; i < groups; i++) {
                    try (Cursor cursor = store.cursor(KeyRange.all())) {
                        cursor.enterGroup(ByteBuffer.allocate(4).putInt(20 * i + 1).array());
                        assertFalse(cursor.next());
                    }
                }
                long reads = store.stats().pageReads() - before;
                // The filters are read once, a page of them for many groups; a leaf only where one errs.
                assertTrue(reads < groups / 4, reads + " reads");
            }
        }
    }

    @Test
    void whatHasNoGroupsIsRefused() {
        try (TestDirectory directory = new TestDirectory("groups")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), options());
                    Cursor cursor = store.cursor(KeyRange.all())) {
                assertThrows(IllegalArgumentException.class, () -> cursor.enterGroup(new byte[0]));
            }
            StoreOptions without = options().toBuilder().groupSuffixBytes(0).build();
            IncompatibleOptionsException refused =
                    assertThrows(IncompatibleOptionsException.class, () -> Heartwood.open(directory.path(), without));
            assertEquals("groupSuffixBytes", refused.option());
        }
        try (TestDirectory directory = new TestDirectory("groups");
                KeyValueStore store = Heartwood.open(directory.path(), OptionMatrix.smallTree())) {
            store.put(new byte[] {1}, new byte[] {2});
            try (Cursor cursor = store.cursor(KeyRange.all())) {
                assertTrue(cursor.next());
                assertThrows(UnsupportedOperationException.class, () -> cursor.enterGroup(new byte[] {1}));
                assertArrayEquals(new byte[] {2}, cursor.value());
            }
        }
        StoreOptions.Builder hashed = options().toBuilder().keyOrder(KeyOrder.HASHED);
        assertThrows(IllegalArgumentException.class, hashed::build);
    }
}
