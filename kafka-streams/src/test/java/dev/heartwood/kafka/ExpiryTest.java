package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Test;

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
