package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.junit.jupiter.api.Test;

/** A versioned store against a map of maps, with records that come late, deletions, merges and reopens. */
class VersionedStoreTest {
    private static final long RETENTION = 10_000;

    private final Map<Bytes, NavigableMap<Long, Bytes>> model = new HashMap<>();
    private long streamTime = -1;

    @Test
    void versionsAreThoseOfTheModel() {
        Campaign.run(getClass(), 4, seed -> new VersionedStoreTest().run(seed));
    }

    private void run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        try (TestDirectory directory = new TestDirectory("versions")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodVersionedStore store = context.open(new HeartwoodVersionedStore("s", RETENTION));
            long now = 50_000;
            for (int i = 0; i < Campaign.operations(2_000); i++) {
                now += random.nextInt(40);
                long time = now - (random.nextBoolean() ? 0 : random.nextLong(RETENTION * 5 / 4));
                Bytes key = Bytes.wrap(new byte[random.nextInt(6)]);
                switch (random.nextInt(100)) {
                    case 0 -> {
                        store.commit(Map.of(StoreContext.CHANGELOG, (long) i));
                        store.close();
                        context.open(store);
                    }
                    case 1 -> store.table().settle();
                    default -> step(store, key, time, random);
                }
            }
            store.close();
        }
    }

    private void step(HeartwoodVersionedStore store, Bytes key, long time, SplittableRandom random) {
        switch (random.nextInt(6)) {
            case 0, 1, 2 -> {
                byte[] value = random.nextInt(4) == 0 ? null : Long.toString(random.nextLong()).getBytes();
                assertEquals(put(key, value, time), store.put(key, value, time));
            }
            case 3 -> checkRecord(latest(key), store.get(key));
            case 4 -> checkRecord(asOf(key, time), store.get(key, time));
            default -> checkQuery(store, key, time, random);
        }
    }

    private long put(Bytes key, byte[] value, long time) {
        if (time < streamTime - RETENTION) {
            return VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT;
        }
        streamTime = Math.max(streamTime, time);
        NavigableMap<Long, Bytes> versions = model.computeIfAbsent(key, k -> new TreeMap<>());
        versions.put(time, value == null ? null : Bytes.wrap(value));
        Long next = versions.higherKey(time);
        return next == null ? VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED : next;
    }

    private record Shown(Bytes value, long from, Long to) {}

    private Shown version(Bytes key, Map.Entry<Long, Bytes> entry) {
        return entry == null || entry.getValue() == null
                ? null
                : new Shown(entry.getValue(), entry.getKey(), model.get(key).higherKey(entry.getKey()));
    }

    private Shown latest(Bytes key) {
        return model.containsKey(key) ? version(key, model.get(key).lastEntry()) : null;
    }

    private Shown asOf(Bytes key, long time) {
        if (time < streamTime - RETENTION) {
            Shown latest = latest(key);
            return latest != null && latest.from() <= time ? latest : null;
        }
        return model.containsKey(key) ? version(key, model.get(key).floorEntry(time)) : null;
    }

    private static void checkRecord(Shown expected, VersionedRecord<byte[]> found) {
        if (expected == null) {
            assertNull(found);
        } else {
            assertEquals(expected, shown(found));
        }
    }

    private static Shown shown(VersionedRecord<byte[]> record) {
        return record == null
                ? null
                : new Shown(Bytes.wrap(record.value()), record.timestamp(), record.validTo().orElse(null));
    }

    /** Versions that were valid within a span of the history. */
    private void checkQuery(HeartwoodVersionedStore store, Bytes key, long time, SplittableRandom random) {
        long from = Math.max(time, streamTime - RETENTION);
        long to = from + random.nextLong(RETENTION);
        List<Shown> expected = new ArrayList<>();
        if (model.containsKey(key)) {
            model.get(key).entrySet().forEach(entry -> {
                Shown version = version(key, entry);
                if (version != null && version.from() <= to && (version.to() == null || version.to() > from)) {
                    expected.add(version);
                }
            });
        }
        MultiVersionedKeyQuery<Bytes, byte[]> query = MultiVersionedKeyQuery.<Bytes, byte[]>withKey(key)
                .fromTime(Instant.ofEpochMilli(from))
                .toTime(Instant.ofEpochMilli(to));
        if (random.nextBoolean()) {
            query = query.withAscendingTimestamps();
        } else {
            query = query.withDescendingTimestamps();
            Collections.reverse(expected);
        }
        QueryResult<VersionedRecordIterator<byte[]>> result =
                store.query(query, PositionBound.unbounded(), new QueryConfig(random.nextBoolean()));
        List<Shown> found = new ArrayList<>();
        try (VersionedRecordIterator<byte[]> versions = result.getResult()) {
            versions.forEachRemaining(record -> found.add(shown(record)));
        }
        assertEquals(expected, found);
    }

    private static final Bytes KEY = Bytes.wrap(new byte[] {1});

    /** Merges drop a deletion that is as old as the retention; the version that it ended may still be there, in a younger run. */
    @Test
    void whatWasDeletedStaysSoWhenTheDeletionIsGone() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            HeartwoodVersionedStore store =
                    new StoreContext(directory.path(), Map.of()).open(new HeartwoodVersionedStore("s", RETENTION));
            store.put(KEY, new byte[] {1}, 10);
            store.put(KEY, null, 20);
            store.table().put(VersionKeys.tableKey(KEY.get(), 20), null);
            assertNull(store.get(KEY));
            store.put(KEY, new byte[] {3}, 40);
            assertNull(store.get(KEY, 30));
            assertEquals(40, store.get(KEY).timestamp());
            store.close();
        }
    }

    /** Killed after a version was written, and before the one that it ends was: the record comes again. */
    @Test
    void aVersionWithoutItsEndGetsOneWhenTheRecordComesAgain() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            HeartwoodVersionedStore store =
                    new StoreContext(directory.path(), Map.of()).open(new HeartwoodVersionedStore("s", RETENTION));
            store.put(KEY, new byte[] {1}, 10);
            store.table().put(VersionKeys.tableKey(KEY.get(), 20), VersionKeys.tableValue(VersionKeys.UNDEFINED, new byte[] {2}));
            store.put(KEY, new byte[] {2}, 20);
            assertEquals(Optional.of(20L), store.get(KEY, 15).validTo());
            assertEquals(Optional.empty(), store.get(KEY, 20).validTo());
            store.close();
        }
    }

    /** A query with this bound must not be answered without the record. */
    @Test
    void thePositionDoesNotMoveBeforeTheRecordIsWritten() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodVersionedStore store = context.open(new HeartwoodVersionedStore("s", RETENTION));
            context.processing(7, 10);
            store.put(KEY, new byte[] {1}, 10);
            Position before = store.getPosition().copy();
            context.processing(8, 20);
            Bytes tooLong = Bytes.wrap(new byte[KeyValueStore.KEY_BYTES_MAX]);
            assertThrows(RuntimeException.class, () -> store.put(tooLong, new byte[] {1}, 20));
            assertEquals(before, store.getPosition());
            store.put(KEY, new byte[] {1}, 20);
            assertEquals(Position.emptyPosition().withComponent("input", 0, 8), store.getPosition());
            store.close();
        }
    }
}
