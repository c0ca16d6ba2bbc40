package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.TooLargeException;
import dev.heartwood.ValueConsumer;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.TailMergeOperator;
import dev.heartwood.testkit.TestDirectory;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Arguments that no call may take. */
class BadInputTest {
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    private final TestDirectory directory = new TestDirectory("input");
    private KeyValueStore store;

    @BeforeEach
    void open() {
        store = Heartwood.open(
                directory.path().resolve("store"),
                StoreOptions.builder()
                        .memory(ByteSize.mib(16))
                        .mergeOperator(new TailMergeOperator())
                        .build());
        store.put(KEY, VALUE);
    }

    @AfterEach
    void close() {
        store.close();
        directory.close();
    }

    @Test
    void theLongestKeyFitsAndOneByteMoreDoesNot() {
        byte[] longest = new byte[KeyValueStore.KEY_BYTES_MAX];
        store.put(longest, VALUE);
        assertArrayEquals(VALUE, store.get(longest));
        byte[] longer = new byte[KeyValueStore.KEY_BYTES_MAX + 1];
        MemorySegment segment = MemorySegment.ofArray(longer);
        MemorySegment value = MemorySegment.ofArray(VALUE);
        try (WriteBatch batch = store.newBatch()) {
            List<Executable> writes = List.of(
                    () -> store.put(longer, VALUE),
                    () -> store.put(segment, value),
                    () -> store.put(longer, VALUE, Durability.NONE),
                    () -> store.delete(longer),
                    () -> store.delete(segment),
                    () -> store.merge(longer, VALUE),
                    () -> batch.put(longer, VALUE),
                    () -> batch.put(segment, value),
                    () -> batch.delete(longer),
                    () -> batch.merge(longer, VALUE));
            for (Executable write : writes) {
                TooLargeException refused = assertThrows(TooLargeException.class, write);
                assertEquals(KeyValueStore.KEY_BYTES_MAX, refused.limit());
                assertEquals(longer.length, refused.size());
            }
            assertEquals(0, batch.count());
        }
        assertArrayEquals(VALUE, store.get(KEY));
    }

    /** Nor does looking for it take memory. */
    /** There was no memory for them, though no more than what a key can have of them tells where they are. */
    @Test
    void placesAndBoundsMayBeLongerThanAnyKey() {
        byte[] longest = new byte[KeyValueStore.KEY_BYTES_MAX];
        Arrays.fill(longest, (byte) 5);
        store.put(longest, VALUE);
        byte[] after = Arrays.copyOf(longest, 8 << 20);
        byte[] before = after.clone();
        before[KeyValueStore.KEY_BYTES_MAX - 1] = 4;
        try (Cursor cursor = store.cursor()) {
            assertTrue(cursor.seek(before));
            assertArrayEquals(longest, cursor.key());
            assertFalse(cursor.seek(after));
            assertTrue(cursor.seekBackwards(MemorySegment.ofArray(after)));
            assertArrayEquals(longest, cursor.key());
            assertTrue(cursor.seekBackwards(before));
            assertArrayEquals(KEY, cursor.key());
        }
        try (Cursor cursor = store.cursor(KeyRange.between(before, after))) {
            assertTrue(cursor.next());
            assertArrayEquals(longest, cursor.key());
            assertFalse(cursor.next());
            assertTrue(cursor.last());
            assertArrayEquals(longest, cursor.key());
        }
        try (Cursor cursor = store.cursor(KeyRange.from(after))) {
            assertFalse(cursor.next());
        }
    }

    @Test
    void aKeyThatIsTooLongHasNoValue() {
        byte[] longer = new byte[32 << 20];
        MemorySegment segment = MemorySegment.ofArray(longer);
        MemorySegment destination = MemorySegment.ofArray(new byte[8]);
        assertNull(store.get(longer));
        assertNull(store.get(segment));
        assertEquals(-1, store.get(segment, destination));
        assertFalse(store.get(longer, value -> {}));
        assertFalse(store.get(segment, value -> {}));
        assertFalse(store.contains(longer));
        assertFalse(store.contains(segment));
        try (Snapshot snapshot = store.snapshot()) {
            assertNull(snapshot.get(longer));
            assertNull(snapshot.get(segment));
            assertEquals(-1, snapshot.get(segment, destination));
        }
        assertEquals(0, store.stats().snapshots());
        assertArrayEquals(VALUE, store.get(KEY));
    }

    /** Whatever would be copied, nothing included. */
    @Test
    void aDestinationThatIsReadOnlyIsRefused() {
        MemorySegment destination = MemorySegment.ofArray(new byte[8]).asReadOnly();
        byte[] empty = {9};
        store.put(empty, new byte[0]);
        try (Snapshot snapshot = store.snapshot()) {
            for (byte[] key : new byte[][] {KEY, empty, {10}}) {
                MemorySegment segment = MemorySegment.ofArray(key);
                assertThrows(IllegalArgumentException.class, () -> store.get(segment, destination));
                assertThrows(IllegalArgumentException.class, () -> snapshot.get(segment, destination));
            }
        }
        assertEquals(0, store.stats().snapshots());
    }

