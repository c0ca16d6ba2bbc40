package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.KeyValueStore;
import dev.heartwood.kafka.VersionsModel.Shown;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.junit.jupiter.api.Test;

/** A versioned store against a map of maps, with records that come late, deletions, merges and reopens. */
class VersionedStoreTest {
    private static final long RETENTION = 10_000;

    private final VersionsModel model = new VersionsModel(RETENTION);

    @Test
    void versionsAreThoseOfTheModel() {
        Campaign.run(getClass(), 4, seed -> new VersionedStoreTest().run(seed));
    }

    /** A merge may drop a deletion and leave the version that it had ended: one that comes late, between the two, ends there as well. */
    @Test
    void aVersionThatComesLateEndsWhereTheOneBeforeItDid() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            HeartwoodVersionedStore store =
                    new StoreContext(directory.path(), Map.of()).open(new HeartwoodVersionedStore("s", RETENTION));
            Bytes key = Bytes.wrap(new byte[1]);
            byte[] value = {1};
            store.put(key, value, 10);
            store.put(key, null, 20);
            store.table().put(VersionKeys.tableKey(key.get(), 20), null);
            assertEquals(20, store.put(key, value, 15));
            assertNull(store.get(key));
            assertEquals(20, store.get(key, 17).validTo().orElseThrow());
            assertEquals(15, store.get(key, 12).validTo().orElseThrow());
            store.close();
        }
    }

    /** They were acknowledged and never shown. */
    @Test
    void versionsOfBeforeAllTimeAreRefusedAndCounted() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodVersionedStore store = context.open(new HeartwoodVersionedStore("s", RETENTION));
            Bytes key = Bytes.wrap(new byte[1]);
            byte[] value = {1};
            context.processing(7, 0);
            assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT, store.put(key, value, -5));
            assertNull(store.delete(key, -5));
            assertEquals(Position.emptyPosition().withComponent("input", 0, 7), store.getPosition());
            assertEquals(2, dropped(context));
            assertNull(store.get(key));
            assertNull(store.get(key, -3));
            assertEquals(VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED, store.put(key, value, 0));
            assertEquals(1, store.table().entriesEstimate());
            store.close();
        }
    }

    private static double dropped(StoreContext context) {
        return context.streams().metrics().metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("dropped-records-total"))
                .mapToDouble(metric -> (double) metric.metricValue())
                .sum();
    }

    private void run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        try (TestDirectory directory = new TestDirectory("versions")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodVersionedStore store = context.open(new HeartwoodVersionedStore("s", RETENTION));
            long now = 50_000;
            for (int i = 0; i < Campaign.operations(2_000); i++) {
                now += random.nextInt(40);
                long time = model.notGone(now - (random.nextBoolean() ? 0 : random.nextLong(RETENTION * 5 / 4)));
                Bytes key = Bytes.wrap(new byte[random.nextInt(6)]);
                switch (random.nextInt(100)) {
                    case 0 -> {
                        store.commit(Map.of(StoreContext.CHANGELOG, (long) i));
                        store.close();
                        context.open(store);
                        model.reopened();
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
                assertEquals(model.put(key, value, time), store.put(key, value, time));
            }
            case 3 -> VersionsModel.check(model.latest(key), store.get(key));
            case 4 -> VersionsModel.check(model.asOf(key, time), store.get(key, time));
            default -> checkQuery(store, key, time, random);
        }
    }

    /** Versions that were valid within a span of the history. */
    private void checkQuery(HeartwoodVersionedStore store, Bytes key, long time, SplittableRandom random) {
        long from = Math.max(time, model.streamTime() - RETENTION);
        long to = from + random.nextLong(RETENTION);
        List<Shown> expected = model.within(key, from, to);
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
            versions.forEachRemaining(record -> found.add(VersionsModel.shown(record)));
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

    /** A query that comes between the two writes showed a version beside the one that had ended it. */
    @Test
    void aVersionWithoutItsEndEndsWhereTheNextBegins() {
        try (TestDirectory directory = new TestDirectory("versions")) {
            HeartwoodVersionedStore store =
                    new StoreContext(directory.path(), Map.of()).open(new HeartwoodVersionedStore("s", RETENTION));
            store.put(KEY, new byte[] {1}, 10);
            store.put(KEY, new byte[] {4}, 40);
            store.table().put(VersionKeys.tableKey(KEY.get(), 20), VersionKeys.tableValue(40, new byte[] {2}));
            store.table().put(VersionKeys.tableKey(KEY.get(), 60), VersionKeys.tableValue(VersionKeys.UNDEFINED, null));
            assertEquals(List.of("10-20"), spans(store, 12, 15));
            assertEquals(List.of("20-40"), spans(store, 25, 30));
            assertEquals(List.of("20-40", "40-60"), spans(store, 35, 50));
            assertEquals(List.of(), spans(store, 60, 70));
            store.close();
        }
    }

    /** Which versions a query shows, in either order, as from when to when. */
    private static List<String> spans(HeartwoodVersionedStore store, long from, long to) {
        MultiVersionedKeyQuery<Bytes, byte[]> query = MultiVersionedKeyQuery.<Bytes, byte[]>withKey(KEY)
                .fromTime(Instant.ofEpochMilli(from))
                .toTime(Instant.ofEpochMilli(to));
        List<String> ascending = spans(store, query.withAscendingTimestamps());
        assertEquals(ascending.reversed(), spans(store, query.withDescendingTimestamps()));
        return ascending;
    }

    private static List<String> spans(HeartwoodVersionedStore store, MultiVersionedKeyQuery<Bytes, byte[]> query) {
        List<String> spans = new ArrayList<>();
        try (VersionedRecordIterator<byte[]> versions =
                store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult()) {
            versions.forEachRemaining(version ->
                    spans.add(version.timestamp() + "-" + version.validTo().orElse(VersionKeys.UNDEFINED)));
        }
        return spans;
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
