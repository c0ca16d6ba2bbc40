package dev.heartwood.kafka.cluster;

import dev.heartwood.kafka.HeartwoodDslStoreSuppliers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.StreamsConfig;

/** The demonstration's application on one kind of store, through its starts, its kill and its ends. */
final class ApplicationRun implements AutoCloseable {
    private static final long LOOK_MILLIS = 100;

    private final Admin admin;
    private final String stores;
    private final Path output;
    private final Path configuration;
    private ChildProcess process;
    private int saidBefore;

    ApplicationRun(Broker broker, String stores, Path state, String memory) {
        this.admin = broker.admin();
        this.stores = stores;
        output = state.resolveSibling(stores + ".out");
        configuration = state.resolveSibling(stores + ".properties");
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, stores);
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.address());
        properties.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "500");
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        properties.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        properties.put(StreamsConfig.consumerPrefix("session.timeout.ms"), "6000");
        if (stores.equals("heartwood")) {
            properties.put(
                    StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, HeartwoodDslStoreSuppliers.class.getName());
            properties.put("heartwood.memory.max.bytes", memory);
        }
        try (var out = Files.newOutputStream(configuration)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void start() {
        saidBefore = process == null ? 0 : process.said().length();
        process = ChildProcess.start(
                output, "256m", Application.class.getName(), List.of(configuration.toString(), Workload.TABLE.name()));
    }

    /** What a start restored. */
    record Restored(long records, long millis) {}

    /** Waits until the application has committed so many records of its input, and shows how far it is. */
    void awaitConsumed(long records) {
        long consumed = consumed();
        while (consumed < records) {
            look();
            consumed = consumed();
            System.out.printf("\r%-10s %,d of %,d records ", stores, consumed, records);
            System.out.flush();
        }
        clearLine();
    }

    private static void clearLine() {
        System.out.print("\r" + " ".repeat(60) + "\r");
        System.out.flush();
    }

    /** How many records of its input the application has committed. */
    long consumed() {
        try {
            return admin.listConsumerGroupOffsets(stores).partitionsToOffsetAndMetadata().get().entrySet().stream()
                    .filter(entry -> entry.getKey().topic().equals(Workload.LEFT) && entry.getValue() != null)
                    .mapToLong(entry -> entry.getValue().offset())
                    .sum();
        } catch (ExecutionException e) {
            return 0;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Waits until the application runs after its last start; returns what it has restored. */
    Restored awaitRestored() {
        while (true) {
            String said = process.said().substring(saidBefore);
            int running = said.lastIndexOf(Application.RUNNING);
            int at = running < 0 ? -1 : said.lastIndexOf(Application.RESTORED, running);
            if (at >= 0) {
                int from = at + Application.RESTORED.length();
                String[] numbers = said.substring(from, said.indexOf('\n', from)).split(" ");
                return new Restored(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
            }
            look();
        }
    }

    /** Leaves the processors to what is measured before the next look. */
    private void look() {
        if (process.endsWithin(LOOK_MILLIS)) {
            throw new IllegalStateException("the application has ended: " + process.said());
        }
    }

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
        admin.close();
    }
}