    @Test
    void aValueOverTheLimitIsRefusedBeforeItIsRead() throws Exception {
        long length = KeyValueStore.VALUE_BYTES_MAX + 1L;
        try (Arena arena = Arena.ofConfined();
                RandomAccessFile file = new RandomAccessFile(directory.path().resolve("sparse").toFile(), "rw");
                WriteBatch batch = store.newBatch()) {
            file.setLength(length);
            MemorySegment value = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, length, arena);
            MemorySegment key = MemorySegment.ofArray(KEY);
            assertThrows(TooLargeException.class, () -> store.put(key, value));
            assertThrows(TooLargeException.class, () -> store.put(key, value, Durability.SYNC));
            assertThrows(TooLargeException.class, () -> store.merge(key, value));
            assertThrows(TooLargeException.class, () -> batch.put(key, value));
            assertEquals(0, batch.count());
        }
        assertArrayEquals(VALUE, store.get(KEY));
    }

    @Test
    void emptyKeysAndValuesAreKeysAndValues() {
        byte[] empty = {};
        assertNull(store.get(empty));
        store.put(empty, empty);
        assertArrayEquals(empty, store.get(empty));
        store.checkpoint();
        assertArrayEquals(empty, store.get(empty));
        assertEquals(0, store.get(MemorySegment.ofArray(empty), MemorySegment.ofArray(new byte[4])));
        store.delete(empty);
        assertNull(store.get(empty));
    }

    /** A call that is given null for what has a name. */
    private record Named(String name, Executable call) {
        void check() {
            String message = assertThrows(NullPointerException.class, call, name).getMessage();
            assertTrue(message != null && (message.equals(name) || message.endsWith("\"" + name + "\" is null")), name + ": " + message);
        }
    }

    @Test
    void nothingTakesNull() {
        byte[] nothing = null;
        MemorySegment noSegment = null;
        MemorySegment key = MemorySegment.ofArray(KEY);
        try (WriteBatch batch = store.newBatch();
                Snapshot snapshot = store.snapshot();
                Cursor cursor = store.cursor()) {
            assertAll(Stream.of(
                    new Named("key", () -> store.put(nothing, VALUE)),
                    new Named("value", () -> store.put(KEY, nothing)),
                    new Named("key", () -> store.put(noSegment, key)),
                    new Named("value", () -> store.put(key, noSegment)),
                    new Named("durability", () -> store.put(KEY, VALUE, null)),
                    new Named("key", () -> store.delete(nothing)),
                    new Named("key", () -> store.delete(noSegment)),
                    new Named("durability", () -> store.delete(KEY, null)),
                    new Named("key", () -> store.merge(nothing, VALUE)),
                    new Named("operand", () -> store.merge(KEY, nothing)),
                    new Named("key", () -> store.merge(noSegment, key)),
                    new Named("operand", () -> store.merge(key, noSegment)),
                    new Named("key", () -> store.get(nothing)),
                    new Named("key", () -> store.get(noSegment)),
                    new Named("destination", () -> store.get(key, (MemorySegment) null)),
                    new Named("consumer", () -> store.get(key, (ValueConsumer) null)),
                    new Named("consumer", () -> store.get(KEY, (ValueConsumer) null)),
                    new Named("key", () -> store.get(nothing, value -> {})),
                    new Named("key", () -> store.contains(nothing)),
                    new Named("key", () -> store.contains(noSegment)),
                    new Named("batch", () -> store.write(null)),
                    new Named("durability", () -> store.write(batch, null)),
                    new Named("range", () -> store.cursor(null)),
                    new Named("range", () -> store.discard(null)),
                    new Named("directory", () -> store.backup(null)),
                    new Named("tuning", () -> store.tune(null)),
                    new Named("key", () -> snapshot.get(nothing)),
                    new Named("key", () -> snapshot.get(noSegment)),
                    new Named("destination", () -> snapshot.get(key, (MemorySegment) null)),
                    new Named("consumer", () -> snapshot.get(key, (ValueConsumer) null)),
                    new Named("consumer", () -> snapshot.get(KEY, null)),
                    new Named("key", () -> snapshot.get(nothing, value -> {})),
                    new Named("key", () -> snapshot.get(noSegment, value -> {})),
                    new Named("key", () -> snapshot.contains(nothing)),
                    new Named("key", () -> snapshot.contains(noSegment)),
                    new Named("keys", () -> snapshot.getAll(null)),
                    new Named("keys[1]", () -> snapshot.getAll(Arrays.asList(KEY, null))),
                    new Named("keys", () -> store.getAll(null)),
                    new Named("keys[1]", () -> store.getAll(Arrays.asList(KEY, null))),
                    new Named("range", () -> snapshot.cursor(null)),
                    new Named("key", () -> cursor.seek(nothing)),
                    new Named("key", () -> cursor.seek(noSegment)),
                    new Named("key", () -> batch.put(nothing, VALUE)),
                    new Named("value", () -> batch.put(KEY, nothing)),
                    new Named("key", () -> batch.put(noSegment, key)),
                    new Named("value", () -> batch.put(key, noSegment)),
                    new Named("key", () -> batch.delete(nothing)),
                    new Named("key", () -> batch.delete(noSegment)),
                    new Named("key", () -> batch.merge(nothing, VALUE)),
                    new Named("operand", () -> batch.merge(KEY, nothing)),
                    new Named("operand", () -> batch.merge(key, noSegment)),
                    new Named("directory", () -> Heartwood.open(null)),
                    new Named("from", () -> KeyRange.from(null)),
                    new Named("to", () -> KeyRange.before(null)),
                    new Named("to", () -> KeyRange.between(KEY, null)),
                    new Named("prefix", () -> KeyRange.prefix(null)))
                    .map(call -> call::check));
            for (Executable call : List.<Executable>of(() -> Heartwood.open(directory.path(), null), () -> Heartwood.openEnvironment(null))) {
                assertEquals("options", assertThrows(NullPointerException.class, call).getMessage());
            }
            assertEquals(0, batch.count());
        }
        assertArrayEquals(VALUE, store.get(KEY));
    }

    @Test
    void aStoreIsShownByItsDirectoryAndWhetherItIsOpen() {
        String place = "Heartwood store in " + directory.path().resolve("store");
        assertEquals(place, store.toString());
        store.close();
        assertEquals(place + ", closed", store.toString());
    }

    @Test
    void aReadOnlyDestinationIsRefused() {
        MemorySegment readOnly = MemorySegment.ofArray(new byte[8]).asReadOnly();
        assertThrows(IllegalArgumentException.class, () -> store.get(MemorySegment.ofArray(KEY), readOnly));
    }

    private static MergeOperator operator(String name) {
        return new MergeOperator() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
                return operands.getLast();
            }
        };
    }

    private static CompactionFilter filter(String name) {
        return new CompactionFilter() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                return Decision.KEEP;
            }
        };
    }

    /** A store is described by lines of text: a name that broke them left one that nobody could open any more. */
    @Test
    void aNameThatCannotBeStoredIsRefusedWithTheOptions() {
        String[] names = {
            null, "", "a\nb", "a\nkeyOrder = HASHED", "a\r", "\tb", " a", "a ", "\u0085", "\ud800", "\udc00a", "x".repeat(257), "ä".repeat(129)
        };
        for (String name : names) {
            StoreOptions.Builder builder = StoreOptions.builder();
            assertThrows(IllegalArgumentException.class, () -> builder.mergeOperator(operator(name)), name);
            assertThrows(IllegalArgumentException.class, () -> builder.compactionFilter(filter(name)), name);
            assertTrue(builder.build().mergeOperator().isEmpty());
            assertTrue(builder.build().compactionFilter().isEmpty());
        }
        for (String name : new String[] {"a = b", "x".repeat(256), "ä".repeat(128), "\ud83c\udf33"}) {
            StoreOptions options = StoreOptions.builder()
                    .memory(EnvironmentOptions.MEMORY_MIN)
                    .mergeOperator(operator(name))
                    .compactionFilter(filter(name))
                    .build();
            assertEquals(name, options.mergeOperatorName());
            try (TestDirectory directory = new TestDirectory("names")) {
                for (int opening = 0; opening < 2; opening++) {
                    try (KeyValueStore named = Heartwood.open(directory.path(), options)) {
                        named.merge(KEY, VALUE);
                        named.checkpoint();
                        assertArrayEquals(VALUE, named.get(KEY));
                    }
                }
            }
        }
    }

    @Test
    void aBatchOfAnotherThingIsRefused() {
        try (TestDirectory other = new TestDirectory("other");
                KeyValueStore second = Heartwood.open(other.path(), StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build())) {
            assertThrows(UnsupportedOperationException.class, () -> second.merge(KEY, VALUE));
            try (WriteBatch batch = second.newBatch()) {
                assertThrows(UnsupportedOperationException.class, () -> batch.merge(KEY, VALUE));
                assertEquals(0, batch.count());
            }
            // Of a store that has one.
            try (WriteBatch batch = store.newBatch()) {
                batch.put(VALUE, VALUE);
                batch.merge(KEY, VALUE);
                assertThrows(UnsupportedOperationException.class, () -> second.write(batch));
                assertNull(second.get(VALUE));
                batch.clear();
                batch.put(VALUE, VALUE);
                second.write(batch);
                assertArrayEquals(VALUE, second.get(VALUE));
            }
            assertNull(second.get(KEY));
        }
    }

    @Test
    void anExceptionOfTheUserIsTheUsersAndTheStoreGoesOn() {
        IllegalStateException thrown = new IllegalStateException("the user's");
        assertEquals(thrown, assertThrows(IllegalStateException.class, () -> store.get(KEY, value -> {
            throw thrown;
        })));
        store.put(KEY, KEY);
        assertArrayEquals(KEY, store.get(KEY));
    }
}
