package dev.heartwood.kafka;

import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.internals.ThreadCache;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.MockRecordCollector;

/** What Kafka Streams gives a store: a task's directory, a configuration, metrics, and a record being processed. */
final class StoreContext {
    static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);
    private static final TaskId GLOBAL = new TaskId(-1, -1);

    private final InternalMockProcessorContext<?, ?> context;

    /** A context of an instance of its own. */
    StoreContext(Path taskDirectory, Map<String, ?> configs) {
        this(taskDirectory, configs, metrics());
    }

    /** A context of an instance of its own, whose stores lie on the machine; the task's directory itself stays empty. */
    static StoreContext on(SimulatedMachine machine, Path taskDirectory, Map<String, ?> configs) {
        return on(machine, taskDirectory, configs, new TaskId(0, 0));
    }

    /** As the other, as the context of the thread that keeps global stores. */
    static StoreContext globalOn(SimulatedMachine machine, Path directory, Map<String, ?> configs) {
        return on(machine, directory, configs, GLOBAL);
    }

    private static StoreContext on(SimulatedMachine machine, Path directory, Map<String, ?> configs, TaskId task) {
        StreamsMetricsImpl metrics = metrics();
        StoreContext context = new StoreContext(directory, configs, metrics, task);
        HeartwoodStoreConfig config = HeartwoodStoreConfig.of(context.context.appConfigs());
        SharedEnvironment.share(metrics, config, EngineAccess.open(config.environment(), machine));
        return context;
    }

    /** A context of the instance that the metrics belong to. */
    StoreContext(Path taskDirectory, Map<String, ?> configs, StreamsMetricsImpl metrics) {
        this(taskDirectory, configs, metrics, new TaskId(0, 0));
    }

    /** As the context of the thread that keeps global stores. */
    static StoreContext global(Path directory, Map<String, ?> configs) {
        return new StoreContext(directory, configs, metrics(), GLOBAL);
    }

    private StoreContext(Path taskDirectory, Map<String, ?> configs, StreamsMetricsImpl metrics, TaskId task) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
        properties.put(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "32m");
        properties.putAll(configs);
        File directory = taskDirectory.toFile();
        // Without a size there is no cache above the stores.
        long cacheBytes = Long.parseLong(properties.getProperty(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0"));
        try {
            Files.createDirectories(taskDirectory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        context = new InternalMockProcessorContext<>(
                directory,
                Serdes.Bytes(),
                Serdes.ByteArray(),
                metrics,
                new StreamsConfig(properties),
                MockRecordCollector::new,
                new ThreadCache(new LogContext(), cacheBytes, metrics),
                Time.SYSTEM,
                task);
        processing(0, 0);
    }

    static StreamsMetricsImpl metrics() {
        return new StreamsMetricsImpl(new Metrics(), "test", new MockTime());
    }

    InternalMockProcessorContext<?, ?> streams() {
        return context;
    }

    /** The record that is being processed. */
    void processing(long offset, long timestamp) {
        context.setRecordContext(new ProcessorRecordContext(timestamp, offset, 0, "input", new RecordHeaders()));
        context.setTime(timestamp);
    }

    <S extends StateStore> S open(S store) {
        store.init(context, store);
        return store;
    }
}
