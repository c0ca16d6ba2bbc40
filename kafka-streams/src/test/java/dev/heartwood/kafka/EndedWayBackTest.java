package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.query.Position;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A store under exactly-once that lives longer than its last commit may be gone back to. It went on to keep a record of each key that came and went,
 * for a way back that no store takes any more.
 */
class EndedWayBackTest {
    private static final long LIMIT = Duration.ofHours(12).toMillis();
    private static final Bytes KEY = key(0);
    private static final int LIVE_KEYS = 1_000;

    private final TestDirectory directory = new TestDirectory("way-back");
    private final MockTime time = new MockTime();
    private SimulatedMachine machine = new SimulatedMachine(1);
    private StoreContext context;

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private <S extends TableStore> S open(S store) {
        context = StoreContext.on(
                machine,
                directory.path(),
                Map.of(
                        StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                        HeartwoodStoreConfig.MEMTABLE_BYTES, "64k"));
        store.goBy(time);
        return context.open(store);
    }

    private HeartwoodKeyValueStore open() {
        return open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private void assertIsRestoredWhole() {
        assertThrows(TaskCorruptedException.class, this::open);
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
    }

    private static Bytes key(int number) {
        return Bytes.wrap(ByteBuffer.allocate(40).putInt(number).array());
    }

    private static byte[] value(int number) {
        return ByteBuffer.allocate(100).putInt(number).array();
    }

    private static void commit(TableStore store, long offset) {
        store.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    private void kill(TableStore store) {
        machine = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
    }

    private void losePower(TableStore store) {
        machine = machine.powerLoss(new BitSet(), new BitSet());
        store.close();
    }

    /** Opens a store that has a key with a value of 1 at its commit, and another one since that is too old to be gone back to. */
    private HeartwoodKeyValueStore openLongAfterItsCommit() {
        HeartwoodKeyValueStore store = open();
        store.put(KEY, value(1));
        commit(store, 1);
        store.put(KEY, value(2));
        time.sleep(LIMIT + 1);
        return store;
    }

    /** Puts each key, and deletes it again when a thousand more have come. */
    private static void passThrough(HeartwoodKeyValueStore store, int keys) {
        for (int i = 1; i <= keys; i++) {
            store.put(key(i), value(i));
            if (i > LIVE_KEYS) {
                store.put(key(i - LIVE_KEYS), null);
            }
        }
    }

    @Test
    void keysThatComeAndGoLeaveNothing() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        passThrough(store, 50_000);
        store.table().settle();
        long entries = store.table().stats().entriesEstimate();
        assertTrue(entries < 5 * LIVE_KEYS, () -> entries + " entries of " + LIVE_KEYS + " keys");
        store.close();
        assertIsRestoredWhole();
    }

    /** What has a record is not needed from then on either. */
    @Test
    void theRecordsOfBeforeGo() {
        HeartwoodKeyValueStore store = open();
        commit(store, 1);
        passThrough(store, 20_000);
        store.table().settle();
        long before = store.table().stats().entriesEstimate();
        time.sleep(LIMIT + 1);
        passThrough(store, 20_000);
        store.table().settle();
        long after = store.table().stats().entriesEstimate();
        assertTrue(before > 20_000 && after < 5 * LIVE_KEYS, () -> before + " entries, and then " + after);
        assertTrue(store.approximateNumEntries() >= LIVE_KEYS, "records that are gone count no more");
        store.close();
    }

    /** As where an application is new: Kafka Streams commits that it knows no offset, and then nothing for as long as the task runs. */
    @Test
    void aStoreThatHadNothingNeedsNoRecords() {
        HeartwoodKeyValueStore store = open();
        commit(store, -4);
        passThrough(store, 20_000);
        store.table().settle();
        long entries = store.table().stats().entriesEstimate();
        assertTrue(entries < 5 * LIVE_KEYS, () -> entries + " entries of " + LIVE_KEYS + " keys");
        kill(store);
        store = open();
        assertEquals(-4, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(0, Counted.entries(store.all()));
        store.put(KEY, value(1));
        commit(store, 7);
        store.put(KEY, null);
        store.put(key(1), value(1));
        kill(store);
        store = open();
        assertEquals(7, store.committedOffset(StoreContext.CHANGELOG));
        assertArrayEquals(value(1), store.get(KEY));
        assertEquals(1, Counted.entries(store.all()));
        store.close();
    }

    @Test
    void whatAStoreThatHadNothingWasGivenIsNotThereUnderAtLeastOnceEither() {
        HeartwoodKeyValueStore store = open();
        commit(store, -4);
        store.put(KEY, value(1));
        kill(store);
        store = StoreContext.on(machine, directory.path(), Map.of()).open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        assertEquals(0, Counted.entries(store.all()));
        store.close();
    }

    /** Versions before look for undo records of what was written after it, and would take all of that for committed. */
    @Test
    void theFourthVersionDoesNotKnowACommitOfNothing() {
        CommitState commit = new CommitState(
                7, 50, 60, Map.of(StoreContext.CHANGELOG, 5L), Position.emptyPosition(), 1_000);
        assertEquals(4, commit.encoded()[0]);
        CommitState nothing = new CommitState(
                7, 50, 60, Map.of(StoreContext.CHANGELOG, -4L), Position.emptyPosition(), 1_000);
        assertEquals(5, nothing.encoded()[0]);
        assertEquals(nothing, CommitState.decode("s", TableKind.WINDOW, nothing.encoded()));
        CommitState withoutChangelog = new CommitState(7, 50, 60, Map.of(), Position.emptyPosition(), 1_000);
        assertEquals(4, withoutChangelog.encoded()[0]);
    }

    @Test
    void anOrderlyEndAfterACommitIsGoneOnFrom() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        passThrough(store, 3 * LIVE_KEYS);
        commit(store, 2);
        store.close();
        store = open();
        assertEquals(2, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(LIVE_KEYS + 1, Counted.entries(store.all()));
        assertArrayEquals(value(2), store.get(KEY));
        store.close();
    }

    /** A commit of what was processed waits, for its transaction may have been given up. */
    @Test
    void aCommitThatWaitsIsNone() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        store.put(KEY, value(3));
        commit(store, 2);
        kill(store);
        assertIsRestoredWhole();
    }

    @Test
    void theNextCommitIsGoneBackToAgain() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        for (int round = 3; round < 6; round++) {
            store.put(KEY, value(round));
            store.put(key(round), value(round));
            commit(store, round);
            store.put(KEY, null);
            store.put(key(round), null);
            kill(store);
            store = open();
            assertEquals(round, store.committedOffset(StoreContext.CHANGELOG));
            assertArrayEquals(value(round), store.get(KEY));
            assertArrayEquals(value(round), store.get(key(round)));
            store.put(KEY, value(0));
            time.sleep(LIMIT + 1);
        }
        store.close();
    }

