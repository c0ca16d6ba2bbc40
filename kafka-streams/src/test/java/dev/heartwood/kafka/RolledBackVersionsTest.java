package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Versions that are added, end, expire and are lost with the process are there again as the last commit under exactly-once had them. */
class RolledBackVersionsTest {
    private static final long RETENTION = 10_000;
    private static final int KEYS = 12;
    private static final Bytes KEY = key(0);

    private final TestDirectory directory = new TestDirectory("versions");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    /** How a life ends, always without a commit. */
    enum End {
        CLOSE,
        KILL,
        POWER_LOSS
    }

    private static Bytes key(int number) {
        return Bytes.wrap(("key" + number).getBytes());
    }

    private static Map<String, String> configs(String guarantee, int distance) {
        return Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee,
                HeartwoodStoreConfig.MEMTABLE_BYTES, "64k",
                HeartwoodStoreConfig.CHECKPOINT_DISTANCE, Integer.toString(distance));
    }

    private static HeartwoodVersionedStore versions() {
        return new HeartwoodVersionedStore("s", RETENTION);
    }

    private HeartwoodVersionedStore open(String guarantee) {
        return new StoreContext(directory.path(), configs(guarantee, 1_024)).open(versions());
    }

    private HeartwoodVersionedStore open() {
        return open(StreamsConfig.EXACTLY_ONCE_V2);
    }

    @ParameterizedTest
    @EnumSource
    void aStoreIsAsItWasCommitted(End end) {
        Campaign.run(getClass(), 6, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            SimulatedMachine machine = new SimulatedMachine(seed);
            VersionsModel committed = new VersionsModel(RETENTION);
            for (int life = 0; life < 6; life++) {
                Map<String, String> configs = configs(StreamsConfig.EXACTLY_ONCE_V2, seed % 2 == 0 ? 1 : 64);
                StoreContext context = StoreContext.on(machine, directory.path(), configs);
                HeartwoodVersionedStore store = context.open(versions());
                try {
                    committed.reopened();
                    check(committed, store, random);
                    committed = live(context, store, committed, random);
                    store.put(KEY, new byte[1], 1_000_000_000); // no commit follows, by which the last one is there for good
                    if (end != End.CLOSE) {
                        machine = machine.crash(CrashKind.valueOf(end.name()), random);
                    }
                } finally {
                    store.close();
                }
            }
        });
    }

    /** Lives one life; returns what its last commit left. */
    private static VersionsModel live(
            StoreContext context, HeartwoodVersionedStore store, VersionsModel found, SplittableRandom random) {
        VersionsModel committed = found;
        VersionsModel model = found.copy();
        model.reopened();
        for (int deeds = random.nextInt(20); deeds > 0; deeds--) {
            int deed = random.nextInt(10);
            List<ConsumerRecord<byte[], byte[]>> records = records(model, random);
            if (deed == 0) {
                store.table().settle();
            } else if (deed == 1) {
                context.streams().restoreWithHeaders("s", records);
                records.forEach(record -> model.put(Bytes.wrap(record.key()), record.value(), record.timestamp()));
            } else {
                records.forEach(record -> {
                    Bytes key = Bytes.wrap(record.key());
                    long expected = model.put(key, record.value(), record.timestamp());
                    assertEquals(expected, store.put(key, record.value(), record.timestamp()));
                });
            }
            if (deed <= 2) {
                store.commit(Map.of(StoreContext.CHANGELOG, (long) deeds));
                committed = model.copy();
            }
        }
        check(model, store, random);
        return committed;
    }

    /** Records in and out of order, some too late; sometimes time jumps so far that all that there is expires. */
    private static List<ConsumerRecord<byte[], byte[]>> records(VersionsModel model, SplittableRandom random) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        long now = Math.max(100_000, model.streamTime()) + random.nextLong(random.nextInt(8) == 0 ? 3 * RETENTION : 300);
        for (int i = 0; i < 100; i++) {
            now += random.nextInt(20);
            long time = model.notGone(now - (random.nextBoolean() ? 0 : random.nextLong(RETENTION * 5 / 4)));
            byte[] value = random.nextInt(4) == 0 ? null : (random.nextLong() + "v".repeat(150)).getBytes();
            records.add(changelog(key(random.nextInt(KEYS)), value, time));
        }
        return records;
    }

    private static ConsumerRecord<byte[], byte[]> changelog(Bytes key, byte[] value, long time) {
        return new ConsumerRecord<>(
                "changelog", 0, 0, time, TimestampType.CREATE_TIME, 0, 0, key.get(), value, new RecordHeaders(), Optional.empty());
    }

    private static void check(VersionsModel model, HeartwoodVersionedStore store, SplittableRandom random) {
        assertEquals(model.streamTime(), store.table().streamTime());
        for (int i = 0; i < KEYS; i++) {
            VersionsModel.check(model.latest(key(i)), store.get(key(i)));
            for (int looks = 0; looks < 20 && model.streamTime() >= 0; looks++) {
                long time = model.streamTime() + 10 - random.nextLong(RETENTION + 20);
                VersionedRecord<byte[]> found = store.get(key(i), time);
                if (found != null || !model.mayBeGone(time)) {
                    VersionsModel.check(model.asOf(key(i), time), found);
                }
            }
        }
    }

    /** The only commit is that of the start, as Kafka Streams 4.3 does it; what is on the disk stays that of a few retentions. */
    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void expiredVersionsLeaveTheDiskWithoutACommit(String transactional) {
        Map<String, String> configs = new HashMap<>(configs(StreamsConfig.EXACTLY_ONCE_V2, 1_024));
        configs.put(CommitMode.TRANSACTIONAL_KEY, transactional);
        HeartwoodVersionedStore store = new StoreContext(directory.path(), configs).open(versions());
        store.put(KEY, new byte[200], 0);
        store.commit(Map.of(StoreContext.CHANGELOG, 0L));
        int versions = 60_000;
        for (int i = 1; i <= versions; i++) {
            store.put(key(i % KEYS), new byte[200], i * 10L);
        }
        store.table().settle();
        long left = store.table().stats().entriesEstimate();
        // Of the retention there are 1,000; what was packed last may not have been merged.
        assertTrue(left < versions / 4, () -> left + " of " + versions + " versions are left");
        assertEquals(versions * 10L, store.get(key(versions % KEYS)).timestamp());
        store.close();
        store = open();
        assertEquals(0, store.get(KEY).timestamp());
        assertNull(store.get(key(1)));
        store.close();
    }

    /**
     * A version from far in the future lets all history expire. Versions that are put after the next start stay until they expire by their own time,
     * and are undone like others.
     */
    @ParameterizedTest
    @ValueSource(strings = {StreamsConfig.AT_LEAST_ONCE, StreamsConfig.EXACTLY_ONCE_V2})
    void afterAVersionFromFarInTheFutureAndARestartVersionsStayUntilTheyExpire(String guarantee) {
        HeartwoodVersionedStore store = open(guarantee);
        store.put(key(1), new byte[200], 10);
        store.put(KEY, new byte[1], 1_000_000_000);
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, store.put(key(1), new byte[200], 20));
        store.close();

        store = open(guarantee);
        int versions = 20_000;
        for (int i = 1; i <= versions; i++) {
            long before = store.put(key(1 + i % (KEYS - 1)), new byte[200], 100 + i * 10L);
            assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED, before);
            if (i % 5_000 == 0) {
                store.table().settle();
                for (int j = i - 900; j <= i; j++) {
                    assertEquals(100 + j * 10L, store.get(key(1 + j % (KEYS - 1)), 100 + j * 10L).timestamp());
                }
            }
        }
        assertEquals(1_000_000_000, store.get(KEY).timestamp());
        store.close();
        store = open(guarantee);
        boolean isUndone = guarantee.equals(StreamsConfig.EXACTLY_ONCE_V2);
        assertEquals(isUndone, store.get(key(1)).timestamp() == 10);
        assertEquals(isUndone, store.get(key(2)) == null);
        assertEquals(1_000_000_000, store.get(KEY).timestamp());
        store.close();
    }

    /** What a restore has added after the last commit is removed with what else was, and is restored again. */
    @Test
    void aRestoreThatWasCutShortIsDoneAgain() {
        HeartwoodVersionedStore store = open();
        store.put(KEY, new byte[1], 10);
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        for (int life = 0; life < 2; life++) {
            StoreContext context = new StoreContext(directory.path(), configs(StreamsConfig.EXACTLY_ONCE_V2, 1_024));
            store = context.open(versions());
            assertNull(store.get(key(1)));
            context.streams().restoreWithHeaders(
                    "s", List.of(changelog(KEY, new byte[2], 20), changelog(key(1), new byte[3], 30)));
            if (life == 1) {
                store.commit(Map.of(StoreContext.CHANGELOG, 3L));
            }
            store.close();
        }
        store = open();
        assertEquals(20, store.get(KEY, 15).validTo().orElseThrow());
        assertEquals(20, store.get(KEY).timestamp());
        assertEquals(30, store.get(key(1)).timestamp());
        store.close();
    }

    /** At-least-once leaves versions that its last commit does not know of, and the next one has them. */
    @Test
    void versionsThatAtLeastOnceCommittedWithoutKnowingOfThemAreCommittedUnderExactlyOnce() {
        HeartwoodVersionedStore store = open(StreamsConfig.AT_LEAST_ONCE);
        store.put(KEY, new byte[1], 10);
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.put(KEY, new byte[2], 5_000);
        store.close();
        store = open(StreamsConfig.AT_LEAST_ONCE);
        store.commit(Map.of(StoreContext.CHANGELOG, 2L));
        store.close();
        for (int opening = 0; opening < 3; opening++) {
            store = open();
            assertEquals(5_000, store.get(KEY).timestamp());
            if (opening == 1) {
                store.commit(Map.of(StoreContext.CHANGELOG, 3L));
                assertEquals(5_001, store.table().firstNew(), "it was looked for");
            }
            store.put(KEY, new byte[3], 6_000);
            store.close();
        }
    }
}
