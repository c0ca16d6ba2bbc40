package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreSupplier;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStore;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.Test;

/**
 * The time of a store begins anew when it is opened, as that of the operators above it and of Kafka Streams' own stores does, beside which each test
 * runs: Heartwood's went on. So what an operator took in after a restart the store dropped or hid, and one record from far in the future
 * kept it from ever counting again.
 */
class RestartTest {
    private static final long MINUTE = 60_000;
    private static final long NOW = 100_000 * MINUTE;
    private static final long FAR_IN_THE_FUTURE = 10 * NOW;
    private static final Bytes KEY = Bytes.wrap(new byte[] {7});
    private static final Bytes OTHER = Bytes.wrap(new byte[] {8});

    private static StorePair<WindowStore<Bytes, byte[]>> windows(long retentionMinutes) {
        Duration retention = Duration.ofMinutes(retentionMinutes);
        return pair(
                HeartwoodStores.persistentWindowStore("s", retention, Duration.ofMinutes(1), false),
                Stores.persistentWindowStore("s", retention, Duration.ofMinutes(1), false));
    }

    private static StorePair<SessionStore<Bytes, byte[]>> sessions(long retentionMinutes) {
        Duration retention = Duration.ofMinutes(retentionMinutes);
        return pair(HeartwoodStores.persistentSessionStore("s", retention), Stores.persistentSessionStore("s", retention));
    }

    private static StorePair<KeyValueStore<Bytes, byte[]>> versions(long retentionMinutes) {
        Duration retention = Duration.ofMinutes(retentionMinutes);
        return pair(
                HeartwoodStores.persistentVersionedKeyValueStore("s", retention),
                Stores.persistentVersionedKeyValueStore("s", retention));
    }

    private static <S extends StateStore> StorePair<S> pair(StoreSupplier<S> ours, StoreSupplier<S> theirs) {
        return new StorePair<>(new SplittableRandom(1), ours, theirs);
    }

    /** What reads and writes both stores, and knows what each must show. */
    private static <S extends StateStore> void both(StorePair<S> pair, BiConsumer<S, String> action) {
        pair.same("both", store -> {
            action.accept(store, store.getClass().getSimpleName());
            return null;
        });
    }

    private static Windowed<Bytes> session(Bytes key, long end) {
        return new Windowed<>(key, new SessionWindow(end - 5, end));
    }

    /** A window of a minute without grace had closed; the first record after a restart is of it, and the operator takes it. */
    @Test
    void aWindowThatHadClosedIsCountedFurther() {
        try (StorePair<WindowStore<Bytes, byte[]>> pair = windows(1)) {
            both(pair, (store, which) -> {
                store.put(KEY, new byte[] {6}, NOW);
                store.put(OTHER, new byte[] {1}, NOW + MINUTE);
                assertNull(store.fetch(KEY, NOW), which);
            });
            pair.reopen();
            both(pair, (store, which) -> {
                assertArrayEquals(new byte[] {6}, store.fetch(KEY, NOW), which);
                store.put(KEY, new byte[] {7}, NOW);
                assertArrayEquals(new byte[] {7}, store.fetch(KEY, NOW), which);
                store.put(OTHER, new byte[] {2}, NOW + MINUTE);
                assertNull(store.fetch(KEY, NOW), which);
            });
        }
    }

