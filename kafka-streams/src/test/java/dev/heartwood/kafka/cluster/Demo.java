package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A broker and a small application, on Heartwood and on Kafka Streams' own RocksDB stores, one after the other: how fast each processes,
 * how fast it restores, how much it replays after a kill, and what it takes of memory and disk.
 */
public final class Demo {
    private static final int PARTITIONS = 2;
    private static final int VALUE_BYTES = 100;

    private final int records;
    private final int keys;
    private final String memory;
    private final Path directory;

    private Demo(int records, int keys, String memory, Path directory) {
        this.records = records;
        this.keys = keys;
        this.memory = memory;
        this.directory = directory;
    }

    /** Options: --records N, --keys N, --memory SIZE, --dir DIRECTORY (emptied at the end). */
    public static void main(String[] arguments) throws IOException {
        int records = 300_000;
        int keys = 100_000;
        String memory = "64m";
        Path parent = Path.of("").toAbsolutePath();
        for (int i = 0; i < arguments.length; i += 2) {
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            try {
                switch (arguments[i]) {
                    case "--records" -> records = Integer.parseInt(value.replace("k", "000").replace("m", "000000"));
                    case "--keys" -> keys = Integer.parseInt(value.replace("k", "000").replace("m", "000000"));
                    case "--memory" -> memory = value;
                    case "--dir" -> parent = Path.of(value).toAbsolutePath();
                    default -> throw new IllegalArgumentException(arguments[i]);
                }
            } catch (IllegalArgumentException e) {
                System.err.println("usage: kafka-demo [--records N] [--keys N] [--memory SIZE] [--dir DIRECTORY]");
                System.exit(2);
            }
        }
        Path directory = Files.createTempDirectory(Files.createDirectories(parent), "kafka-demo");
        try {
            new Demo(records, keys, memory, directory).run();
        } finally {
            delete(directory);
        }
    }

    private void run() {
        System.out.printf(
                "%,d records of %d bytes for %,d keys; heartwood.memory.max.bytes=%s%n", records, VALUE_BYTES, keys, memory);
        System.out.printf("%n%-34s%14s%14s%n", "", "heartwood", "rocksdb");
        Result heartwood = measure("heartwood");
        Result rocksdb = measure("rocksdb");
        print("processing, records/s", heartwood.perSecond(), rocksdb.perSecond());
        print("replayed after kill -9, records", heartwood.replayed(), rocksdb.replayed());
        print("restore of everything, records/s", heartwood.restoredPerSecond(), rocksdb.restoredPerSecond());
        print("peak memory of the process, MiB", heartwood.memoryMib(), rocksdb.memoryMib());
        print("disk of the state, MiB", heartwood.diskMib(), rocksdb.diskMib());
    }

    /** Measures one kind of store at a broker of its own, so that each kind meets the same records and an equally warm broker. */
    private Result measure(String stores) {
        try (Broker broker = Broker.start(directory.resolve("broker-" + stores))) {
            broker.createTopics(List.of(Workload.LEFT), PARTITIONS);
            produce(broker, 0, records);
            warmUp(broker);
            Path state = directory.resolve(stores);
            try (ApplicationRun application = new ApplicationRun(broker, stores, state, memory)) {
                return measure(broker, application, state);
            }
        }
    }

    /** Has another application read everything, with RocksDB for either kind; not measured. */
    private void warmUp(Broker broker) {
        Path state = directory.resolve("warm-up");
        try (ApplicationRun application = new ApplicationRun(broker, "warm-up", state, memory)) {
            application.start();
            application.awaitConsumed(records);
            application.end();
        }
        delete(state);
    }

    private static void print(String what, long heartwood, long rocksdb) {
        System.out.printf("%-34s%,14d%,14d%n", what, heartwood, rocksdb);
    }

    private record Result(long perSecond, long replayed, long restoredPerSecond, long memoryMib, long diskMib) {}

    /** Runs the application: all records there are, then as many again with a kill, then a restore. */
    private Result measure(Broker broker, ApplicationRun application, Path state) {
        application.start();
        application.awaitRestored();
        long consumedBefore = application.consumed();
        long begin = System.nanoTime();
        application.awaitConsumed(records);
        long perSecond = perSecond(records - consumedBefore, System.nanoTime() - begin);

        // Under load: the rest is produced while the application is killed.
        produce(broker, records, records / 2);
        application.awaitConsumed(records + records / 4);
        long memoryMib = application.memoryPeakMib();
        application.kill();
        application.start();
        long replayed = application.awaitRestored().records();
        produce(broker, records + records / 2, records - records / 2);
        application.awaitConsumed(2L * records);
        memoryMib = Math.max(memoryMib, application.memoryPeakMib());
        application.end();
        long diskMib = size(state) >> 20;

        delete(state);
        application.start();
        ApplicationRun.Restored restored = application.awaitRestored();
        application.end();
        long restoredPerSecond = perSecond(restored.records(), restored.millis() * 1_000_000);
        return new Result(perSecond, replayed, restoredPerSecond, memoryMib, diskMib);
    }

    private static long perSecond(long count, long nanos) {
        return count * 1_000_000_000L / Math.max(1, nanos);
    }

    private void produce(Broker broker, int from, int count) {
        SplittableRandom random = new SplittableRandom(from);
        String filler = "v".repeat(VALUE_BYTES - 12);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.address(), "linger.ms", 20, "batch.size", 1 << 18),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                String key = String.format("key%09d", random.nextInt(keys));
                producer.send(new ProducerRecord<>(Workload.LEFT, key, String.format("%012d", from + i) + filler));
            }
        }
    }

    private static long size(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
