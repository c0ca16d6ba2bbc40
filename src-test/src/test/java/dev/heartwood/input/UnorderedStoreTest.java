package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.IncompatibleOptionsException;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.UnorderedStoreException;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a store of hashed keys takes, what it refuses, and that users never meet the form in which it keeps keys. */
class UnorderedStoreTest {
    private static final int KEYS = 20_000;
    private static final List<KeyRange> RANGES = List.of(
            KeyRange.from(bytes("key1")),
            KeyRange.before(bytes("key1")),
            KeyRange.between(bytes("a"), bytes("z")),
            KeyRange.prefix(bytes("key")));

    private final TestDirectory directory = new TestDirectory("unordered");
    private final StoreOptions options =
            OptionMatrix.smallTree().toBuilder().keyOrder(KeyOrder.HASHED).build();

    @AfterEach
    void remove() {
        directory.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    /** Keys of 4 to 13 bytes, so of both kinds of form. */
    private static byte[] key(int i) {
        return bytes((i % 2 == 0 ? "key" : "a-long-key-") + i % (KEYS / 2) + (i < KEYS / 2 ? "" : "x"));
    }

    private static void load(KeyValueStore store) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), key(i));
        }
    }

    @Test
    void theOrderCannotChange() {
        StoreOptions sorted = options.toBuilder().keyOrder(KeyOrder.SORTED).build();
        Heartwood.open(directory.path(), options).close();
        IncompatibleOptionsException refused =
                assertThrows(IncompatibleOptionsException.class, () -> Heartwood.open(directory.path(), sorted));
        assertEquals("keyOrder", refused.option());
        Heartwood.open(directory.path(), options).close();
        try (TestDirectory other = new TestDirectory("ordered")) {
            Heartwood.open(other.path(), sorted).close();
            assertThrows(IncompatibleOptionsException.class, () -> Heartwood.open(other.path(), options));
        }
    }

    @Test
    void whatNeedsOrderIsRefusedAndChangesNothing() {
        try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
            load(store);
            for (KeyRange range : RANGES) {
                refused(store, s -> s.cursor(range));
                refused(store, s -> s.discard(range));
                try (Snapshot snapshot = store.snapshot()) {
                    assertThrows(UnorderedStoreException.class, () -> snapshot.cursor(range));
                    assertArrayEquals(key(1), snapshot.get(key(1)));
                }
            }
            assertEquals(0, store.stats().snapshots());
            Cursor cursor = store.cursor();
            assertTrue(cursor.next());
            byte[] stood = cursor.key();
            assertThrows(UnorderedStoreException.class, () -> cursor.seek(key(1)));
            assertThrows(UnorderedStoreException.class, () -> cursor.seek(MemorySegment.ofArray(key(1))));
            assertThrows(UnorderedStoreException.class, () -> cursor.seekBackwards(key(1)));
            assertThrows(UnorderedStoreException.class, () -> cursor.seekBackwards(MemorySegment.ofArray(key(1))));
            assertArrayEquals(stood, cursor.key());
            assertTrue(cursor.next());
            cursor.close();
            assertThrows(ClosedException.class, () -> cursor.seek(key(1)));
            assertEquals(KEYS, walk(store.cursor(), true).size());
            store.checkpoint();
            store.discard(KeyRange.all());
            assertEquals(0, walk(store.cursor(), true).size());
        }
    }

    private static void refused(KeyValueStore store, Consumer<KeyValueStore> call) {
        UnorderedStoreException refusal = assertThrows(UnorderedStoreException.class, () -> call.accept(store));
        assertTrue(refusal.getMessage().contains("keyOrder HASHED"), refusal.getMessage());
    }

    private static List<String> walk(Cursor opened, boolean forwards) {
        List<String> keys = new ArrayList<>();
        try (Cursor cursor = opened) {
            for (boolean on = forwards ? cursor.first() : cursor.last(); on; on = forwards ? cursor.next() : cursor.previous()) {
                keys.add(text(cursor.key()));
                assertEquals(keys.getLast(), text(cursor.value()));
                assertEquals(keys.getLast(), text(cursor.keySegment().toArray(ValueLayout.JAVA_BYTE)));
            }
        }
        return keys;
    }

    @Test
    void everyKeyIsWalkedOnceInOneOrderFromMemoryOrTheTree() {
        List<String> first;
        try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
            load(store);
            first = walk(store.cursor(), true);
            Set<String> expected = new HashSet<>();
            for (int i = 0; i < KEYS; i++) {
                expected.add(text(key(i)));
            }
            assertEquals(expected.size(), first.size());
            assertEquals(expected, new HashSet<>(first));
            assertEquals(first.reversed(), walk(store.cursor(), false));
            try (Snapshot snapshot = store.snapshot()) {
                store.delete(key(7));
                store.put(bytes("another"), bytes("another"));
                store.settle();
                assertEquals(first, walk(snapshot.cursor(KeyRange.all()), true));
                assertEquals(KEYS, walk(store.cursor(), true).size());
            }
            store.put(key(7), key(7));
            store.delete(bytes("another"));
        }
        try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
            assertEquals(first, walk(store.cursor(), true));
            assertTrue(store.verify().isClean());
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(key(i), store.get(key(i)));
            }
        }
    }

    /** Remembers the keys that it is shown. */
    private record Witness(Set<String> keys) implements MergeOperator, CompactionFilter {
        @Override
        public String name() {
            return "witness";
        }

        @Override
        public synchronized byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            keys.add(text(key));
            return operands.getLast();
        }

        @Override
        public synchronized Decision filter(MemorySegment key, MemorySegment value) {
            keys.add(text(key.toArray(ValueLayout.JAVA_BYTE)));
            return Decision.KEEP;
        }
    }

    @Test
    void operatorsAndFiltersAreShownTheUsersKeys() {
        Witness operator = new Witness(new HashSet<>());
        Witness filter = new Witness(new HashSet<>());
        Set<String> expected = new HashSet<>();
        try (KeyValueStore store = Heartwood.open(
                directory.path(), options.toBuilder().mergeOperator(operator).compactionFilter(filter).build())) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < KEYS; i++) {
                    store.put(key(i), key(i));
                    expected.add(text(key(i)));
                }
            }
            store.settle();
            synchronized (filter) {
                assertTrue(expected.containsAll(filter.keys) && !filter.keys.isEmpty(), filter.keys.size() + " keys");
            }
            for (int i = 0; i < 100; i++) {
                store.merge(key(i), key(i));
            }
            List<String> walked = walk(store.cursor(), true);
            assertEquals(walked.reversed(), walk(store.cursor(), false));
            assertArrayEquals(key(3), store.get(key(3)));
            store.settle();
            synchronized (operator) {
                assertTrue(expected.containsAll(operator.keys) && operator.keys.size() == 100, operator.keys.toString());
            }
        }
    }
}
