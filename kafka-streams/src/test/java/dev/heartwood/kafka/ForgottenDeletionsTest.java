package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Changelogs are compacted, and deletions go from them some time after they were written, a day unless it is set. Kafka Streams 4.3 commits a
 * store under exactly-once when it has been restored and when it is closed. A store that was killed later than a day after its
 * commit went back to it, what had been deleted since was there again, and nothing in the changelog told of the deletion any more.
 */
class ForgottenDeletionsTest {
    private static final Map<String, String> EXACTLY_ONCE =
            Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    private static final Map<String, String> TRANSACTIONAL = Map.of(CommitMode.TRANSACTIONAL_KEY, "true");
    private static final long HOUR = Duration.ofHours(1).toMillis();
    private static final Bytes KEY = key(0);

    private final TestDirectory directory = new TestDirectory("forgotten");
    private final MockTime time = new MockTime();

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private static Bytes key(int number) {
        return Bytes.wrap(new byte[] {(byte) number});
    }

    private HeartwoodKeyValueStore open(StoreContext context) {
        HeartwoodKeyValueStore store = HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN);
        store.goBy(time);
        return context.open(store);
    }

    private HeartwoodKeyValueStore open(Map<String, String> configs) {
        return open(new StoreContext(directory.path(), configs));
    }

    private static void commit(HeartwoodKeyValueStore store, long offset) {
        store.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    /** Leaves a store that has deleted its key some time after the commit. */
    private void killAfter(Map<String, String> configs, long millis) {
        HeartwoodKeyValueStore store = open(configs);
        store.put(KEY, new byte[] {1});
        commit(store, 1);
        store.put(KEY, null);
        time.sleep(millis);
        store.close();
    }

    private void assertGoesBack() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        assertArrayEquals(new byte[] {1}, store.get(KEY));
        store.close();
    }

    private void assertIsRestoredWhole() {
        assertThrows(TaskCorruptedException.class, () -> open(EXACTLY_ONCE));
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
    }

    @Test
    void aYoungCommitIsGoneBackTo() {
        killAfter(EXACTLY_ONCE, 12 * HOUR);
        assertGoesBack();
    }

    @Test
    void anOldCommitIsNotGoneBackTo() {
        killAfter(EXACTLY_ONCE, 12 * HOUR + 1);
        assertIsRestoredWhole();
    }

    @Test
    void aCommitOfTheFutureIsNotGoneBackTo() {
        killAfter(EXACTLY_ONCE, -1);
        assertIsRestoredWhole();
    }

    /** A version before did not write when it made a commit. */
    @Test
    void aCommitWithoutATimeIsNotGoneBackTo() {
        killAfter(EXACTLY_ONCE, 0);
        Path files = TableOpener.directory(directory.path().toFile(), "s");
        try (KeyValueStore raw = Heartwood.open(files, StoreOptions.defaults())) {
            CommitState commit = CommitState.decode("s", TableKind.KEY_VALUE, raw.get(TableKeys.COMMIT));
            raw.put(TableKeys.COMMIT, commit.rightAt(CommitState.NO_TIME).encoded());
        }
        assertIsRestoredWhole();
    }

    @Test
    void theLimitIsConfigured() {
        killAfter(EXACTLY_ONCE, HOUR);
        Map<String, String> configs = new HashMap<>(EXACTLY_ONCE);
        configs.put(HeartwoodStoreConfig.ROLLBACK_AGE_MAX_MS, Long.toString(HOUR - 1));
        assertThrows(TaskCorruptedException.class, () -> open(configs));
        configs.put(HeartwoodStoreConfig.ROLLBACK_AGE_MAX_MS, "-1");
        ConfigException refusal = assertThrows(ConfigException.class, () -> open(configs));
        assertTrue(refusal.getMessage().contains("0 or more"), refusal::getMessage);
        assertGoesBack();
    }

    @Test
    void aGlobalStoreSaysSoInTheWayThatHasItRestored() {
        killAfter(EXACTLY_ONCE, 13 * HOUR);
        StoreContext global = StoreContext.global(directory.path(), EXACTLY_ONCE);
        assertThrows(ProcessorStateException.class, () -> open(global));
    }

    /** Nothing was written after the commit, however old that is. */
    @Test
    void aStoreThatHasNothingToUndoOpens() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        store.put(KEY, new byte[] {1});
        commit(store, 1);
        store.close();
        time.sleep(100 * HOUR);
        assertGoesBack();
    }

    /** There is no changelog that could forget anything, nor one to restore from. */
    @Test
    void aStoreWithoutAChangelogGoesBackHoweverFar() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        store.put(KEY, new byte[] {1});
        store.commit(Map.of());
        store.put(KEY, null);
        store.close();
        time.sleep(100 * HOUR);
        assertGoesBack();
    }

    /** A commit of the same is not written; it is as old as when it was last said to be right, from the first write after it on. */
    @Test
    void aCommitOfTheSameIsYoungAgain() {
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        store.put(KEY, new byte[] {1});
        commit(store, 1);
        store.close();
        time.sleep(100 * HOUR);
        store = open(EXACTLY_ONCE);
        commit(store, 1);
        store.put(KEY, null);
        time.sleep(12 * HOUR);
        store.close();
        assertGoesBack();
    }

    /** Kafka Streams commits what it finds in all stores when it starts, and closes them again. */
    @Test
    void aCommitOfWhatWasFoundDoesNotMakeItYoung() {
        killAfter(EXACTLY_ONCE, HOUR);
        HeartwoodKeyValueStore store = open(EXACTLY_ONCE);
        commit(store, 1);
        store.close();
        store = open(EXACTLY_ONCE);
        store.put(KEY, null);
        time.sleep(11 * HOUR + 1);
        store.close();
        assertIsRestoredWhole();
    }

    /** Kafka Streams deletes nothing under at-least-once; what was written after the last commit may stay there. */
    @Test
    void underAtLeastOnceWhatWasWrittenStaysInsteadUntilTheNextCommit() {
        for (Map<String, String> configs : List.of(TRANSACTIONAL, Map.<String, String>of())) {
            killAfter(TRANSACTIONAL, 13 * HOUR);
            for (int opening = 0; opening < 2; opening++) {
                HeartwoodKeyValueStore store = open(configs);
                assertNull(store.get(KEY));
                store.close();
            }
            assertIsRestoredWhole();
            HeartwoodKeyValueStore store = open(configs);
            commit(store, 2);
            store.close();
            store = open(EXACTLY_ONCE);
            assertNull(store.get(KEY));
            store.close();
        }
    }

    /** A store that lives, dies and is restored beside a changelog that is cleaned all the time has what the changelog ever had. */
    @Test
    void noKeyComesBack() {
        Campaign.run(getClass(), 2, seed -> {
            try (TestDirectory lives = new TestDirectory("forgotten")) {
                new Lives(lives, new SplittableRandom(seed)).run();
            }
        });
    }

    /** A changelog whose cleaner never rests, and how Kafka Streams 4.3 deals with a store under exactly-once. */
    private static final class Lives {
        private static final int KEYS = 20;
        private static final long DELETE_RETENTION = 24 * HOUR;

        /** A record of the changelog; no value is a deletion. */
        private record Change(long offset, long wallMillis, Bytes key, byte[] value) {}

        private final TestDirectory parent;
        private final SplittableRandom random;
        private final MockTime time = new MockTime();
        private final Map<Bytes, byte[]> model = new TreeMap<>();
        private List<Change> changelog = new ArrayList<>();
        private long end;
        private int wipes;

        Lives(TestDirectory parent, SplittableRandom random) {
            this.parent = parent;
            this.random = random;
        }

        void run() {
            for (int life = 0; life < 8; life++) {
                HeartwoodKeyValueStore store = opened();
                check(store);
                for (int i = random.nextInt(60); i > 0; i--) {
                    process(store);
                }
                if (random.nextInt(3) == 0) {
                    commit(store, end);
                }
                store.close();
                time.sleep(random.nextLong(6 * HOUR));
            }
        }

        /** Opens the store, after a wipe if it asks for that, and restores it. */
        private HeartwoodKeyValueStore opened() {
            HeartwoodKeyValueStore store = HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN);
            store.goBy(time);
            StoreContext context = new StoreContext(task(), EXACTLY_ONCE);
            try {
                context.open(store);
            } catch (TaskCorruptedException e) {
                wipes++;
                context = new StoreContext(task(), EXACTLY_ONCE);
                context.open(store);
            }
            Long committed = store.committedOffset(StoreContext.CHANGELOG);
            clean();
            List<KeyValue<byte[], byte[]>> records = new ArrayList<>();
            for (Change change : changelog) {
                if (committed == null || change.offset() > committed) {
                    records.add(KeyValue.pair(change.key().get(), change.value()));
                }
            }
            context.streams().restore("s", records);
            commit(store, end);
            return store;
        }

        /** Where the store is since the last wipe. */
        private Path task() {
            return parent.path().resolve("task" + wipes);
        }

        private void process(HeartwoodKeyValueStore store) {
            time.sleep(random.nextLong(2 * HOUR));
            Bytes key = key(random.nextInt(KEYS));
            byte[] value = random.nextInt(3) == 0 ? null : Long.toString(end).getBytes();
            changelog.add(new Change(++end, time.milliseconds(), key, value));
            store.put(key, value);
            if (value == null) {
                model.remove(key);
            } else {
                model.put(key, value);
            }
        }

        /** Keeps the last record of each key, and deletions for as long as they are kept. */
        private void clean() {
            List<Change> kept = new ArrayList<>();
            Set<Bytes> seen = new HashSet<>();
            for (Change change : changelog.reversed()) {
                boolean isForgotten =
                        change.value() == null && change.wallMillis() + DELETE_RETENTION < time.milliseconds();
                if (seen.add(change.key()) && !isForgotten) {
                    kept.addFirst(change);
                }
            }
            changelog = kept;
        }

        private void check(HeartwoodKeyValueStore store) {
            Map<Bytes, String> found = new TreeMap<>();
            try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
                all.forEachRemaining(entry -> found.put(entry.key, new String(entry.value)));
            }
            Map<Bytes, String> expected = new TreeMap<>();
            model.forEach((key, value) -> expected.put(key, new String(value)));
            assertEquals(expected, found);
        }
    }
}
