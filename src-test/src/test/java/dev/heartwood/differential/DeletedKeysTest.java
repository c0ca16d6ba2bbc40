package dev.heartwood.differential;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.TailMergeOperator;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Cursors over many deleted keys in a row, which they pass over, beside a sorted map: of the store and of snapshots, both ways. */
class DeletedKeysTest {
    private static final int CASES = 6;
    private static final int OPERATIONS = 4_000;
    private static final int KEYS = 1_500;
    private static final int SNAPSHOTS = 3;

    /** An operand that ends in it removes the key. */
    private static final byte[] MARK = {(byte) 0xff};

    private static final MergeOperator OPERATOR = new TailMergeOperator();

    /** What was written when it was opened. */
    private record View(Snapshot snapshot, NavigableMap<byte[], byte[]> model) {}

    private static StoreOptions options() {
        return OptionMatrix.smallTree().toBuilder().mergeOperator(OPERATOR).build();
    }

    /** Of different lengths, some with what comes after shorter ones. */
    private static byte[] key(int number) {
        byte[] key = ByteBuffer.allocate(4 + number / 2 % 3 + number % 2).putInt(number / 2 * 3).array();
        Arrays.fill(key, 4, key.length, (byte) (number % 2 == 0 ? 1 : 0xff));
        return key;
    }

