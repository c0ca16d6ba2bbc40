package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What has expired leaves the disk without a tombstone for each record, and without being merged away. */
class ExpiryTest {
    private static final long RETENTION = Duration.ofMinutes(10).toMillis();
    private static final int KEYS = 1_000;
    private static final int ROUNDS = 120;
    private static final long ROUND_MILLIS = Duration.ofMinutes(1).toMillis();

    private static HeartwoodWindowStore windows() {
        return (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "windows", Duration.ofMillis(RETENTION), Duration.ofSeconds(10), false)
                .get();
    }

    private static Bytes key(int number) {
        return Bytes.wrap(("key" + number).getBytes());
    }

    private static void round(HeartwoodWindowStore store, int round) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), new byte[200], round * ROUND_MILLIS);
        }
    }

    /** Twelve retentions of data pass through; what is on the disk stays that of a few. */
    @Test
    void expiredSegmentsLeaveTheDisk() {
        expiredSegmentsLeaveTheDisk(StreamsConfig.AT_LEAST_ONCE);
    }

    /** The only commit is that of the start, as Kafka Streams 4.3 does it. */
    @Test
    void underExactlyOnceExpiredSegmentsLeaveTheDiskWithoutACommit() {
        expiredSegmentsLeaveTheDisk(StreamsConfig.EXACTLY_ONCE_V2);
    }

    private static void expiredSegmentsLeaveTheDisk(String guarantee) {
        try (TestDirectory directory = new TestDirectory("expiry")) {
            StoreContext context = new StoreContext(
                    directory.path(),
                    Map.of(
                            StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee,
                            HeartwoodStoreConfig.MEMTABLE_BYTES, "128k",
                            HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "64"));
            HeartwoodWindowStore store = context.open(windows());
            round(store, 0);
            store.commit(Map.of(StoreContext.CHANGELOG, 0L));
            for (int round = 1; round < ROUNDS; round++) {
                round(store, round);
                if (guarantee.equals(StreamsConfig.AT_LEAST_ONCE)) {
                    store.commit(Map.of(StoreContext.CHANGELOG, (long) round));
                }
            }
            long entries = store.table().stats().entriesEstimate();
            assertTrue(entries < KEYS * ROUNDS * 3 / 4, () -> entries + " entries wait to be merged away");
            store.table().settle();
            long written = store.table().stats().userBytesWritten();
            long live = store.table().stats().liveBytes();
            assertTrue(live < written / 2, () -> live + " bytes of " + written + " are still there");
            assertEquals(KEYS * RETENTION / ROUND_MILLIS, Counted.entries(store.all()));
            store.close();
        }
    }

    /**
     * A record from far in the future takes all windows with it. Those that are written after the next start stay until they expire by their own
     * time, although they had expired by that of the record.
     */
    @ParameterizedTest
    @CsvSource({"at_least_once, false", "exactly_once_v2, false", "exactly_once_v2, true"})
    void afterARecordFromFarInTheFutureAndARestartWindowsStayUntilTheyExpire(String guarantee, String transactional) {
        boolean isAtLeastOnce = guarantee.equals(StreamsConfig.AT_LEAST_ONCE);
        boolean isCommitted = isAtLeastOnce || Boolean.parseBoolean(transactional);
        try (TestDirectory directory = new TestDirectory("expiry")) {
            Map<String, String> configs = Map.of(
                    StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee,
                    CommitMode.TRANSACTIONAL_KEY, transactional,
                    HeartwoodStoreConfig.MEMTABLE_BYTES, "128k",
                    HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "64");
            HeartwoodWindowStore store = new StoreContext(directory.path(), configs).open(windows());
            for (int round = 0; round < 30; round++) {
                round(store, round);
            }
            store.put(key(0), new byte[1], 10 * ROUNDS * ROUND_MILLIS);
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            assertEquals(1, Counted.entries(store.all()));
            store.close();

            store = new StoreContext(directory.path(), configs).open(windows());
            assertEquals(1, Counted.entries(store.all()), "they had expired");
            for (int round = 25; round < ROUNDS; round++) {
                round(store, round);
                if (isCommitted) {
                    store.commit(Map.of(StoreContext.CHANGELOG, (long) round));
                }
                if (round % 10 == 0) {
                    store.table().settle();
                }
                int rounds = Math.min(round - 24, (int) (RETENTION / ROUND_MILLIS));
                assertEquals(1 + KEYS * rounds, Counted.entries(store.all()));
            }
            store.table().settle();
            long written = store.table().stats().userBytesWritten();
            long live = store.table().stats().liveBytes();
            // Where writes are undone, what lies before the last record of a commit waits for the next one that lasts.
            assertTrue(!isAtLeastOnce || live < written / 2, () -> live + " bytes of " + written + " are still there");
            store.close();

            store = new StoreContext(directory.path(), configs).open(windows());
            long last = (ROUNDS - 1) * ROUND_MILLIS;
            if (!isCommitted) {
                assertEquals(1, Counted.entries(store.all()), "what was not committed is undone, and what had expired does not come back");
                store.put(key(0), new byte[1], last);
            }
            assertNotNull(store.fetch(key(0), last));
            store.close();
        }
    }

    /** Merges are told that nothing has expired before a record that had expired is written, not after it. */
    @Test
    void nothingExpiresUntilItIsSaidWhatDoes() {
        try (TestDirectory directory = new TestDirectory("expiry")) {
            HeartwoodWindowStore store = new StoreContext(
                            directory.path(),
                            Map.of(
                                    HeartwoodStoreConfig.MEMTABLE_BYTES, "128k",
                                    HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "64"))
                    .open(windows());
            store.put(key(0), new byte[1], 10 * ROUNDS * ROUND_MILLIS);
            StateTable table = store.table();
            table.forgetEarlierTime(SegmentKeys.segmentsBefore(ROUNDS));
            for (int i = 0; i < 20 * KEYS; i++) {
                table.put(tableKey(store, i), new byte[200]);
            }
            table.settle();
            for (int i = 0; i < 20 * KEYS; i++) {
                assertNotNull(table.get(tableKey(store, i)));
            }
            store.close();
        }
    }

    /**
     * What had been dropped by the time of before, in the same life, is no longer dropped by it once that is forgotten: records that are taken
     * then go when they expire by their own time, not only when the time of before has come again. Those in the tree's first leaf stay until a
     * merge meets them where that leaf has the table's own keys, which are before all segments, too: about a tenth.
     */
    @Test
    void whatIsTakenGoesWhenItExpiresAnew() {
        try (TestDirectory directory = new TestDirectory("expiry")) {
            Map<String, String> configs = Map.of(
                    HeartwoodStoreConfig.MEMTABLE_BYTES, "128k",
                    HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "64");
            HeartwoodWindowStore store = new StoreContext(directory.path(), configs).open(windows());
            long segment = store.shape().segmentMillis();
            long before = 100 * RETENTION + segment / 2;
            store.put(key(0), new byte[1], before);
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            store.close();

            store = new StoreContext(directory.path(), configs).open(windows());
            long kept = (before - RETENTION) / segment * segment;
            store.put(key(0), new byte[1], kept);
            assertEquals(before, store.table().streamTime(), "what had expired by it is dropped");
            for (int i = 0; i < 20 * KEYS; i++) {
                store.put(key(i), new byte[200], kept - 1);
            }
            assertEquals(kept, store.table().streamTime(), "it is forgotten");
            store.put(key(0), new byte[1], kept + RETENTION - 1);
            store.table().settle();
            assertEquals(20 * KEYS, left(store, kept - 1), "their segment has not expired as a whole");
            for (int i = 0; i < 20 * KEYS; i++) {
                store.put(key(i), new byte[200], kept + RETENTION);
            }
            store.table().settle();
            long left = left(store, kept - 1);
            assertTrue(left < 20 * KEYS / 4, left + " are left, which is more than may lie in a leaf with the table's own keys");
            assertEquals(1, left(store, kept), "of the segment after theirs");
            store.close();
        }
    }

    /** How many windows of a start are there, shown or not. */
    private static long left(HeartwoodWindowStore store, long start) {
        return IntStream.range(0, 20 * KEYS)
                .filter(i -> store.table().get(store.tableKey(WindowKeySchema.toStoreKeyBinary(key(i), start, 0).get())) != null)
                .count();
    }

    private static byte[] tableKey(HeartwoodWindowStore store, int number) {
        return store.tableKey(WindowKeySchema.toStoreKeyBinary(key(number), number, 0).get());
    }

    /** What expired after the last commit under exactly-once comes back with the stream time of that commit. */
    @Test
    void whatExpiredAfterTheLastCommitComesBackWhenTheStoreGoesBack() {
        try (TestDirectory directory = new TestDirectory("expiry")) {
            Map<String, String> exactlyOnce = Map.of(
                    StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                    HeartwoodStoreConfig.MEMTABLE_BYTES, "128k",
                    HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "64");
            HeartwoodWindowStore store = new StoreContext(directory.path(), exactlyOnce).open(windows());
            for (int round = 0; round < 10; round++) {
                round(store, round);
            }
            store.commit(Map.of(StoreContext.CHANGELOG, 10L));
            for (int round = 10; round < ROUNDS / 3; round++) {
                round(store, round);
            }
            store.table().settle();
            try (KeyValueIterator<Windowed<Bytes>, byte[]> first = store.fetchAll(0, 9 * ROUND_MILLIS)) {
                assertFalse(first.hasNext());
            }
            store.close();

            store = new StoreContext(directory.path(), exactlyOnce).open(windows());
            for (int i = 0; i < KEYS; i++) {
                for (int round = 0; round < 10; round++) {
                    assertEquals(200, store.fetch(key(i), round * ROUND_MILLIS).length);
                }
            }
            try (KeyValueIterator<Windowed<Bytes>, byte[]> later = store.fetchAll(10 * ROUND_MILLIS, Long.MAX_VALUE)) {
                assertFalse(later.hasNext());
            }
            store.close();
        }
    }
}
