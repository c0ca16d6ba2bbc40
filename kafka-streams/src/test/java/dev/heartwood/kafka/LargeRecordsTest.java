package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.TooLargeException;
import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.internals.SessionKeySchema;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records as large as a write may be, and nearly: what was written alone is restored, overwritten, moved and gone back to as well. */
class LargeRecordsTest {
    private static final String MEMORY = "16m";
    private static final int LARGE_BYTES = 900 << 10;
    private static final int KEY_BYTES_TOO_MANY = 70_000;
    /** Of keys whose records of the way back would be too long, and which are not. */
    private static final int KEY_BYTES_NEARLY = KeyValueStore.KEY_BYTES_MAX - TableKeys.UNDO_PREFIX_BYTES;

    private static final long DELETED_AT = 5;
    private static final Duration RETENTION = Duration.ofMinutes(10);

    private final TestDirectory directory = new TestDirectory("large-records");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private StoreContext context(String guarantee) {
        return new StoreContext(
                directory.path(),
                Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee, HeartwoodStoreConfig.MEMORY_MAX_BYTES, MEMORY));
    }

    private static HeartwoodKeyValueStore open(StoreContext context) {
        return context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private HeartwoodKeyValueStore openExactlyOnce() {
        return open(context(StreamsConfig.EXACTLY_ONCE_V2));
    }

    private static byte[] value(int seed, int bytes) {
        byte[] value = new byte[bytes];
        new Random(seed).nextBytes(value);
        return value;
    }

    private static Bytes key(String text) {
        return Bytes.wrap(text.getBytes());
    }

    private static void putSmall(HeartwoodKeyValueStore store, int seed) {
        for (int i = 0; i < 240; i++) {
            store.put(key("k" + i), value(seed + i, 1000));
        }
    }

    private static void assertSmall(HeartwoodKeyValueStore store, int seed) {
        for (int i = 0; i < 240; i++) {
            assertArrayEquals(value(seed + i, 1000), store.get(key("k" + i)));
        }
    }

    @Test
    void aLargeRecordAmongSmallOnesIsRestored() {
        StoreContext context = context(StreamsConfig.AT_LEAST_ONCE);
        HeartwoodKeyValueStore store = open(context);
        List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            changelog.add(KeyValue.pair(("k" + i).getBytes(), value(i, 1000)));
        }
        changelog.add(KeyValue.pair("large".getBytes(), value(-1, LARGE_BYTES)));
        context.streams().restore("s", changelog);
        assertSmall(store, 0);
        assertArrayEquals(value(-1, LARGE_BYTES), store.get(key("large")));
        store.close();
    }

    /** The small ones' records of the way back come before the large one's. */
    @Test
    void aLargeRecordAmongSmallOnesIsGoneBackTo() {
        HeartwoodKeyValueStore store = openExactlyOnce();
        putSmall(store, 0);
        store.put(key("large"), value(-1, LARGE_BYTES));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        putSmall(store, 1_000);
        store.put(key("large"), null);
        store.close();
        store = openExactlyOnce();
        assertSmall(store, 0);
        assertArrayEquals(value(-1, LARGE_BYTES), store.get(key("large")));
        store.close();
    }

    @Test
    void aLargeRecordIsOverwrittenAndGoneBackTo() {
        HeartwoodKeyValueStore store = openExactlyOnce();
        store.put(key("large"), value(1, LARGE_BYTES));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.put(key("large"), value(2, LARGE_BYTES));
        store.put(key("large"), value(3, LARGE_BYTES));
        assertArrayEquals(value(3, LARGE_BYTES), store.get(key("large")));
        store.close();
        store = openExactlyOnce();
        assertArrayEquals(value(1, LARGE_BYTES), store.get(key("large")));
        assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    /** The longest value that a store takes; it has taken it then. */
    private static int longestTaken(IntConsumer putting) {
        int taken = LARGE_BYTES;
        int refused = 16 << 20;
        while (refused - taken > 1) {
            int bytes = taken + (refused - taken) / 2;
            try {
                putting.accept(bytes);
                taken = bytes;
            } catch (ProcessorStateException e) {
                refused = bytes;
            }
        }
        putting.accept(taken);
        return taken;
    }

    private int longestTakenByATable() {
        try (TestDirectory other = new TestDirectory("longest")) {
            StoreContext context = new StoreContext(other.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, MEMORY));
            HeartwoodKeyValueStore store = open(context);
            int longest = longestTaken(bytes -> store.put(key("large"), value(bytes, bytes)));
            store.close();
            return longest;
        }
    }

    /** A kind of store, with the key that its changelog has for a record at a time of 0. */
    private enum Kind {
        KEY_VALUE(() -> HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN), key -> key, (store, key) -> {
            HeartwoodKeyValueStore table = (HeartwoodKeyValueStore) store;
            table.put(key, null);
            assertNull(table.delete(key));
            assertNull(table.putIfAbsent(key, null));
        }),
        WINDOW(
                () -> HeartwoodStores.persistentWindowStore("s", RETENTION, Duration.ofMinutes(1), false).get(),
                key -> WindowKeySchema.toStoreKeyBinary(Bytes.wrap(key), 0, 0).get(),
                (store, key) -> ((HeartwoodWindowStore) store).put(key, null, DELETED_AT)),
        SESSION(
                () -> HeartwoodStores.persistentSessionStore("s", RETENTION).get(),
                key -> SessionKeySchema.toBinary(Bytes.wrap(key), 0, 0).get(),
                (store, key) -> ((HeartwoodSessionStore) store).remove(new Windowed<>(key, new SessionWindow(0, DELETED_AT)))),
        VERSIONED(() -> new HeartwoodVersionedStore("s", RETENTION.toMillis()), key -> key, (store, key) -> {
            HeartwoodVersionedStore versions = (HeartwoodVersionedStore) store;
            assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED, versions.put(key, null, DELETED_AT));
            assertNull(versions.delete(key, DELETED_AT));
        });

        private final Supplier<StateStore> store;
        private final UnaryOperator<byte[]> changelogKey;
        private final BiConsumer<TableStore, Bytes> deletion;

        Kind(Supplier<StateStore> store, UnaryOperator<byte[]> changelogKey, BiConsumer<TableStore, Bytes> deletion) {
            this.store = store;
            this.changelogKey = changelogKey;
            this.deletion = deletion;
        }

        TableStore store() {
            return (TableStore) store.get();
        }

        KeyValue<byte[], byte[]> change(byte[] key, byte[] value) {
            return KeyValue.pair(changelogKey.apply(key), value);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeyThatIsTooLongToBeRestoredIsAFailureOfTheStore(Kind kind) {
        StoreContext context = context(StreamsConfig.AT_LEAST_ONCE);
        TableStore store = context.open(kind.store());
        KeyValue<byte[], byte[]> tooLong = kind.change(new byte[KEY_BYTES_TOO_MANY], new byte[1]);
        ProcessorStateException failure = assertThrows(
                ProcessorStateException.class, () -> context.streams().restore("s", List.of(tooLong)));
        assertInstanceOf(TooLargeException.class, failure.getCause());
        context.streams().restore("s", List.of(kind.change(new byte[1], new byte[1])));
        assertEquals(1, store.table().entriesEstimate());
        store.close();
    }

    /** Another kind of store wrote the changelog. What it deleted cannot be here, and need not keep the rest from being restored. */
    @ParameterizedTest
    @EnumSource
    void theDeletionOfAKeyThatIsTooLongIsRestoredAsNothing(Kind kind) {
        StoreContext context = context(StreamsConfig.AT_LEAST_ONCE);
        TableStore store = context.open(kind.store());
        context.streams()
                .restore("s", List.of(
                        kind.change(new byte[1], new byte[1]),
                        kind.change(new byte[KEY_BYTES_TOO_MANY], null),
                        kind.change(new byte[2], new byte[1])));
        assertEquals(2, store.table().entriesEstimate());
        store.close();
    }

    /** It ended the thread that processed it, and the one after that. */
    @ParameterizedTest
    @EnumSource
    void theDeletionOfAKeyThatIsTooLongIsProcessedAsNothing(Kind kind) {
        for (String guarantee : List.of(StreamsConfig.AT_LEAST_ONCE, StreamsConfig.EXACTLY_ONCE_V2)) {
            for (int length : new int[] {KEY_BYTES_NEARLY, KEY_BYTES_TOO_MANY}) {
                StoreContext context = new StoreContext(
                        directory.path().resolve(guarantee + length), Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee));
                TableStore store = context.open(kind.store());
                context.streams().restore("s", List.of(kind.change(new byte[1], new byte[1])));
                store.commit(Map.of(StoreContext.CHANGELOG, 1L));
                context.processing(7, DELETED_AT);
                kind.deletion.accept(store, Bytes.wrap(new byte[length]));
                assertEquals(Position.emptyPosition().withComponent("input", 0, 7), store.getPosition());
                assertEquals(kind == Kind.KEY_VALUE ? -1 : DELETED_AT, store.table().observedTime());
                store.close();
            }
        }
    }

    /** It was restored, and there is no way back from its deletion. */
    @Test
    void theDeletionOfAKeyThatIsTooLongForAWayBackIsRefusedWhereItIsThere() {
        StoreContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
        HeartwoodKeyValueStore store = open(context);
        byte[] key = new byte[KEY_BYTES_NEARLY];
        context.streams().restore("s", List.of(KeyValue.pair(key, new byte[1])));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        ProcessorStateException failure = assertThrows(ProcessorStateException.class, () -> store.put(Bytes.wrap(key), null));
        assertInstanceOf(TooLargeException.class, failure.getCause());
        assertArrayEquals(new byte[1], store.get(Bytes.wrap(key)));
        store.close();
    }

    /** A batch of it alone was refused, so that the store could never be restored. */
    @Test
    void theLargestRecordThereIsIsRestored() {
        int longest = longestTakenByATable();
        StoreContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
        HeartwoodKeyValueStore store = open(context);
        putSmall(store, 0);
        context.streams()
                .restore("s", List.of(
                        KeyValue.pair("k0".getBytes(), value(-1, 1000)),
                        KeyValue.pair("large".getBytes(), value(1, longest)),
                        KeyValue.pair("k0".getBytes(), value(0, 1000))));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        store = openExactlyOnce();
        assertSmall(store, 0);
        assertArrayEquals(value(1, longest), store.get(key("large")));
        store.close();
    }

    /** A batch that restored it and removed its record of the way back was refused, so that the store could not be opened any more. */
    @Test
    void theLargestRecordThatCanBeOverwrittenIsGoneBackTo() {
        int longest = longestTakenByATable() - TableKeys.UNDO_PREFIX_BYTES - 1;
        overwriteCommitted(longest);
        assertGoneBack(longest);
    }

    /** Leaves a store that was overwritten after its last commit, small records and a large one. */
    private void overwriteCommitted(int largeBytes) {
        HeartwoodKeyValueStore store = openExactlyOnce();
        putSmall(store, 0);
        store.put(key("large"), value(1, largeBytes));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        putSmall(store, 1_000);
        store.put(key("large"), value(2, largeBytes));
        store.close();
    }

    private void assertGoneBack(int largeBytes) {
        HeartwoodKeyValueStore store = openExactlyOnce();
        assertSmall(store, 0);
        assertArrayEquals(value(1, largeBytes), store.get(key("large")));
        store.close();
    }

    /** Killed before the small ones are gone back to, before the large one is, and before its record of the way back is removed. */
    @Test
    void goingBackToALargeRecordThatWasCutShortGoesOn() {
        overwriteCommitted(LARGE_BYTES);
        for (int writes : new int[] {0, 1, 1}) {
            cutShort(TableKind.KEY_VALUE, "s", raw -> UndoLog.rollBack(CutShort.after(writes, raw), 1));
        }
        assertGoneBack(LARGE_BYTES);
    }

    private void cutShort(TableKind kind, String name, Consumer<KeyValueStore> work) {
        StoreOptions options = StoreOptions.builder().groupSuffixBytes(kind.groupSuffixBytes()).build();
        try (KeyValueStore raw = Heartwood.open(TableOpener.directory(directory.path().toFile(), name), options)) {
            assertThrows(CutShort.End.class, () -> work.accept(raw));
        }
    }

    private HeartwoodWindowStore openWindows(int retentionMinutes) {
        return (HeartwoodWindowStore) context(StreamsConfig.AT_LEAST_ONCE)
                .open(HeartwoodStores.persistentWindowStore("w", Duration.ofMinutes(retentionMinutes), Duration.ofMinutes(1), false)
                        .get());
    }

    /** A batch that put it in its new place and removed it from the old one was refused. */
    @Test
    void theLargestRecordThereIsIsMoved() {
        HeartwoodWindowStore windows = openWindows(40);
        long at = Duration.ofMinutes(1_000).toMillis();
        int longest = longestTaken(bytes -> windows.put(key("large"), value(bytes, bytes), at));
        windows.put(key("small"), value(1, 100), at);
        windows.close();
        HeartwoodWindowStore moved = openWindows(200);
        assertArrayEquals(value(longest, longest), moved.fetch(key("large"), at));
        assertArrayEquals(value(1, 100), moved.fetch(key("small"), at));
        assertEquals(2, Counted.entries(moved.all()));
        moved.close();
    }

    /** It lies where it was and where it goes, and no more once the move has gone on. */
    @Test
    void aMoveOfALargeRecordThatWasCutShortGoesOn() {
        HeartwoodWindowStore windows = openWindows(40);
        long at = Duration.ofMinutes(1_000).toMillis();
        windows.put(key("large"), value(1, LARGE_BYTES), at);
        windows.close();
        TableShape to = new TableShape(TableKind.WINDOW, ValueFormat.PLAIN, 1);
        cutShort(TableKind.WINDOW, "w", raw -> new SegmentMove(CutShort.after(2, raw), to).run());
        for (int opening = 0; opening < 2; opening++) {
            HeartwoodWindowStore moved = openWindows(200);
            assertArrayEquals(value(1, LARGE_BYTES), moved.fetch(key("large"), at));
            assertEquals(1, Counted.entries(moved.all()));
            moved.close();
        }
    }

    /** What is more than a process can address is refused as a store's failure is, and nothing stays open. */
    @Test
    void memoryThatCannotBeHadIsAFailureOfTheStore() {
        StoreContext context = new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "1000000g"));
        assertThrows(ProcessorStateException.class, () -> open(context));
        assertEquals(0, SharedEnvironment.openCount());
    }
}
