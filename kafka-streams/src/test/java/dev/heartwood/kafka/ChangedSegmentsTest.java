package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.kafka.HeartwoodWindowStore.Duplicates;
import dev.heartwood.kafka.HeartwoodWindowStore.WindowShape;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A retention that changes brings other time segments, by which Kafka Streams' cache above the store goes too. */
class ChangedSegmentsTest {
    private static final long MINUTE = 60_000;
    private static final long BEGIN = 1_000 * MINUTE;

    /** A kind of store with the cache of Kafka Streams above it: how it is opened, written and read. */
    private record Kind<S extends StateStore>(
            BiFunction<Path, Duration, S> opening,
            Put<S> putting,
            Function<S, List<KeyValueIterator<Windowed<String>, String>>> reading) {
        private interface Put<S> {
            void put(S store, String key, int minute, String value);
        }

        /** What a store shows that has had two retentions. */
        List<String> shown(Path directory, Duration first, Duration second) {
            S store = opening.apply(directory, first);
            for (int minute = 0; minute < 30; minute++) {
                for (String key : List.of("a", "b", "c")) {
                    putting.put(store, key, minute, "old");
                }
            }
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            store.close();
            store = opening.apply(directory, second);
            for (int minute = 0; minute < 30; minute += 3) {
                for (String key : List.of("a", "c", "d")) {
                    putting.put(store, key, minute, "new");
                }
            }
            List<String> shown = new ArrayList<>();
            for (KeyValueIterator<Windowed<String>, String> read : reading.apply(store)) {
                try (read) {
                    read.forEachRemaining(entry -> shown.add(
                            entry.key.key() + "@" + (entry.key.window().start() - BEGIN) / MINUTE + "=" + entry.value));
                }
            }
            store.close();
            return shown;
        }
    }

    private static final Kind<WindowStore<String, String>> WINDOWS = new Kind<>(
            ChangedSegmentsTest::windows,
            (store, key, minute, value) -> store.put(key, value, BEGIN + minute * MINUTE),
            store -> List.of(
                    store.all(),
                    store.fetch("a", "c", BEGIN + 2 * MINUTE, BEGIN + 28 * MINUTE),
                    store.backwardFetchAll(BEGIN + 2 * MINUTE, BEGIN + 28 * MINUTE)));

    private static final Kind<SessionStore<String, String>> SESSIONS = new Kind<>(
            ChangedSegmentsTest::sessions,
            (store, key, minute, value) -> store.put(session(key, minute), value),
            store -> List.of(
                    store.findSessions("a", "d", 0, Long.MAX_VALUE),
                    store.backwardFindSessions("a", "c", BEGIN + 2 * MINUTE, BEGIN + 28 * MINUTE),
                    store.fetch("c")));

    /** A store that had another retention shows what one shows that never had, in the same order. */
    private static void compare(Kind<?> kind, long minutesBefore, long minutesAfter) {
        try (TestDirectory directory = new TestDirectory("retention")) {
            Duration before = Duration.ofMinutes(minutesBefore);
            Duration after = Duration.ofMinutes(minutesAfter);
            assertEquals(
                    kind.shown(directory.path().resolve("unchanged"), after, after),
                    kind.shown(directory.path().resolve("changed"), before, after));
        }
    }

    private static StoreContext cached(Path directory) {
        return new StoreContext(directory, Map.of(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "1000000"));
    }

    private static WindowStore<String, String> windows(Path directory, Duration retention) {
        return cached(directory)
                .open(Stores.windowStoreBuilder(
                                HeartwoodStores.persistentWindowStore("windows", retention, Duration.ofMinutes(1), false),
                                Serdes.String(),
                                Serdes.String())
                        .withCachingEnabled()
                        .withLoggingDisabled()
                        .build());
    }

    private static SessionStore<String, String> sessions(Path directory, Duration retention) {
        return cached(directory)
                .open(Stores.sessionStoreBuilder(
                                HeartwoodStores.persistentSessionStore("sessions", retention),
                                Serdes.String(),
                                Serdes.String())
                        .withCachingEnabled()
                        .withLoggingDisabled()
                        .build());
    }

    /** Windows of which the cache had a newer value were shown twice, with the older value too. */
    @ParameterizedTest
    @CsvSource({"40, 200", "200, 40"})
    void aCachedWindowStoreShowsEachWindowOnce(long minutesBefore, long minutesAfter) {
        compare(WINDOWS, minutesBefore, minutesAfter);
    }

