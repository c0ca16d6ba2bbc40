package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a commit holds, and what a store opens with. */
class CommitTest {
    private static final Map<String, String> EXACTLY_ONCE =
            Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    private static final TopicPartition OTHER = new TopicPartition("other", 3);

    private final TestDirectory directory = new TestDirectory("commit");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private HeartwoodKeyValueStore open(Map<String, ?> configs) {
        return new StoreContext(directory.path(), configs).open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private static Bytes bytes(String text) {
        return Bytes.wrap(text.getBytes());
    }

    private static void put(HeartwoodKeyValueStore store, String key, String value) {
        store.put(bytes(key), value == null ? null : value.getBytes());
    }

    private static String get(ReadOnlyKeyValueStore<Bytes, byte[]> store, String key) {
        byte[] value = store.get(bytes(key));
        return value == null ? null : new String(value);
    }

    /** Kafka deletes a task's directory file by file, and may be killed anywhere: no order of that keeps an application from starting. */
    @ParameterizedTest
    @CsvSource({"at_least_once", "exactly_once_v2"})
    void whatADeletionHasLeftOpens(String guarantee) throws IOException {
        Map<String, String> configs = Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        Path files = TableOpener.directory(directory.path().toFile(), "s");
        SplittableRandom random = new SplittableRandom(1);
        int made = 0;
        for (int round = 0; round < 30; round++) {
            HeartwoodKeyValueStore store = open(configs);
            put(store, "a", "1");
            store.commit(Map.of(StoreContext.CHANGELOG, 5L));
            store.close();
            List<Path> left = new ArrayList<>();
            try (Stream<Path> all = Files.list(files)) {
                all.sorted().forEach(left::add);
            }
            Collections.shuffle(left, new Random(random.nextLong()));
            for (Path file : left.subList(0, 1 + random.nextInt(left.size()))) {
                Files.delete(file);
            }
            boolean isDataLeft = Files.exists(files.resolve("data.hw"));
            store = open(configs);
            if (!isDataLeft) {
                assertNull(get(store, "a"));
                assertNull(store.committedOffset(StoreContext.CHANGELOG), "so that it is restored");
                made++;
            }
            store.close();
        }
        assertTrue(made > 5, "rounds without a data file: " + made);
    }

    @Test
    void offsetsAreKeptTakenAwayAndDropped() {
        HeartwoodKeyValueStore store = open(Map.of());
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        store.commit(Map.of(StoreContext.CHANGELOG, 5L, OTHER, -4L));
        store.close();
        store = open(Map.of());
        assertEquals(5L, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(-4L, store.committedOffset(OTHER), "the unknown offset is an offset");
        Map<TopicPartition, Long> without = new HashMap<>();
        without.put(OTHER, null);
        store.commit(without);
        assertNull(store.committedOffset(OTHER));
        assertEquals(5L, store.committedOffset(StoreContext.CHANGELOG));
        store.commit(Map.of());
        store.close();
        store = open(Map.of());
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    @Test
    void underExactlyOnceWhatWasNotCommittedIsUndone() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        put(store, "changed", "before");
        put(store, "removed", "before");
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        put(store, "changed", "after");
        put(store, "changed", "after that");
        put(store, "removed", null);
        put(store, "added", "after");
        assertTrue(store.approximateNumUncommittedBytes() > 0);
        store.close();
        store = open(EXACTLY_ONCE);
        assertEquals("before", get(store, "changed"));
        assertEquals("before", get(store, "removed"));
        assertNull(get(store, "added"));
        assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(0, store.approximateNumUncommittedBytes());
        store.close();
    }

    /** Kafka Streams 4.3 commits the stores of a task whose transaction it gives up, closes them, and deletes them: it may be killed in the midst. */
    @Test
    void underExactlyOnceACommitLastsWhenTheStoreGoesOnOrIsClosed() {
        SimulatedMachine machine = new SimulatedMachine(1);
        HeartwoodKeyValueStore store = open(machine);
        put(store, "a", "1");
        store.commit(Map.of(StoreContext.CHANGELOG, 10L));
        put(store, "a", "2");
        store.commit(Map.of(StoreContext.CHANGELOG, 12L));
        assertEquals(12L, store.committedOffset(StoreContext.CHANGELOG));
        machine = killed(machine, store);

        store = found(open(machine), "1", 10); // the transaction may have been given up
        put(store, "a", "3");
        store.commit(Map.of(StoreContext.CHANGELOG, 13L));
        store.close();

        store = found(open(machine), "3", 13);
        put(store, "a", "4");
        store.commit(Map.of(StoreContext.CHANGELOG, 14L));
        store.commit(Map.of(StoreContext.CHANGELOG, 14L)); // of a task that was revoked, when it is closed
        machine = killed(machine, store);

        store = found(open(machine), "4", 14);
        put(store, "a", "5");
        store.commit(Map.of(StoreContext.CHANGELOG, 15L));
        put(store, "a", "6");
        machine = killed(machine, store);

        StoreContext context = StoreContext.on(machine, directory.path(), EXACTLY_ONCE);
        store = found(context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN)), "5", 15);
        put(store, "a", "7");
        store.commit(Map.of(StoreContext.CHANGELOG, 16L));
        context.streams().restore("s", List.of(KeyValue.pair("b".getBytes(), "1".getBytes()))); // as a standby now
        machine = killed(machine, store);

        found(open(machine), "7", 16).close();
    }

