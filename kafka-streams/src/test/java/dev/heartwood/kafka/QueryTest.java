package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.PositionSerde;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Interactive queries of the second version, and readers beside the writer. */
class QueryTest {
    private static final int CLOSINGS = 20;
    private static final int WALKERS = 2;

    private final TestDirectory directory = new TestDirectory("query");
    private final StoreContext context = new StoreContext(directory.path(), Map.of());

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private static Bytes bytes(String text) {
        return Bytes.wrap(text.getBytes());
    }

    private static <R> QueryResult<R> ask(StateStore store, Query<R> query) {
        return store.query(query, PositionBound.unbounded(), new QueryConfig(true));
    }

    private static <K> List<K> keys(KeyValueIterator<K, byte[]> iterator) {
        List<K> keys = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(entry -> keys.add(entry.key));
        }
        return keys;
    }

    @Test
    void keyValueStoresAnswerByKeyAndByRange() {
        HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        for (String key : List.of("a", "b", "c")) {
            store.put(bytes(key), key.getBytes());
        }
        QueryResult<byte[]> one = ask(store, KeyQuery.<Bytes, byte[]>withKey(bytes("b")));
        assertArrayEquals("b".getBytes(), one.getResult());
        assertFalse(one.getExecutionInfo().isEmpty());
        RangeQuery<Bytes, byte[]> upToB = RangeQuery.withUpperBound(bytes("b"));
        assertEquals(List.of(bytes("a"), bytes("b")), keys(ask(store, upToB).getResult()));
        assertEquals(
                List.of(bytes("b"), bytes("a")),
                keys(ask(store, upToB.withDescendingKeys()).getResult()));
        store.close();
    }

    @Test
    void windowStoresAnswerByKeyAndByTime() {
        WindowStore<Bytes, byte[]> store = context.open(HeartwoodStores.persistentWindowStore(
                        "s", Duration.ofMinutes(10), Duration.ofSeconds(1), false)
                .get());
        store.put(bytes("a"), new byte[1], 1_000);
        store.put(bytes("a"), new byte[1], 2_000);
        store.put(bytes("b"), new byte[1], 2_000);
        Instant from = Instant.ofEpochMilli(1_500);
        Instant to = Instant.ofEpochMilli(5_000);
        // The bounds change places each time that such a query is made; Kafka Streams makes it twice before it asks the store.
        WindowKeyQuery<Bytes, byte[]> ofKey = WindowKeyQuery.withKeyAndWindowStartRange(bytes("a"), to, from);
        assertEquals(List.of(2_000L), keys(ask(store, ofKey).getResult()));
        List<Windowed<Bytes>> all = keys(ask(store, WindowRangeQuery.<Bytes, byte[]>withWindowStartRange(from, to))
                .getResult());
        assertEquals(List.of(bytes("a"), bytes("b")), all.stream().map(Windowed::key).toList());
        store.close();
    }

    @Test
    void sessionStoresAnswerByKey() {
        SessionStore<Bytes, byte[]> store = context.open(
                HeartwoodStores.persistentSessionStore("s", Duration.ofMinutes(10)).get());
        store.put(new Windowed<>(bytes("a"), new SessionWindow(1, 2)), new byte[1]);
        store.put(new Windowed<>(bytes("b"), new SessionWindow(1, 2)), new byte[1]);
        List<Windowed<Bytes>> found = keys(
                ask(store, WindowRangeQuery.<Bytes, byte[]>withKey(bytes("a"))).getResult());
        assertEquals(List.of(new Windowed<>(bytes("a"), new SessionWindow(1, 2))), found);
        store.close();
    }

    @Test
    void aQueryIsRefusedUntilTheStoreIsAtItsBound() {
        HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        context.processing(4, 0);
        store.put(bytes("a"), new byte[1]);
        PositionBound five = PositionBound.at(Position.emptyPosition().withComponent("input", 0, 5));
        Query<byte[]> query = KeyQuery.<Bytes, byte[]>withKey(bytes("a"));
        QueryResult<byte[]> early = store.query(query, five, new QueryConfig(false));
        assertEquals(FailureReason.NOT_UP_TO_BOUND, early.getFailureReason());
        context.processing(5, 0);
        store.put(bytes("b"), new byte[1]);
        assertTrue(store.query(query, five, new QueryConfig(false)).isSuccess());
        store.close();
        QueryResult<byte[]> closed = store.query(query, PositionBound.unbounded(), new QueryConfig(false));
        assertEquals(FailureReason.STORE_EXCEPTION, closed.getFailureReason());
    }

    /** Who asks for the position of a record that came too late waits for nothing: it changes nothing. */
    @Test
    void aRecordThatHasExpiredMovesThePositionToo() {
        StoreContext standby = new StoreContext(
                directory.path(), Map.of(StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, "true"));
        HeartwoodWindowStore store = (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "w", Duration.ofMinutes(1), Duration.ofSeconds(1), false)
                .get();
        standby.open(store);
        standby.processing(4, 0);
        store.put(bytes("a"), new byte[1], 100_000);
        standby.processing(5, 0);
        store.put(bytes("a"), new byte[1], 10_000);
        assertEquals(Position.emptyPosition().withComponent("input", 0, 5), store.getPosition());
        byte[] late = WindowKeySchema.toStoreKeyBinary(bytes("a"), 20_000, 0).get();
        standby.streams().restoreWithHeaders("w", List.of(restored(late, 6)));
        assertEquals(Position.emptyPosition().withComponent("input", 0, 6), store.getPosition());
        assertEquals(1, Counted.entries(store.all()));
        store.close();
    }

    /** Of a standby the position ran ahead of what a batch had written, and the answer was from before the record that it was asked for. */
    @Test
    void aQueryIsRefusedWhileARestoredRecordIsNotWritten() {
        StoreContext standby = new StoreContext(
                directory.path(), Map.of(StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, "true"));
        HeartwoodKeyValueStore store = standby.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        standby.streams().restoreWithHeaders("s", List.of(restored("a".getBytes(), 4)));
        assertEquals(Position.emptyPosition().withComponent("input", 0, 4), store.getPosition());
        Query<byte[]> query = KeyQuery.<Bytes, byte[]>withKey(bytes("a"));
        PositionBound five = PositionBound.at(Position.emptyPosition().withComponent("input", 0, 5));
        List<FailureReason> asked = new ArrayList<>();
        List<ConsumerRecord<byte[], byte[]>> batch = List.of(restored("a".getBytes(), 5), restored("b".getBytes(), 6));
        standby.streams().restoreWithHeaders("s", new AbstractList<>() {
            @Override
            public ConsumerRecord<byte[], byte[]> get(int index) {
                if (index > 0) {
                    asked.add(store.query(query, five, new QueryConfig(false)).getFailureReason());
                }
                return batch.get(index);
            }

            @Override
            public int size() {
                return batch.size();
            }
        });
        assertEquals(List.of(FailureReason.NOT_UP_TO_BOUND), asked);
        assertArrayEquals(new byte[] {5}, store.query(query, five, new QueryConfig(false)).getResult());
        store.close();
    }

    /** A changelog's record whose value says at which position of the input it was written. */
    private static ConsumerRecord<byte[], byte[]> restored(byte[] key, int offset) {
        Position position = Position.emptyPosition().withComponent("input", 0, offset);
        RecordHeaders headers = new RecordHeaders();
        headers.add(ChangelogRecordDeserializationHelper.CHANGELOG_VERSION_HEADER_RECORD_CONSISTENCY);
        headers.add(
                ChangelogRecordDeserializationHelper.CHANGELOG_POSITION_HEADER_KEY,
                PositionSerde.serialize(position).array());
        return new ConsumerRecord<>(
                "changelog",
                0,
                offset,
                0L,
                TimestampType.CREATE_TIME,
                0,
                0,
                key,
                new byte[] {(byte) offset},
                headers,
                Optional.empty());
    }

    /** The writer holds the table's lock; readers come and go meanwhile. */
    @Test
    void readersDoNotWaitForTheWriter() {
        HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
        store.put(bytes("a"), new byte[] {7});
        AtomicBoolean isRead = new AtomicBoolean();
        synchronized (store.table()) {
            CompletableFuture.runAsync(() -> {
                        assertArrayEquals(new byte[] {7}, store.get(bytes("a")));
                        assertEquals(List.of(bytes("a")), keys(store.all()));
                        assertTrue(ask(store, KeyQuery.<Bytes, byte[]>withKey(bytes("a"))).isSuccess());
                        isRead.set(true);
                    })
                    .join();
        }
        assertTrue(isRead.get());
        store.close();
    }

    /** Whoever walks a store when it closes hears of it by an exception of Kafka Streams, whatever it is in the midst of. */
    @Test
    void aStoreThatClosesEndsTheWalksOfOtherThreads() {
        for (int round = 0; round < CLOSINGS; round++) {
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            for (int i = 0; i < 500; i++) {
                store.put(bytes("k" + i), new byte[100]);
            }
            CountDownLatch walking = new CountDownLatch(WALKERS);
            try (ExecutorService threads = Executors.newFixedThreadPool(WALKERS)) {
                List<CompletableFuture<Throwable>> ends = new ArrayList<>();
                for (int i = 0; i < WALKERS; i++) {
                    ends.add(CompletableFuture.runAsync(() -> walk(store, walking), threads)
                            .handle((nothing, failure) -> failure.getCause()));
                }
                await(walking);
                store.close();
                ends.forEach(end -> assertInstanceOf(InvalidStateStoreException.class, end.join()));
            }
        }
    }

    /** Walks again and again until it fails. */
    private static void walk(HeartwoodKeyValueStore store, CountDownLatch walking) {
        boolean isWalking = false;
        while (true) {
            try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
                while (all.hasNext()) {
                    assertEquals(100, all.next().value.length);
                    if (!isWalking) {
                        isWalking = true;
                        walking.countDown();
                    }
                }
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
