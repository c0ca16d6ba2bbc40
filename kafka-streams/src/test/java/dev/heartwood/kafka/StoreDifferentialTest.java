package dev.heartwood.kafka;

import dev.heartwood.testkit.Campaign;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.kafka.common.serialization.BytesSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreSupplier;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.SessionKeySchema;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.Test;

/**
 * Random operations on Heartwood's stores and on Kafka Streams' own, with commits, expiry, reopens and restores in
 * between. Versioned stores have a model in {@link VersionedStoreTest}.
 */
class StoreDifferentialTest {
    private static final int CASES = 2;
    private static final int OPERATIONS = 1_200;
    private static final Duration RETENTION = Duration.ofMinutes(5);
    private static final Duration WINDOW = Duration.ofSeconds(10);

    /** One kind of random operation, given the current time of the stream. */
    private interface Operations<S extends StateStore> {
        void next(StorePair<S> pair, SplittableRandom random, long now);

        /** Both stores are about to be opened again, and forget their time. */
        default void reopening() {}

        /** All that a store shows, as records of its changelog; who restores them has seen the latest of them. */
        List<KeyValue<byte[], byte[]>> changelog(S store);
    }

    private static <K> List<KeyValue<byte[], byte[]>> changelog(
            KeyValueIterator<K, byte[]> entries, Function<K, byte[]> changelogKey) {
        List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
        try (entries) {
            entries.forEachRemaining(entry -> changelog.add(KeyValue.pair(changelogKey.apply(entry.key), entry.value)));
        }
        return changelog;
    }