    /** As of an active task that becomes a standby. */
    @Test
    void whatIsRestoredAfterTheNextCommitIsOfIt() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        store.put(KEY, value(3));
        commit(store, 2);
        context.streams().restore("s", List.of(KeyValue.pair(key(1).get(), value(1))));
        kill(store);
        store = open();
        assertEquals(2, store.committedOffset(StoreContext.CHANGELOG));
        assertArrayEquals(value(3), store.get(KEY));
        store.close();
    }

    /** What led back had left the disk, so that the data seemed to be what the commit had. */
    @Test
    void afterALossOfPowerTheRecordsAreAwayOnlyWhereTheStoreSaysSo() {
        HeartwoodKeyValueStore store = open();
        commit(store, 1);
        passThrough(store, 20_000);
        commit(store, 2);
        passThrough(store, 20_000);
        store.table().settle();
        time.sleep(LIMIT + 1);
        store.put(KEY, value(3));
        store.table().settle();
        losePower(store);
        assertIsRestoredWhole();
    }

    @Test
    void aCommitThatALossOfPowerTookIsNone() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        store.put(KEY, value(3));
        commit(store, 2);
        commit(store, 3);
        losePower(store);
        assertIsRestoredWhole();
    }

    /** A commit of an offset that is not known does not say what the data is. */
    @Test
    void anUnknownOffsetIsNoReasonToGoBackAgain() {
        HeartwoodKeyValueStore store = openLongAfterItsCommit();
        store.put(KEY, value(3));
        commit(store, -4);
        store.put(KEY, value(4));
        store.close();
        assertIsRestoredWhole();
    }

    /** Its changelog is none, so that nothing would restore it. */
    @Test
    void aStoreWithoutAChangelogIsGoneBackToHoweverFar() {
        HeartwoodKeyValueStore store = open();
        store.put(KEY, value(1));
        store.commit(Map.of());
        time.sleep(100 * LIMIT);
        store.put(KEY, value(2));
        kill(store);
        store = open();
        assertArrayEquals(value(1), store.get(KEY));
        store.close();
    }

    /** A clock that is set right by a little must not cost a store its way back. */
    @Test
    void aClockThatIsSetBackAndRightAgainChangesNothing() {
        HeartwoodKeyValueStore store = open();
        store.put(KEY, value(1));
        commit(store, 1);
        time.sleep(-5);
        store.put(KEY, value(2));
        time.sleep(5);
        kill(store);
        store = open();
        assertArrayEquals(value(1), store.get(KEY));
        store.close();
    }

    /** Time segments, and versions, of which the commit has nothing are emptied instead, however old it is. */
    @Test
    void whatNeedsNoWayBackDoesNotEndIt() {
        Supplier<HeartwoodWindowStore> windows = () -> (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "w", Duration.ofDays(1), Duration.ofMinutes(1), false)
                .get();
        HeartwoodWindowStore store = open(windows.get());
        store.put(KEY, value(1), 0);
        commit(store, 1);
        time.sleep(LIMIT + 1);
        store.put(KEY, value(2), LIMIT);
        kill(store);
        store = open(windows.get());
        assertArrayEquals(value(1), store.fetch(KEY, 0));
        assertNull(store.fetch(KEY, LIMIT));
        store.put(KEY, value(3), 0);
        store.put(KEY, value(3), LIMIT);
        commit(store, 3);
        store.put(KEY, value(4), 0);
        store.put(KEY, value(4), 2 * LIMIT);
        kill(store);
        store = open(windows.get());
        assertArrayEquals(value(3), store.fetch(KEY, 0));
        assertArrayEquals(value(3), store.fetch(KEY, LIMIT));
        assertNull(store.fetch(KEY, 2 * LIMIT));
        store.close();
    }

    @Test
    void versionsAreGoneBackToAfterTheNextCommit() {
        Supplier<HeartwoodVersionedStore> versions =
                () -> new HeartwoodVersionedStore("v", Duration.ofDays(10).toMillis());
        HeartwoodVersionedStore store = open(versions.get());
        store.put(KEY, value(1), 10);
        commit(store, 1);
        time.sleep(LIMIT + 1);
        store.put(KEY, value(2), 20);
        store.put(KEY, value(3), 5);
        commit(store, 2);
        store.put(KEY, value(4), 30);
        store.put(KEY, null, 20);
        kill(store);
        store = open(versions.get());
        assertEquals(2, store.committedOffset(StoreContext.CHANGELOG));
        assertArrayEquals(value(2), store.get(KEY).value());
        assertEquals(10, store.get(KEY, 7).validTo().orElseThrow());
        assertArrayEquals(value(1), store.get(KEY, 15).value());
        store.close();
    }
}
