package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.SplittableRandom;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Windows that are emitted when they close, as applications ask for them, below Kafka Streams' cache. */
class ClosingWindowsTest {
    private static final String STORE = "windows";
    private static final int KEYS = 5;

    /** The cache looks into each segment of the range that is fetched: with one for each millisecond an hour took seconds. */
    @ParameterizedTest
    @CsvSource({"300000, 18750", "20000, 1250", "10000, 1000", "1000, 1000", "500, 500", "1, 1"})
    void aWindowHasFewSegments(long windowMillis, long segmentMillis) {
        Duration window = Duration.ofMillis(windowMillis);
        DslWindowParams params = new DslWindowParams(
                STORE, window.multipliedBy(3), window, false, EmitStrategy.onWindowClose(), false, true);
        assertEquals(
                segmentMillis, new HeartwoodDslStoreSuppliers().windowStore(params).segmentIntervalMs());
    }

    @Test
    void whatIsFetchedOfTumblingWindowsIsTheSame() {
        compare(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), Duration.ofMinutes(1)));
    }

    @Test
    void whatIsFetchedOfHoppingWindowsIsTheSame() {
        compare(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), Duration.ofMinutes(1))
                .advanceBy(Duration.ofSeconds(7)));
    }

    private static void compare(TimeWindows windows) {
        Properties heartwood = new Properties();
        heartwood.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, HeartwoodDslStoreSuppliers.class.getName());
        heartwood.put(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "64m");
        List<String> theirs = fetched(windows, new Properties());
        assertFalse(theirs.isEmpty());
        assertEquals(theirs, fetched(windows, heartwood));
    }

    private static List<String> fetched(TimeWindows windows, Properties properties) {
        try (TestDirectory directory = new TestDirectory(STORE)) {
            properties.put(StreamsConfig.APPLICATION_ID_CONFIG, STORE);
            properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
            properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.path().toString());
            StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(properties)));
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .windowedBy(windows)
                    .emitStrategy(EmitStrategy.onWindowClose())
                    .count(Materialized.as(STORE));
            try (TopologyTestDriver driver =
                    new TopologyTestDriver(builder.build(properties), properties, Instant.ofEpochMilli(0))) {
                return fetched(driver);
            }
        }
    }

    private static List<String> fetched(TopologyTestDriver driver) {
        TestInputTopic<String, String> in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
        SplittableRandom random = new SplittableRandom(1);
        List<String> all = new ArrayList<>();
        long now = 100_000_000;
        for (int i = 0; i < 300; i++) {
            now += random.nextInt(10_000);
            in.pipeInput("k" + random.nextInt(KEYS), "v", now - random.nextInt(30_000));
            if (i % 20 == 0) {
                fetch(driver.getWindowStore(STORE), random, now, all);
            }
        }
        return all;
    }

    private static void fetch(ReadOnlyWindowStore<String, Long> store, SplittableRandom random, long now, List<String> into) {
        Instant from = Instant.ofEpochMilli(now - random.nextInt(3_600_000));
        Instant to = Instant.ofEpochMilli(now - random.nextInt(100_000));
        for (int key = 0; key < KEYS; key++) {
            List<String> forwards = times(store.fetch("k" + key, from, to));
            into.add("k" + key + " " + forwards);
            assertEquals(forwards, times(store.backwardFetch("k" + key, from, to)).reversed());
        }
        into.add("range " + sorted(store.fetch("k1", "k3", from, to)));
        into.add("all " + sorted(store.fetchAll(from, to)));
    }

    private static List<String> times(WindowStoreIterator<Long> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining((KeyValue<Long, Long> entry) -> found.add(entry.toString()));
        }
        return found;
    }

    /** Theirs come by key within a time segment. */
    private static <K> List<String> sorted(KeyValueIterator<K, Long> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(entry -> found.add(entry.toString()));
        }
        return found.stream().sorted().toList();
    }
}