    @Test
    void windowsAreCountedAgainAfterARecordFromFarInTheFuture() {
        try (StorePair<WindowStore<Bytes, byte[]>> pair = windows(5)) {
            both(pair, (store, which) -> {
                store.put(KEY, new byte[] {6}, NOW);
                store.put(KEY, new byte[] {1}, FAR_IN_THE_FUTURE);
            });
            for (int life = 1; life < 4; life++) {
                byte[] count = {(byte) life};
                pair.reopen();
                both(pair, (store, which) -> {
                    byte[] found = store.fetch(KEY, NOW);
                    assertEquals(count[0] - 1, found == null ? 0 : found[0], which);
                    store.put(KEY, count, NOW);
                    assertArrayEquals(count, store.fetch(KEY, NOW), which);
                    assertArrayEquals(new byte[] {1}, store.fetch(KEY, FAR_IN_THE_FUTURE), which);
                    store.put(OTHER, count, NOW + 2 * MINUTE);
                });
                pair.sameEntries("all", WindowStore::all);
                both(pair, (store, which) -> {
                    store.put(OTHER, count, NOW - 3 * MINUTE);
                    assertNull(store.fetch(OTHER, NOW - 3 * MINUTE), which + ": it is late");
                });
            }
        }
    }

    @Test
    void sessionsAreContinuedAgainAfterARecordFromFarInTheFuture() {
        try (StorePair<SessionStore<Bytes, byte[]>> pair = sessions(5)) {
            both(pair, (store, which) -> {
                store.put(session(KEY, NOW), new byte[] {6});
                store.put(session(KEY, FAR_IN_THE_FUTURE), new byte[] {1});
            });
            for (int life = 1; life < 4; life++) {
                byte[] count = {(byte) life};
                pair.reopen();
                both(pair, (store, which) -> {
                    byte[] found = store.fetchSession(KEY, NOW - 5, NOW);
                    assertEquals(count[0] - 1, found == null ? 0 : found[0], which);
                    store.put(session(KEY, NOW), count);
                    assertArrayEquals(count, store.fetchSession(KEY, NOW - 5, NOW), which);
                    store.put(session(OTHER, NOW + 2 * MINUTE), count);
                });
                pair.sameEntries("fetch", store -> store.fetch(KEY));
                pair.sameEntries("findSessions", store -> store.findSessions(KEY, NOW - 9, NOW + 9));
            }
        }
    }