    /** A store that was opened, with the value and the offset of a commit. */
    private static HeartwoodKeyValueStore found(HeartwoodKeyValueStore store, String value, long offset) {
        assertEquals(value, get(store, "a"));
        assertEquals(offset, store.committedOffset(StoreContext.CHANGELOG));
        return store;
    }

    /** What a global store is given is of no transaction, and Kafka Streams commits it seldom. */
    @Test
    void underExactlyOnceACommitOfAGlobalStoreLastsAtOnce() {
        SimulatedMachine machine = new SimulatedMachine(1);
        HeartwoodKeyValueStore store = openGlobal(machine);
        put(store, "a", "1");
        store.commit(Map.of(StoreContext.CHANGELOG, 10_000L));
        machine = killed(machine, store);
        found(openGlobal(machine), "1", 10_000).close();
    }

    private HeartwoodKeyValueStore openGlobal(SimulatedMachine machine) {
        return StoreContext.globalOn(machine, directory.path(), EXACTLY_ONCE)
                .open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private HeartwoodKeyValueStore open(SimulatedMachine machine) {
        return StoreContext.on(machine, directory.path(), EXACTLY_ONCE)
                .open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private static SimulatedMachine killed(SimulatedMachine machine, HeartwoodKeyValueStore store) {
        SimulatedMachine left = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        return left;
    }

    /** Kafka Streams commits a task that it gives up while it initialises it as if nothing was known of the stores whose turn had not come. */
    @ParameterizedTest
    @CsvSource({"at_least_once", "exactly_once_v2"})
    void anUnknownOffsetOverDataIsNone(String guarantee) {
        Map<String, String> configs = Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        HeartwoodKeyValueStore store = open(configs);
        store.commit(Map.of(StoreContext.CHANGELOG, -4L));
        put(store, "a", "1");
        store.commit(Map.of(StoreContext.CHANGELOG, 10L));
        store.close();
        for (int opening = 0; opening < 2; opening++) {
            store = open(configs);
            store.commit(Map.of(StoreContext.CHANGELOG, -4L));
            assertNull(store.committedOffset(StoreContext.CHANGELOG), "by which it is restored, or wiped");
            store.close();
        }
        store = open(configs);
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    /** The way back is longer than the memory, and than what one batch may have. */
    @Test
    void aLongWayBackTakesNoMoreMemoryThanThereIs() {
        Map<String, String> small = Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                HeartwoodStoreConfig.MEMORY_MAX_BYTES, "16m");
        HeartwoodKeyValueStore store = open(small);
        String value = "v".repeat(400);
        for (int i = 0; i < 60_000; i++) {
            put(store, "key" + i, value);
        }
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        for (int i = 0; i < 60_000; i++) {
            put(store, "key" + i, "after");
        }
        store.close();
        store = open(small);
        for (int i = 0; i < 60_000; i++) {
            assertEquals(value, get(store, "key" + i));
        }
        store.close();
    }

    @Test
    void underAtLeastOnceWhatWasNotCommittedStays() {
        HeartwoodKeyValueStore store = open(Map.of());
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        put(store, "k", "v");
        store.close();
        store = open(Map.of());
        assertEquals("v", get(store, "k"));
        assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    /** The commit does not know how late these are, so a search must not end at the stream time that it recorded. */
    @Test
    void underAtLeastOnceSessionsThatWereNotCommittedAreFound() {
        HeartwoodSessionStore store = sessions();
        Bytes key = Bytes.wrap("k".getBytes());
        store.put(new Windowed<>(key, new SessionWindow(0, 1)), new byte[] {1});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.put(new Windowed<>(key, new SessionWindow(50_000, 50_001)), new byte[] {2});
        store.close();
        for (int opening = 0; opening < 3; opening++) {
            // Opened as the first time, after nothing was done, and after a commit that does not know of it either.
            store = sessions();
            assertEquals(2, Counted.entries(store.findSessions(key, 0, Long.MAX_VALUE)));
            assertEquals(1, Counted.entries(store.findSessions(key, 45_000, 55_000)));
            if (opening == 1) {
                store.commit(Map.of(StoreContext.CHANGELOG, 2L));
            }
            store.close();
        }
    }

    /** Under exactly-once a store goes back by emptying what is later than its last commit, which must know of these. */
    @Test
    void sessionsThatAtLeastOnceCommittedWithoutKnowingOfThemAreCommittedUnderExactlyOnce() {
        HeartwoodSessionStore store = sessions();
        Bytes key = Bytes.wrap("k".getBytes());
        store.put(new Windowed<>(key, new SessionWindow(0, 1)), new byte[] {1});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.put(new Windowed<>(key, new SessionWindow(50_000, 50_001)), new byte[] {2});
        store.close();
        store = sessions();
        store.commit(Map.of(StoreContext.CHANGELOG, 2L));
        store.close();
        for (int opening = 0; opening < 2; opening++) {
            store = sessions(EXACTLY_ONCE);
            assertEquals(2, Counted.entries(store.findSessions(key, 0, Long.MAX_VALUE)));
            store.put(new Windowed<>(key, new SessionWindow(60_000, 60_001)), new byte[] {3});
            store.close();
        }
    }

    /** As one after at-least-once processing, or of a version that did not write how late its data was. */
    @Test
    void aCommitThatDoesNotSayHowLateItsDataIsIsGoneBackToByUndoRecords() {
        Bytes key = Bytes.wrap("k".getBytes());
        HeartwoodSessionStore store = sessions(EXACTLY_ONCE);
        store.put(new Windowed<>(key, new SessionWindow(0, 1)), new byte[] {1});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        StoreOptions options = StoreOptions.builder()
                .groupSuffixBytes(TableKind.SESSION.groupSuffixBytes())
                .build();
        Path files = TableOpener.directory(directory.path().toFile(), "sessions");
        try (KeyValueStore raw = Heartwood.open(files, options)) {
            CommitState commit = CommitState.decode("sessions", TableKind.SESSION, raw.get(TableKeys.COMMIT));
            CommitState without = new CommitState(
                    commit.epoch(),
                    commit.streamTime(),
                    CommitState.UNKNOWN,
                    commit.offsets(),
                    commit.position(),
                    commit.madeAt());
            raw.put(TableKeys.COMMIT, without.encoded());
        }
        store = sessions(EXACTLY_ONCE);
        assertEquals(TableShape.NOTHING_NEW, store.table().firstNew());
        store.put(new Windowed<>(key, new SessionWindow(90_000, 90_001)), new byte[] {2});
        store.close();
        store = sessions(EXACTLY_ONCE);
        assertEquals(1, Counted.entries(store.findSessions(key, 0, Long.MAX_VALUE)));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        assertEquals(1, store.table().firstNew(), "a commit of nothing new says it");
        store.close();
    }

    /** Commits of that version did not know of versions that a process killed under at-least-once had left. */
    @Test
    void theSecondVersionOfACommitIsBelievedOnlyAboutTimeSegments() {
        CommitState commit = new CommitState(
                7, 50, 60, Map.of(StoreContext.CHANGELOG, 5L), Position.emptyPosition(), CommitState.NO_TIME);
        byte[] encoded = commit.encoded();
        assertEquals(60, CommitState.decode("s", TableKind.VERSIONED, encoded).dataUpTo());
        encoded[0] = 2;
        assertEquals(commit, CommitState.decode("s", TableKind.WINDOW, encoded));
        assertEquals(CommitState.UNKNOWN, CommitState.decode("s", TableKind.VERSIONED, encoded).dataUpTo());
        for (byte unknown : new byte[] {0, 6}) {
            encoded[0] = unknown;
            assertThrows(ProcessorStateException.class, () -> CommitState.decode("s", TableKind.WINDOW, encoded));
        }
    }

    @Test
    void theVersionsBeforeDidNotSayWhenACommitWasMadeOrHowLateItsDataWas() {
        CommitState commit =
                new CommitState(7, 50, 60, Map.of(StoreContext.CHANGELOG, 5L), Position.emptyPosition(), 1_000);
        byte[] encoded = commit.encoded();
        assertEquals(commit, CommitState.decode("s", TableKind.WINDOW, encoded));
        byte[] third = Arrays.copyOf(encoded, encoded.length - Long.BYTES);
        third[0] = 3;
        CommitState found = CommitState.decode("s", TableKind.WINDOW, third);
        assertEquals(commit.rightAt(CommitState.NO_TIME), found);
        assertFalse(found.isYoung(0, Long.MAX_VALUE));
        int dataUpTo = 1 + 2 * Long.BYTES; // behind version, epoch and stream time
        byte[] first = Arrays.copyOf(third, third.length - Long.BYTES);
        System.arraycopy(third, dataUpTo + Long.BYTES, first, dataUpTo, first.length - dataUpTo);
        first[0] = 1;
        found = CommitState.decode("s", TableKind.WINDOW, first);
        assertEquals(CommitState.UNKNOWN, found.dataUpTo());
        assertEquals(commit.offsets(), found.offsets());
    }

    private HeartwoodSessionStore sessions() {
        return sessions(Map.of());
    }

    private HeartwoodSessionStore sessions(Map<String, ?> configs) {
        return new StoreContext(directory.path(), configs)
                .open(HeartwoodSessionStore.of("sessions", ValueFormat.PLAIN, Retention.of(100_000), 10_000));
    }

    /** Writes of at-least-once processing after its last commit have no way back. */
    @Test
    void exactlyOnceDoesNotTakeOverWhatAtLeastOnceLeftUncommitted() {
        atLeastOnce(store -> put(store, "k", "v"));
        assertThrows(TaskCorruptedException.class, () -> open(EXACTLY_ONCE));
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
        atLeastOnce(store -> {});
        assertThrows(TaskCorruptedException.class, () -> open(EXACTLY_ONCE), "nothing was committed meanwhile");
        atLeastOnce(store -> store.commit(Map.of(StoreContext.CHANGELOG, 1L)));
        assertTakenOver();
    }

    /** Kafka Streams restores a global store that was left so if it is told with the exception that its own stores throw. */
    @Test
    void aGlobalStoreSaysSoInTheWayThatHasItRestored() {
        atLeastOnce(store -> put(store, "k", "v"));
        StoreContext global = StoreContext.global(directory.path(), EXACTLY_ONCE);
        assertThrows(ProcessorStateException.class, () -> global.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN)));
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
    }

    /**
     * Kafka Streams deletes nothing under at-least-once, and a store that was left so was refused at every start. Nor does it need a way back to
     * the last commit there, so the store has none until an orderly end.
     */
    @Test
    void transactionalStoresUnderAtLeastOnceTakeOverWhatWasLeftUncommitted() {
        Map<String, String> transactional = Map.of(CommitMode.TRANSACTIONAL_KEY, "true");
        atLeastOnce(store -> put(store, "k", "v"));
        HeartwoodKeyValueStore store = open(transactional);
        assertEquals("v", get(store, "k"));
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        put(store, "k", "v2");
        store.close();
        store = open(transactional);
        assertEquals("v2", get(store, "k"));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        store = open(transactional);
        put(store, "k", "v3");
        store.close();
        store = open(transactional);
        assertEquals("v2", get(store, "k"), "there is a way back again");
        store.close();
        Map<String, String> exactlyOnceToo = new HashMap<>(EXACTLY_ONCE);
        exactlyOnceToo.putAll(transactional);
        atLeastOnce(left -> put(left, "k", "v4"));
        assertThrows(TaskCorruptedException.class, () -> open(exactlyOnceToo));
    }

    /** One life under at-least-once. */
    private void atLeastOnce(Consumer<HeartwoodKeyValueStore> life) {
        HeartwoodKeyValueStore store = open(Map.of());
        life.accept(store);
        store.close();
    }

    private void assertTakenOver() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        assertEquals("v", get(store, "k"));
        store.close();
    }

