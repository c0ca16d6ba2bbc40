package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every kind of operator gives the same records, one by one, on Heartwood's stores and on Kafka Streams' own. */
class TopologyTest {
    private static final int RECORDS = 400;
    private static final long CACHE_BYTES = 10 << 20;

    @ParameterizedTest
    @EnumSource(Topologies.class)
    void underAtLeastOnceTheRecordsAreTheSame(Topologies topology) {
        compare(topology, StreamsConfig.AT_LEAST_ONCE);
    }

    @ParameterizedTest
    @EnumSource(names = {"COUNT", "TUMBLING", "SESSIONS", "TUMBLING_ON_CLOSE_NO_GRACE", "SESSIONS_ON_CLOSE", "STREAM_STREAM_OUTER", "FOREIGN_KEY"})
    void underExactlyOnceTheRecordsAreTheSame(Topologies topology) {
        compare(topology, StreamsConfig.EXACTLY_ONCE_V2);
    }

    /** Values carry headers then, and stores of another format are asked for. */
    @ParameterizedTest
    @EnumSource(names = {"COUNT", "TUMBLING", "SESSIONS", "STREAM_STREAM_OUTER"})
    void withHeadersInTheStoresTheRecordsAreTheSame(Topologies topology) {
        Map<String, Object> configs = configs(StreamsConfig.AT_LEAST_ONCE, CACHE_BYTES);
        configs.put(StreamsConfig.DSL_STORE_FORMAT_CONFIG, StreamsConfig.DSL_STORE_FORMAT_HEADERS);
        compare(topology, configs);
    }

    private static void compare(Topologies topology, String guarantee) {
        compare(topology, configs(guarantee, CACHE_BYTES));
        if (topology.isEmittedOnClose()) {
            // Without the cache above, the stores have the record by which windows close before these are looked for.
            compare(topology, configs(guarantee, 0));
        }
    }

    private static Map<String, Object> configs(String guarantee, long cacheBytes) {
        Map<String, Object> configs = new HashMap<>();
        configs.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        configs.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        return configs;
    }

    private static void compare(Topologies topology, Map<String, Object> configs) {
        Campaign.run(TopologyTest.class, 1, seed -> {
            Properties heartwood = properties(configs);
            heartwood.put(
                    StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, HeartwoodDslStoreSuppliers.class.getName());
            heartwood.put(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "64m");
            List<TestRecord<String, String>> ours = run(topology, heartwood, seed);
            List<TestRecord<String, String>> theirs = run(topology, properties(configs), seed);
            assertFalse(theirs.isEmpty(), "the topology writes nothing");
            if (topology.comesByTime()) {
                ours.sort(Comparator.comparing(TestRecord::toString));
                theirs.sort(Comparator.comparing(TestRecord::toString));
            }
            for (int i = 0; i < Math.min(ours.size(), theirs.size()); i++) {
                int number = i;
                assertEquals(theirs.get(i), ours.get(i), () -> topology + ", record " + number);
            }
            assertEquals(theirs.size(), ours.size());
        });
        assertEquals(0, SharedEnvironment.openCount(), "the environment has closed with its last store");
    }