    @Test
    void versionsAreTakenAgainAfterARecordFromFarInTheFuture() {
        try (StorePair<KeyValueStore<Bytes, byte[]>> pair = versions(5)) {
            both(pair, (store, which) -> {
                assertNotEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, put(store, OTHER, 1, FAR_IN_THE_FUTURE));
                assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, put(store, KEY, 1, NOW));
            });
            for (int life = 1; life < 4; life++) {
                int number = 2 * life;
                long time = NOW + number * MINUTE;
                pair.reopen();
                both(pair, (store, which) -> {
                    assertNotEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, put(store, KEY, number, time));
                    assertNotEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, put(store, KEY, number + 1, time + MINUTE));
                    assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, put(store, KEY, 99, time - 5 * MINUTE));
                    assertEquals(number, value(((VersionedBytesStore) store).get(KEY, time + 1)));
                    assertEquals(number + 1, value(store.get(KEY)));
                    assertEquals(1, value(store.get(OTHER)));
                });
            }
        }
    }

    /** What had expired is not there for readers of committed data either, when a record that is not committed has been taken in its place. */
    @Test
    void whatHadExpiredIsNotCommitted() {
        try (TestDirectory directory = new TestDirectory("restart")) {
            StoreContext context = new StoreContext(directory.path(), Map.of(CommitMode.TRANSACTIONAL_KEY, "true"));
            HeartwoodWindowStore windows = (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                            "windows", Duration.ofMinutes(5), Duration.ofMinutes(1), false)
                    .get();
            HeartwoodSessionStore sessions = (HeartwoodSessionStore)
                    HeartwoodStores.persistentSessionStore("sessions", Duration.ofMinutes(5)).get();
            for (long time : List.of(NOW, FAR_IN_THE_FUTURE)) {
                context.open(windows).put(KEY, new byte[] {6}, time);
                context.open(sessions).put(session(KEY, time), new byte[] {6});
                commitAndClose(windows);
                commitAndClose(sessions);
            }
            context.open(windows).put(KEY, new byte[] {1}, NOW + 1);
            context.open(sessions).put(session(KEY, NOW + 1), new byte[] {1});
            for (IsolationLevel level : IsolationLevel.values()) {
                assertNull(windows.readOnly(level).fetch(KEY, NOW));
                assertEquals(
                        level == IsolationLevel.READ_COMMITTED ? 1 : 2,
                        Counted.entries(windows.readOnly(level).all()));
                assertNull(sessions.readOnly(level).fetchSession(KEY, NOW - 5, NOW));
                assertEquals(
                        level == IsolationLevel.READ_COMMITTED ? 1 : 2,
                        Counted.entries(sessions.readOnly(level).fetch(KEY)));
            }
            commitAndClose(windows);
            commitAndClose(sessions);
        }
    }

    private static void commitAndClose(StateStore store) {
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
    }

    /** A batch of a changelog in which time goes on takes all of what has not expired as a whole segment, for it is shown after a restart. */
    @Test
    void whatIsRestoredAsItExpiresIsShownAfterARestart() {
        try (TestDirectory directory = new TestDirectory("restart")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodWindowStore store = (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                            "s", Duration.ofMinutes(1), Duration.ofMinutes(1), false)
                    .get();
            context.open(store).put(KEY, new byte[] {5}, NOW);
            context.streams().restore("s", List.of(changelog(KEY, 6, NOW), changelog(OTHER, 1, NOW + MINUTE)));
            assertNull(store.fetch(KEY, NOW));
            commitAndClose(store);
            context.open(store);
            assertArrayEquals(new byte[] {6}, store.fetch(KEY, NOW));
            store.close();
        }
    }

    /** A commit of what was restored in bulk waits for a checkpoint, which a record that had expired does not pass by. */
    @Test
    void whatWasRestoredInBulkIsThereWithItsCommit() {
        try (TestDirectory directory = new TestDirectory("restart")) {
            SimulatedMachine machine = new SimulatedMachine(1);
            HeartwoodWindowStore store = open(machine, directory).store();
            store.put(KEY, new byte[] {1}, FAR_IN_THE_FUTURE);
            store.commit(Map.of(StoreContext.CHANGELOG, -4L));
            store.close();

            Opened opened = open(machine, directory);
            store = opened.store();
            long late = FAR_IN_THE_FUTURE - MINUTE;
            opened.context().streams().restore("s", List.of(changelog(KEY, 5, late)));
            store.commit(Map.of(StoreContext.CHANGELOG, 7L));
            opened.context().streams().restore("s", List.of(changelog(OTHER, 6, FAR_IN_THE_FUTURE - 7 * MINUTE)));
            machine = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            store.close();

            store = open(machine, directory).store();
            assertEquals(7, store.committedOffset(StoreContext.CHANGELOG));
            assertArrayEquals(new byte[] {5}, store.fetch(KEY, late));
            assertArrayEquals(new byte[] {1}, store.fetch(KEY, FAR_IN_THE_FUTURE));
            store.close();
        }
    }

    private record Opened(StoreContext context, HeartwoodWindowStore store) {}

    private static Opened open(SimulatedMachine machine, TestDirectory directory) {
        StoreContext context = StoreContext.on(machine, directory.path(), Map.of());
        return new Opened(context, context.open((HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "s", Duration.ofMinutes(5), Duration.ofMinutes(1), false)
                .get()));
    }

    private static KeyValue<byte[], byte[]> changelog(Bytes key, int value, long time) {
        return KeyValue.pair(WindowKeySchema.toStoreKeyBinary(key, time, 0).get(), new byte[] {(byte) value});
    }

    /** Behind the timestamp, which is what the adapter puts before a value. */
    private static int value(byte[] versioned) {
        return versioned[versioned.length - 1];
    }

    private static long put(KeyValueStore<Bytes, byte[]> store, Bytes key, int value, long time) {
        return ((VersionedBytesStore) store).put(key, new byte[] {(byte) value}, time);
    }
}