    /** Kafka Streams commits that it knows no offset when a store has nothing to restore; that covers nothing that was found. */
    @Test
    void aCommitOfAnUnknownOffsetDoesNotCoverWhatAtLeastOnceLeft() {
        atLeastOnce(store -> put(store, "k", "v"));
        atLeastOnce(store -> store.commit(Map.of(StoreContext.CHANGELOG, -4L)));
        assertThrows(TaskCorruptedException.class, () -> open(EXACTLY_ONCE));
        atLeastOnce(store -> store.commit(Map.of(StoreContext.CHANGELOG, 0L)));
        assertTakenOver();
    }

    /** A store without a changelog never has an offset, and nothing could restore it. */
    @Test
    void aCommitWithoutOffsetsCoversAStoreThatHasNoChangelog() {
        atLeastOnce(store -> {
            put(store, "k", "v");
            store.commit(Map.of());
        });
        assertTakenOver();
    }

    @Test
    void aStoreOfAnotherFormatIsRefusedByName() {
        open(Map.of()).close();
        StoreContext context = new StoreContext(directory.path(), Map.of());
        ProcessorStateException refused = assertThrows(
                ProcessorStateException.class,
                () -> context.open(HeartwoodKeyValueStore.of("s", ValueFormat.TIMESTAMPED)));
        assertTrue(refused.getMessage().contains("KEY_VALUE PLAIN"), refused::getMessage);
        assertTrue(refused.getMessage().contains("KEY_VALUE TIMESTAMPED"), refused::getMessage);
    }