    private static <S extends StateStore> void run(
            StoreSupplier<S> ours, StoreSupplier<S> theirs, Operations<S> operations) {
        Campaign.run(StoreDifferentialTest.class, CASES, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            try (StorePair<S> pair = new StorePair<>(random, ours, theirs)) {
                long now = 1_000_000;
                for (int i = 0; i < Campaign.operations(OPERATIONS); i++) {
                    now += random.nextInt(500) == 0 ? RETENTION.toMillis() : random.nextInt(1_500);
                    if (random.nextInt(300) == 0) {
                        operations.reopening();
                        pair.reopen();
                    } else if (random.nextInt(300) == 0) {
                        operations.reopening();
                        pair.restore(operations::changelog);
                    } else if (random.nextInt(60) == 0) {
                        pair.commit();
                    } else {
                        operations.next(pair, random, now);
                    }
                }
            }
        });
    }

    @Test
    void keyValueStoresAreTheSame() {
        run(HeartwoodStores.persistentKeyValueStore("s"), Stores.persistentKeyValueStore("s"), new KeyValues());
    }

    @Test
    void windowStoresAreTheSame() {
        run(
                HeartwoodStores.persistentWindowStore("s", RETENTION, WINDOW, false),
                Stores.persistentWindowStore("s", RETENTION, WINDOW, false),
                new WindowOperations(false));
    }

    @Test
    void windowStoresThatRetainDuplicatesAreTheSame() {
        run(
                HeartwoodStores.persistentWindowStore("s", RETENTION, WINDOW, true),
                Stores.persistentWindowStore("s", RETENTION, WINDOW, true),
                new WindowOperations(true));
    }

    @Test
    void sessionStoresAreTheSame() {
        run(
                HeartwoodStores.persistentSessionStore("s", RETENTION),
                Stores.persistentSessionStore("s", RETENTION),
                new SessionOperations());
    }

    private static final class KeyValues implements Operations<KeyValueStore<Bytes, byte[]>> {
        @Override
        public List<KeyValue<byte[], byte[]>> changelog(KeyValueStore<Bytes, byte[]> store) {
            return StoreDifferentialTest.changelog(store.all(), Bytes::get);
        }

        @Override
        public void next(StorePair<KeyValueStore<Bytes, byte[]>> pair, SplittableRandom random, long now) {
            Bytes key = pair.key();
            Bytes other = pair.key();
            // Kafka Streams' own stores show too much for prefixes that end in the greatest byte.
            Bytes prefix = key.get()[key.get().length - 1] == (byte) 0xff ? Bytes.wrap(new byte[] {'a'}) : key;
            byte[] value = pair.value();
            byte[] second = pair.value();
            Bytes from = pair.bound();
            Bytes to = pair.bound();
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> pair.same("put", s -> {
                    s.put(key, value);
                    return null;
                });
                case 4 -> pair.same("putIfAbsent", s -> s.putIfAbsent(key, value));
                case 5 -> pair.same("putAll", s -> {
                    s.putAll(List.of(KeyValue.pair(key, value), KeyValue.pair(other, second)));
                    return null;
                });
                case 6 -> pair.same("delete", s -> s.delete(key));
                case 7 -> pair.same("get", s -> s.get(key));
                case 8 -> pair.sameEntries("range", s -> s.range(from, to));
                case 9 -> pair.sameEntries("reverseRange", s -> s.reverseRange(from, to));
                case 10 -> pair.sameEntries("prefixScan", s -> s.prefixScan(prefix, new BytesSerializer()));
                default -> {
                    pair.sameEntries("all", KeyValueStore::all);
                    pair.sameEntries("reverseAll", KeyValueStore::reverseAll);
                }
            }
        }
    }

    private record WindowOperations(boolean retainsDuplicates) implements Operations<WindowStore<Bytes, byte[]>> {
        @Override
        public List<KeyValue<byte[], byte[]>> changelog(WindowStore<Bytes, byte[]> store) {
            AtomicInteger sequenceNumber = new AtomicInteger();
            return StoreDifferentialTest.changelog(
                    store.all(),
                    window -> WindowKeySchema.toStoreKeyBinary(
                                    window.key(),
                                    window.window().start(),
                                    retainsDuplicates ? sequenceNumber.incrementAndGet() : 0)
                            .get());
        }

        @Override
        public void next(StorePair<WindowStore<Bytes, byte[]>> pair, SplittableRandom random, long now) {
            Bytes key = pair.key();
            byte[] value = pair.value();
            Bytes keyFrom = pair.bound();
            Bytes keyTo = pair.bound();
            long time = Math.max(0, now - random.nextLong(RETENTION.toMillis() * 3 / 2));
            long putTime = random.nextBoolean() ? now : time;
            long from = now - random.nextLong(RETENTION.toMillis() * 2);
            long to = from + random.nextLong(RETENTION.toMillis());
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> pair.same("put", s -> {
                    s.put(key, value, putTime);
                    return null;
                });
                case 4 -> pair.same("fetch one", s -> s.fetch(key, time));
                case 5 -> {
                    pair.sameEntries("fetch", s -> s.fetch(key, from, to));
                    pair.sameEntries("backwardFetch", s -> s.backwardFetch(key, from, to));
                }
                case 6 -> pair.sameEntries("fetch keys", s -> s.fetch(keyFrom, keyTo, from, to));
                case 7 -> pair.sameEntries(
                        "backwardFetch " + keyFrom + ".." + keyTo + " at " + from + ".." + to,
                        s -> s.backwardFetch(keyFrom, keyTo, from, to));
                case 8 -> {
                    pair.sameEntries("fetchAll", s -> s.fetchAll(from, to));
                    pair.sameEntries("backwardFetchAll", s -> s.backwardFetchAll(from, to));
                }
                default -> {
                    pair.sameEntries("all", WindowStore::all);
                    pair.sameEntries("backwardAll", WindowStore::backwardAll);
                }
            }
        }
    }

    private static final class SessionOperations implements Operations<SessionStore<Bytes, byte[]>> {
        /** The time of both stores. */
        private long observedTime = -1;

        @Override
        public void reopening() {
            observedTime = -1;
        }

        @Override
        public List<KeyValue<byte[], byte[]>> changelog(SessionStore<Bytes, byte[]> store) {
            return StoreDifferentialTest.changelog(
                    store.findSessions(null, null, 0, Long.MAX_VALUE),
                    session -> {
                        observedTime = Math.max(observedTime, session.window().end());
                        return SessionKeySchema.toBinary(session).get();
                    });
        }

        @Override
        public void next(StorePair<SessionStore<Bytes, byte[]>> pair, SplittableRandom random, long now) {
            Bytes key = pair.key();
            byte[] value = pair.value();
            Bytes keyFrom = pair.bound();
            Bytes keyTo = pair.bound();
            long end = random.nextBoolean() ? now : now - random.nextLong(RETENTION.toMillis() * 3 / 2);
            long start = end - random.nextLong(20_000);
            long earliestEnd = now - random.nextLong(RETENTION.toMillis() * 2);
            long latestStart = earliestEnd + random.nextLong(RETENTION.toMillis());
            Windowed<Bytes> session = new Windowed<>(key, new SessionWindow(start, end));
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> {
                    observedTime = Math.max(observedTime, end);
                    pair.same("put", s -> {
                        s.put(session, value);
                        return null;
                    });
                }
                case 4 -> {
                    // Kafka Streams' own stores let nothing expire when a removal raises their time, until the next put.
                    if (end <= observedTime) {
                        pair.same("remove", s -> {
                            s.remove(session);
                            return null;
                        });
                    }
                }
                case 5 -> pair.same("fetchSession", s -> s.fetchSession(key, start, end));
                case 6 -> {
                    pair.sameEntries("findSessions", s -> s.findSessions(key, earliestEnd, latestStart));
                    pair.sameEntries("backwardFindSessions", s -> s.backwardFindSessions(key, earliestEnd, latestStart));
                }
                case 7 -> pair.sameEntries(
                        "findSessions keys", s -> s.findSessions(keyFrom, keyTo, earliestEnd, latestStart));
                case 8 -> pair.sameEntries(
                        "backwardFindSessions keys", s -> s.backwardFindSessions(keyFrom, keyTo, earliestEnd, latestStart));
                default -> {
                    pair.sameEntries("fetch", s -> s.fetch(key));
                    pair.sameEntries("fetch keys", s -> s.fetch(keyFrom, keyTo));
                    pair.sameEntries("backwardFetch", s -> s.backwardFetch(key));
                }
            }
        }
    }
}