    @ParameterizedTest
    @CsvSource({"40, 200", "200, 40"})
    void aCachedSessionStoreShowsEachSessionOnce(long minutesBefore, long minutesAfter) {
        compare(SESSIONS, minutesBefore, minutesAfter);
    }

    private static Windowed<String> session(String key, int minute) {
        return new Windowed<>(key, new SessionWindow(BEGIN + minute * MINUTE, BEGIN + minute * MINUTE + 5));
    }

    private static final int ENTRIES = 4_000;
    private static final long FIRST_SEGMENT_MILLIS = 1_000;

    private static HeartwoodWindowStore windows(Path directory, String guarantee, long segmentMillis) {
        WindowShape shape = new WindowShape(Retention.of(60 * MINUTE), segmentMillis, 1, Duplicates.REPLACE);
        return new StoreContext(directory, Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee))
                .open(HeartwoodWindowStore.of("windows", ValueFormat.PLAIN, shape));
    }

    private static Bytes key(int number) {
        return Bytes.wrap(("key" + number % 7).getBytes());
    }

    private static byte[] value(int number) {
        return (number + "v".repeat(300)).getBytes();
    }

    /** Moves what a store has, and fails at a write. */
    private static void moveAndFail(Path directory, long segmentMillis, int writes) {
        StoreOptions options = StoreOptions.builder()
                .groupSuffixBytes(TableKind.WINDOW.groupSuffixBytes())
                .build();
        try (KeyValueStore store = Heartwood.open(TableOpener.directory(directory.toFile(), "windows"), options)) {
            TableShape to = new TableShape(TableKind.WINDOW, ValueFormat.PLAIN, segmentMillis);
            assertThrows(CutShort.End.class, () -> new SegmentMove(CutShort.after(writes, store), to).run());
        }
    }

    /** Some of the data lies where it was and some where it was to go, which is before the last commit for one length and after it for another. */
    @ParameterizedTest
    @CsvSource({
        "at_least_once, 1000", "at_least_once, 1", "at_least_once, 30000",
        "exactly_once_v2, 1000", "exactly_once_v2, 1", "exactly_once_v2, 30000"
    })
    void aMoveThatWasCutShortGoesOn(String guarantee, long thirdSegmentMillis) {
        try (TestDirectory directory = new TestDirectory("move")) {
            HeartwoodWindowStore store = windows(directory.path(), guarantee, FIRST_SEGMENT_MILLIS);
            for (int i = 0; i < ENTRIES; i++) {
                store.put(key(i), value(i), BEGIN + i * 7L);
            }
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            store.close();
            moveAndFail(directory.path(), 1, 3);
            moveAndFail(directory.path(), 40, 2);

            for (int opening = 0; opening < 2; opening++) {
                store = windows(directory.path(), guarantee, thirdSegmentMillis);
                for (int i = 0; i < ENTRIES; i++) {
                    assertEquals(Bytes.wrap(value(i)), Bytes.wrap(store.fetch(key(i), BEGIN + i * 7L)));
                }
                assertEquals(ENTRIES, Counted.entries(store.all()));
                store.close();
            }
        }
    }

    /** What was written after the last commit is taken back by the segments that it was written to. */
    @ParameterizedTest
    @ValueSource(longs = {1, 30_000})
    void whatWasNotCommittedIsNotMoved(long segmentMillis) {
        try (TestDirectory directory = new TestDirectory("move")) {
            String guarantee = StreamsConfig.EXACTLY_ONCE_V2;
            HeartwoodWindowStore store = windows(directory.path(), guarantee, FIRST_SEGMENT_MILLIS);
            store.put(key(1), value(1), BEGIN + 500);
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            store.put(key(1), value(2), BEGIN + 500);
            store.put(key(1), value(3), BEGIN + 600);
            store.put(key(1), value(4), BEGIN + 1_600);
            store.close();
            for (int opening = 0; opening < 2; opening++) {
                store = windows(directory.path(), guarantee, segmentMillis);
                try (KeyValueIterator<Windowed<Bytes>, byte[]> all = store.all()) {
                    assertEquals(Bytes.wrap(value(1)), Bytes.wrap(all.next().value));
                    assertEquals(false, all.hasNext());
                }
                // Again to all three, in other segments.
                store.put(key(1), value(5), BEGIN + 500);
                store.put(key(1), value(6), BEGIN + 600);
                store.put(key(1), value(7), BEGIN + 1_600);
                store.close();
            }
        }
    }
}