    @Test
    void cursorsShowWhatIsThere() {
        int cases = Campaign.run(DeletedKeysTest.class, CASES, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
            Deque<View> views = new ArrayDeque<>();
            try (TestDirectory directory = new TestDirectory("deleted");
                    KeyValueStore store = Heartwood.open(directory.path(), options())) {
                for (int i = 0; i < Campaign.operations(OPERATIONS); i++) {
                    write(store, model, random);
                    if (random.nextInt(100) == 0) {
                        views.add(new View(store.snapshot(), new TreeMap<>(model)));
                    }
                    if (views.size() > SNAPSHOTS) {
                        views.remove().snapshot.close();
                    }
                    try (Cursor cursor = store.cursor(KeyRange.all())) {
                        walk(cursor, model, random);
                    }
                    if (!views.isEmpty() && random.nextInt(3) == 0) {
                        View view = random.nextBoolean() ? views.getFirst() : views.getLast();
                        compareRange(view, random);
                    }
                }
                views.forEach(view -> view.snapshot.close());
                assertTrue(store.verify().isClean());
            }
        });
        Campaign.report(DeletedKeysTest.class, cases, "stores with many deleted keys");
    }

    /** What removed a key once may keep it the next time: a compaction filter may have dropped what it was applied to. */
    @Test
    void anOperatorThatRemovesAKeyIsAskedEachTime() {
        AtomicBoolean isKept = new AtomicBoolean();
        MergeOperator operator = new MergeOperator() {
            @Override
            public String name() {
                return "kept or not";
            }

            @Override
            public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
                return isKept.get() ? operands.getLast() : null;
            }
        };
        StoreOptions options = OptionMatrix.smallTree().toBuilder().mergeOperator(operator).build();
        try (TestDirectory directory = new TestDirectory("operator");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            for (int number = 0; number < 400; number++) {
                store.delete(key(number));
            }
            store.merge(key(200), new byte[1]);
            for (int i = 0; i < 5; i++) {
                assertNull(end(store, true));
                assertNull(end(store, false));
            }
            isKept.set(true);
            assertArrayEquals(key(200), end(store, true));
            assertArrayEquals(key(200), end(store, false));
        }
    }

    @Test
    void aSnapshotSeesWhatWasDiscardedAfterIt() {
        try (TestDirectory directory = new TestDirectory("discard");
                KeyValueStore store = Heartwood.open(directory.path(), OptionMatrix.smallTree())) {
            for (int number = 500; number < 600; number++) {
                store.put(key(number), new byte[10]);
            }
            store.checkpoint();
            for (int number = 0; number < 100; number++) {
                store.delete(key(number));
            }
            try (Snapshot snapshot = store.snapshot()) {
                store.discard(KeyRange.all());
                for (int i = 0; i < 5; i++) {
                    assertNull(end(store, true));
                }
                try (Cursor cursor = snapshot.cursor(KeyRange.all())) {
                    assertTrue(cursor.first());
                    assertArrayEquals(key(500), cursor.key());
                    assertArrayEquals(new byte[10], snapshot.get(key(500)));
                }
            }
        }
    }

    @Test
    void aSnapshotSeesWhatAFilterDroppedAfterIt() {
        AtomicBoolean drops = new AtomicBoolean();
        CompactionFilter filter = new CompactionFilter() {
            @Override
            public String name() {
                return "drops all, or nothing";
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                return drops.get() ? Decision.DROP : Decision.KEEP;
            }
        };
        StoreOptions options = OptionMatrix.smallTree().toBuilder().compactionFilter(filter).build();
        try (TestDirectory directory = new TestDirectory("filter");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            // Two runs, which are merged when the store settles, and so few deletes that they stay in memory.
            for (int round = 0; round < 2; round++) {
                for (int number = 0; number < 3_000; number++) {
                    store.put(key(number), new byte[10]);
                }
                store.checkpoint();
            }
            for (int number = 0; number < 100; number++) {
                store.delete(key(number));
            }
            try (Snapshot snapshot = store.snapshot()) {
                drops.set(true);
                store.settle();
                for (int i = 0; i < 5; i++) {
                    assertNull(end(store, true));
                }
                try (Cursor cursor = snapshot.cursor(KeyRange.all())) {
                    assertTrue(cursor.first());
                    assertArrayEquals(key(100), cursor.key());
                }
            }
        }
    }

    private static byte[] end(KeyValueStore store, boolean isFirst) {
        try (Cursor cursor = store.cursor(KeyRange.all())) {
            return (isFirst ? cursor.first() : cursor.last()) ? cursor.key() : null;
        }
    }

    private static void write(KeyValueStore store, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
        byte[] key = key(random.nextInt(KEYS));
        byte[] value = {(byte) random.nextInt(), 1};
        switch (random.nextInt(40)) {
            case 0, 1 -> {
                int first = random.nextInt(KEYS);
                int count = 50 + random.nextInt(KEYS / 2);
                boolean isMerged = random.nextInt(4) == 0;
                for (int number = first; number < first + count; number++) {
                    byte[] removed = key(number);
                    if (isMerged && random.nextInt(100) == 0) {
                        store.merge(removed, MARK);
                    } else {
                        store.delete(removed);
                    }
                    model.remove(removed);
                }
            }
            case 2 -> {
                store.merge(key, value);
                model.put(key, OPERATOR.merge(key, model.get(key), List.of(value)));
            }
            case 3 -> {
                try (WriteBatch batch = store.newBatch()) {
                    for (int i = 0; i < 5; i++) {
                        byte[] put = key(random.nextInt(KEYS));
                        batch.put(put, value);
                        model.put(put, value);
                    }
                    batch.delete(key);
                    model.remove(key);
                    store.write(batch);
                }
            }
            case 4 -> {
                // In order, as a queue is filled.
                int first = random.nextInt(KEYS);
                for (int number = first; number < first + 100; number++) {
                    store.put(key(number), value);
                    model.put(key(number), value);
                }
            }
            case 5, 6, 7, 8, 9, 10 -> {
                store.put(key, value);
                model.put(key, value);
            }
            default -> takeFirst(store, model);
        }
    }

    private static void takeFirst(KeyValueStore store, NavigableMap<byte[], byte[]> model) {
        try (Cursor cursor = store.cursor(KeyRange.all())) {
            if (same(cursor, cursor.first(), model.firstEntry())) {
                store.delete(cursor.key());
                model.pollFirstEntry();
            }
        }
    }

    private static void compareRange(View view, SplittableRandom random) {
        int from = random.nextInt(KEYS);
        KeyRange range = KeyRange.between(key(from), key(from + 1 + random.nextInt(KEYS)));
        try (Cursor cursor = view.snapshot.cursor(range)) {
            walk(cursor, view.model.subMap(range.from(), true, range.to(), false), random);
        }
        try (Cursor cursor = view.snapshot.cursor(KeyRange.all())) {
            walk(cursor, view.model, random);
        }
    }

    private static void walk(Cursor cursor, NavigableMap<byte[], byte[]> expected, SplittableRandom random) {
        byte[] to = ByteBuffer.allocate(4).putInt(random.nextInt(3 * KEYS)).array();
        boolean isWithin = !expected.isEmpty()
                && Arrays.compareUnsigned(expected.firstKey(), to) <= 0
                && Arrays.compareUnsigned(to, expected.lastKey()) <= 0;
        boolean valid = switch (random.nextInt(isWithin ? 4 : 2)) {
            case 0 -> same(cursor, cursor.first(), expected.firstEntry());
            case 1 -> same(cursor, cursor.last(), expected.lastEntry());
            case 2 -> same(cursor, cursor.seek(to), expected.ceilingEntry(to));
            default -> same(cursor, cursor.seekBackwards(to), expected.floorEntry(to));
        };
        for (int i = random.nextInt(6); valid && i > 0; i--) {
            byte[] key = cursor.key();
            valid = random.nextInt(3) > 0
                    ? same(cursor, cursor.next(), expected.higherEntry(key))
                    : same(cursor, cursor.previous(), expected.lowerEntry(key));
        }
    }

    private static boolean same(Cursor cursor, boolean valid, Map.Entry<byte[], byte[]> expected) {
        assertEquals(expected != null, valid);
        if (expected == null) {
            assertFalse(cursor.valid());
            return false;
        }
        assertArrayEquals(expected.getKey(), cursor.key());
        assertArrayEquals(expected.getValue(), cursor.value());
        return true;
    }
}