    @Test
    void thePositionIsCommittedWithTheData() {
        StoreContext context = new StoreContext(directory.path(), EXACTLY_ONCE);
        HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        context.processing(7, 0);
        put(store, "k", "v");
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        context.processing(8, 0);
        put(store, "k", "w");
        Position seven = Position.emptyPosition().withComponent("input", 0, 7);
        assertEquals(seven, store.getCommittedPosition());
        assertEquals(Position.emptyPosition().withComponent("input", 0, 8), store.getPosition());
        store.close();
        store = open(EXACTLY_ONCE);
        assertEquals(seven, store.getPosition());
        store.close();
    }

    @Test
    void transactionalStoresShowReadersWhatIsCommitted() {
        HeartwoodKeyValueStore store = open(Map.of(CommitMode.TRANSACTIONAL_KEY, "true"));
        put(store, "k", "first");
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        put(store, "k", "second");
        ReadOnlyKeyValueStore<Bytes, byte[]> committed = store.readOnly(IsolationLevel.READ_COMMITTED);
        assertEquals("first", get(committed, "k"));
        assertEquals("second", get(store.readOnly(IsolationLevel.READ_UNCOMMITTED), "k"));
        try (KeyValueIterator<Bytes, byte[]> all = committed.all()) {
            store.commit(Map.of(StoreContext.CHANGELOG, 2L));
            assertArrayEquals("first".getBytes(), all.next().value, "an iterator stays where it was opened");
        }
        assertEquals("second", get(committed, "k"));
        store.close();
        assertThrows(InvalidStateStoreException.class, () -> get(committed, "k"));
    }