    private static Properties properties(Map<String, Object> configs) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "topology");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
        properties.putAll(configs);
        return properties;
    }

    private static List<TestRecord<String, String>> run(Topologies topology, Properties properties, long seed) {
        try (TestDirectory directory = new TestDirectory("topology")) {
            properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.path().toString());
            StreamsBuilder builder = new StreamsBuilder(
                    new org.apache.kafka.streams.TopologyConfig(new StreamsConfig(properties)));
            topology.build(builder);
            try (TopologyTestDriver driver =
                    new TopologyTestDriver(builder.build(properties), properties, Instant.ofEpochMilli(0))) {
                drive(driver, topology, new SplittableRandom(seed));
                TestOutputTopic<String, String> out =
                        driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
                if (properties.containsKey(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG)) {
                    assertTrue(SharedEnvironment.openCount() > 0 || topology == Topologies.SUPPRESSED, "no store is ours");
                }
                return out.readRecordsToList();
            }
        }
    }

    private static void drive(TopologyTestDriver driver, Topologies topology, SplittableRandom random) {
        boolean hasRight = topology.name().contains("_TABLE") || topology.name().startsWith("STREAM")
                || topology == Topologies.FOREIGN_KEY || topology == Topologies.TABLE_TABLE;
        boolean hasLeft = topology != Topologies.REDUCE_OF_TABLE;
        TestInputTopic<String, String> left = hasLeft ? topic(driver, "left") : null;
        TestInputTopic<String, String> right = hasRight ? topic(driver, "right") : null;
        boolean isMinute = topology.isWithinAMinute();
        long begin = isMinute ? 60_000 : 1_000_000;
        long now = begin;
        for (int i = 0; i < RECORDS; i++) {
            now += isMinute ? random.nextInt(270) : random.nextInt(40) == 0 ? 60_000 : random.nextInt(3_000);
            long late = random.nextInt(4) == 0 ? random.nextInt(isMinute ? 5_000 : 40_000) : 0;
            long time = isMinute ? Math.max(begin, now - late) : now - late;
            String key = "k" + random.nextInt(7);
            String value = "v" + random.nextInt(1_000);
            boolean toLeft = right == null || left != null && random.nextBoolean();
            boolean isDelete = random.nextInt(6) == 0
                    && (topology == Topologies.TABLE_TABLE || topology == Topologies.FOREIGN_KEY || !toLeft);
            Headers headers = new RecordHeaders().add("number", Integer.toString(i).getBytes());
            TestRecord<String, String> record = new TestRecord<>(key, isDelete ? null : value, headers, time);
            (toLeft ? left : right).pipeInput(record);
        }
    }

    private static TestInputTopic<String, String> topic(TopologyTestDriver driver, String name) {
        return driver.createInputTopic(name, new StringSerializer(), new StringSerializer());
    }

    /** A key of the configuration that is misspelt or out of range is refused by name when the topology is built. */
    @ParameterizedTest
    @CsvSource({
        "heartwood.memory.max.bytes, 1k, below the least",
        "heartwood.memory.max.bytes, lots, not a size",
        "heartwood.workers, 0, not within",
        "heartwood.workers, two, a number is needed",
        "heartwood.device, floppy, one of",
        "heartwood.memtable.bytes, 1, not 0 nor within",
        "heartwood.memory.max, 64m, there is no such key"
    })
    void aWrongConfigurationIsRefused(String key, String value, String reason) {
        ConfigException refused = Assertions.assertThrows(
                ConfigException.class,
                () -> new HeartwoodDslStoreSuppliers().configure(Map.of(key, value)));
        assertTrue(refused.getMessage().contains(key), refused::getMessage);
        assertTrue(refused.getMessage().contains(reason), refused::getMessage);
    }

    @Test
    void configurationIsReadFromTextAndFromNumbers() {
        HeartwoodStoreConfig config = HeartwoodStoreConfig.of(Map.of(
                HeartwoodStoreConfig.MEMORY_MAX_BYTES, 64L << 20,
                HeartwoodStoreConfig.WORKERS, 3,
                HeartwoodStoreConfig.IO_MODE, "direct",
                HeartwoodStoreConfig.FREE_SPACE, "return",
                HeartwoodStoreConfig.COMPACTION_POLICY, "lazy_leveling",
                HeartwoodStoreConfig.DEVICE, "posix"));
        assertEquals(64L << 20, config.environment().memory().bytes());
        assertEquals(3, config.environment().workers());
        assertEquals("DIRECT", config.store().ioMode().name());
        assertEquals("RETURN", config.store().freeSpace().name());
        assertEquals("LAZY_LEVELING", config.store().policy().name());
        assertEquals("POSIX", config.environment().device().name());
    }
}
