package dev.heartwood.kafka.cluster;

import dev.heartwood.kafka.cluster.Counters.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.streams.StreamsConfig;

/** The demonstration's application on one kind of store, through its starts, its kill and its ends. */
final class ApplicationRun implements AutoCloseable {
    private static final long LOOK_MILLIS = 50;
    private static final String HEAP = "256m";
    /** Stores in memory lie on the heap. */
    private static final String HEAP_WITH_STATE = "1g";

    private final Setup setup;
    private final Path output;
    private final Path configuration;
    private final Counters counters;
    private ChildProcess process;
    private int saidBefore;

    /**
     * What is run.
     *
     * @param kind the stores it uses
     * @param workload what it does
     * @param name its name, as the consumer group's
     * @param state the directory of its state; other files of it lie beside that
     * @param configs more of its configuration
     */
    record Setup(StoreKind kind, Workload workload, String name, Path state, Map<String, String> configs) {}

    ApplicationRun(Broker broker, Setup setup) {
        this.setup = setup;
        output = beside("out");
        configuration = beside("properties");
        Path file = beside("counters");
        counters = Counters.open(file);
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, setup.name());
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.address());
        properties.put(StreamsConfig.STATE_DIR_CONFIG, setup.state().toString());
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "500");
        // Or what is measured would be the record cache, which is the same for all stores.
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        properties.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        properties.put(StreamsConfig.consumerPrefix("session.timeout.ms"), "6000");
        properties.put(StreamsConfig.mainConsumerPrefix("interceptor.classes"), CommitCounter.class.getName());
        properties.put(StreamsConfig.producerPrefix("interceptor.classes"), ChangeCounter.class.getName());
        properties.put(Counters.FILE, file.toString());
        setup.kind().configure(properties);
        properties.putAll(setup.configs());
        try (var out = Files.newOutputStream(configuration)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path beside(String suffix) {
        return setup.state().resolveSibling(setup.name() + "." + suffix);
    }

    StoreKind kind() {
        return setup.kind();
    }

    /** The directory of its state. */
    Path state() {
        return setup.state();
    }

    void start() {
        saidBefore = process == null ? 0 : process.said().length();
        counters.begin();
        process = ChildProcess.start(
                output,
                setup.kind() == StoreKind.IN_MEMORY ? HEAP_WITH_STATE : HEAP,
                Application.class.getName(),
                List.of(configuration.toString(), setup.workload().name()));
    }

    /** How many records had been processed at some time, and the processor time that its stream thread had taken. */
    record Moment(long records, long nanos, long streamNanos) {
        long perSecondSince(Moment begin) {
            return (records - begin.records) * 1_000_000_000L / Math.max(1, nanos - begin.nanos);
        }

        long streamNanosPerRecordSince(Moment begin) {
            return (streamNanos - begin.streamNanos) / Math.max(1, records - begin.records);
        }
    }

    /** How far it is. */
    Moment now() {
        return new Moment(processed(), System.nanoTime(), counters.get(Counter.STREAM_NANOS));
    }

    /** How many records it has processed since its start. */
    long processed() {
        return counters.get(Counter.PROCESSED);
    }

    /** Waits until it runs after its last start; returns what it has restored. */
    RestoreTime.Restored awaitRunning() {
        while (true) {
            String said = process.said().substring(saidBefore);
            int running = said.lastIndexOf(Application.RUNNING);
            int at = running < 0 ? -1 : said.lastIndexOf(Application.RESTORED, running);
            if (at >= 0) {
                int from = at + Application.RESTORED.length();
                return RestoreTime.Restored.of(said.substring(from, said.indexOf('\n', from)));
            }
            look();
        }
    }

    /** Leaves the processors to what is measured for a little while; fails when the application has ended. */
    void look() {
        if (process.endsWithin(LOOK_MILLIS)) {
            throw new IllegalStateException("the application has ended: " + process.said());
        }
    }

    /** The most records it has sent to changelogs between two commits, or since the last one. */
    long changesIntervalMax() {
        return Math.max(
                counters.get(Counter.CHANGES_INTERVAL_MAX),
                counters.get(Counter.CHANGES) - counters.get(Counter.CHANGES_COMMITTED));
    }

    /** The most that its stores have used of their budget, in bytes; 0 when they have none. */
    long budgetUsedMaxBytes() {
        return counters.get(Counter.MEMORY_USED_MAX);
    }

    /** The peak of the process's resident memory. */
    long memoryPeakMib() {
        try {
            return Files.readAllLines(Path.of("/proc/" + process.id() + "/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void kill() {
        process.kill();
    }

    void end() {
        process.terminate();
    }

    @Override
    public void close() {
        if (process != null) {
            process.close();
        }
    }
}