    /** Each commit was taken from the number as if all were still there, until none was left. */
    @ParameterizedTest
    @CsvSource({"at_least_once, false", "exactly_once_v2, false", "exactly_once_v2, true"})
    void commitsDoNotMakeTheNumberOfEntriesLess(String guarantee, String transactional) {
        HeartwoodKeyValueStore store = open(Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee,
                CommitMode.TRANSACTIONAL_KEY, transactional,
                HeartwoodStoreConfig.MEMTABLE_BYTES, "64k"));
        for (int commit = 0; commit < 3_000; commit++) {
            put(store, "key" + commit % 100, "v".repeat(200));
            store.commit(Map.of(StoreContext.CHANGELOG, (long) commit));
        }
        store.table().settle();
        long entries = store.approximateNumEntries();
        assertTrue(entries >= 100, () -> entries + " entries of 100 keys");
        store.close();
        store = open(Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee));
        assertTrue(store.approximateNumEntries() >= 100);
        store.close();
    }

    /** What leads back to commits of before is not needed any more, and merges drop nothing while readers may ask for what is committed. */
    @Test
    void oldUndoRecordsOfATransactionalStoreLeaveTheDisk() {
        HeartwoodKeyValueStore store = open(Map.of(
                CommitMode.TRANSACTIONAL_KEY, "true", HeartwoodStoreConfig.MEMTABLE_BYTES, "64k"));
        int keys = 2_000;
        int commits = 100;
        for (int commit = 0; commit < commits; commit++) {
            for (int i = 0; i < keys; i++) {
                put(store, "key" + i, "v".repeat(200));
            }
            store.commit(Map.of(StoreContext.CHANGELOG, (long) commit));
        }
        store.table().settle();
        long left = store.table().stats().entriesEstimate();
        assertTrue(left < keys * commits / 4, () -> left + " entries are left of " + keys + " keys");
        store.close();
    }

    @Test
    void aClosedStoreRefusesEverythingAndItsIteratorsEnd() {
        HeartwoodKeyValueStore store = open(Map.of());
        put(store, "k", "v");
        KeyValueIterator<Bytes, byte[]> iterator = store.all();
        assertTrue(iterator.hasNext());
        put(store, "l", "v");
        assertNotNull(iterator.peekNextKey(), "writing goes on under an iterator");
        store.close();
        store.close();
        assertThrows(InvalidStateStoreException.class, iterator::hasNext);
        assertThrows(InvalidStateStoreException.class, iterator::next);
        iterator.close();
        assertThrows(InvalidStateStoreException.class, () -> get(store, "k"));
        assertThrows(InvalidStateStoreException.class, () -> put(store, "k", "v"));
        assertThrows(InvalidStateStoreException.class, store::all);
        assertThrows(InvalidStateStoreException.class, store::approximateNumEntries);
        assertThrows(InvalidStateStoreException.class, () -> store.committedOffset(OTHER));
    }
}
