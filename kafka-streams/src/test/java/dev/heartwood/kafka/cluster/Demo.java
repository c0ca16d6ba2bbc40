package dev.heartwood.kafka.cluster;

import dev.heartwood.ByteSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.apache.kafka.streams.StreamsConfig;

/**
 * A broker and a small application, on Heartwood, on Kafka Streams' own RocksDB stores and on its stores in memory, side by side: how fast each
 * processes, how fast it restores, how much it replays after a kill, and what it takes of memory and disk. Once with state
 * within Heartwood's memory, once with more, and, of tables, once with a hundred stores.
 */
public final class Demo {
    private static final int VALUE_BYTES = 100;
    private static final Set<Workload> COMPARED =
            EnumSet.of(Workload.TABLE, Workload.WINDOWS, Workload.SLIDING, Workload.SESSIONS, Workload.JOIN);
    private static final List<String> GUARANTEES = List.of(StreamsConfig.AT_LEAST_ONCE, StreamsConfig.EXACTLY_ONCE_V2);
    private static final String MEMORY_KEY = "heartwood.memory.max.bytes";

    /** What can be chosen, with its default; {@code --keys} and {@code --memory} are those of the state within memory. */
    private static final class Options {
        int records = 300_000;
        int keys = 100_000;
        int manyKeys = 600_000;
        Workload workload = Workload.TABLE;
        String guarantee = StreamsConfig.AT_LEAST_ONCE;
        String memory = "64m";
        String manyMemory = "24m";
        boolean checks;
        Path directory = Path.of("").toAbsolutePath();

        static Options of(String[] arguments) {
            Options options = new Options();
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i].equals("--check")) {
                    options.checks = true;
                } else {
                    options.set(arguments[i], i + 1 < arguments.length ? arguments[++i] : "");
                }
            }
            return options;
        }

        private void set(String name, String value) {
            switch (name) {
                case "--topology" -> workload = topology(name, value);
                case "--guarantee" -> guarantee = oneOf(name, value, GUARANTEES);
                case "--records" -> records = number(name, value);
                case "--keys" -> keys = number(name, value);
                case "--many-keys" -> manyKeys = number(name, value);
                case "--memory" -> memory = size(name, value);
                case "--many-memory" -> manyMemory = size(name, value);
                case "--dir" -> directory = Path.of(value).toAbsolutePath();
                default -> throw new IllegalArgumentException("there is no option '" + name + "'");
            }
        }

        private static Workload topology(String name, String value) {
            List<String> names = COMPARED.stream().map(each -> each.name().toLowerCase(Locale.ROOT)).toList();
            return Workload.valueOf(oneOf(name, value.toLowerCase(Locale.ROOT), names).toUpperCase(Locale.ROOT));
        }

        private static String oneOf(String name, String value, List<String> all) {
            if (!all.contains(value)) {
                throw new IllegalArgumentException(name + " is '" + value + "' and not one of " + all);
            }
            return value;
        }

        private static int number(String name, String value) {
            try {
                int number = Integer.parseInt(value.replace("k", "000").replace("m", "000000"));
                if (number > 0) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // As what is no number of anything.
            }
            throw new IllegalArgumentException(name + " is '" + value + "' and not a number from 1 on");
        }

        private static String size(String name, String value) {
            try {
                ByteSize.parse(value);
                return value;
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + " is '" + value + "' and not a size", e);
            }
        }
    }

    private final Options options;
    private final Path directory;
    private final List<String> missed = new ArrayList<>();

    private Demo(Options options, Path directory) {
        this.options = options;
        this.directory = directory;
    }

    /** See {@code bin/heartwood help}. */
    public static void main(String[] arguments) throws IOException {
        Options options;
        try {
            options = Options.of(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("kafka-demo: " + e.getMessage());
            System.err.println("usage: kafka-demo [--topology NAME] [--guarantee NAME] [--records N] [--keys N]"
                    + " [--memory SIZE] [--many-keys N] [--many-memory SIZE] [--dir DIRECTORY] [--check]");
            System.exit(2);
            return;
        }
        Path directory = Files.createTempDirectory(Files.createDirectories(options.directory), "kafka-demo");
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> leaveNothing(directory)));
        Demo demo = new Demo(options, directory);
        demo.run();
        if (options.checks) {
            demo.missed.forEach(bar -> System.out.println("MISSED " + bar));
            System.out.println(demo.missed.isEmpty() ? "every bar is met" : demo.missed.size() + " bars are missed");
            System.exit(demo.missed.isEmpty() ? 0 : 1);
        }
    }

    /** Also when this process is asked to end in the midst of it. */
    private static void leaveNothing(Path directory) {
        for (ProcessHandle child : ProcessHandle.current().children().toList()) {
            child.destroyForcibly();
            child.onExit().join();
        }
        WorkingFiles.delete(directory);
    }

    private void run() {
        compare("State within the memory", new DemoInput(options.keys, VALUE_BYTES), options.memory);
        compare("State larger than the memory", new DemoInput(options.manyKeys, VALUE_BYTES), options.manyMemory);
        if (options.workload == Workload.TABLE) {
            missed.addAll(new ManyStores(
                            directory.resolve("stores"), new DemoInput(options.keys, VALUE_BYTES), options.memory)
                    .run());
        }
    }

    private void compare(String title, DemoInput input, String memory) {
        System.out.printf(
                "%n%s, %s, %s: %,d records of %,d keys; a value of each is %,d MiB; %s=%s%n%n",
                title,
                options.workload.name().toLowerCase(Locale.ROOT),
                options.guarantee,
                options.records,
                input.keys(),
                input.stateBytes() >> 20,
                MEMORY_KEY,
                memory);
        Map<StoreKind, Comparison.Result> results =
                new Comparison(
                                directory.resolve("state"),
                                options.workload,
                                input,
                                options.records,
                                Map.of(
                                        MEMORY_KEY, memory, StreamsConfig.PROCESSING_GUARANTEE_CONFIG, options.guarantee))
                        .run();
        System.out.printf("%-36s", "");
        results.keySet().forEach(kind -> System.out.printf("%12s", kind));
        System.out.printf("%30s%n", "Heartwood / RocksDB");
        print("processing, records/s", results, Comparison.Result::perSecond);
        print("stream thread's processor time, ns", results, Comparison.Result::streamNanos);
        print("restore, records/s", results, Comparison.Result::restoredPerSecond);
        print("replayed after kill -9, records", results, Comparison.Result::replayed);
        print("longest commit interval, records", results, Comparison.Result::intervalChanges);
        print("peak memory of the process, MiB", results, Comparison.Result::memoryMib);
        print("disk of the state, MiB", results, Comparison.Result::diskMib);
        Bars.missed(results, options.guarantee).forEach(bar -> missed.add(title + ": " + bar));
    }

    private static void print(
            String what, Map<StoreKind, Comparison.Result> results, ToLongFunction<Comparison.Result> figure) {
        System.out.printf("%-36s", what);
        results.values().forEach(result -> System.out.printf("%,12d", figure.applyAsLong(result)));
        long heartwood = figure.applyAsLong(results.get(StoreKind.HEARTWOOD));
        long rocksdb = figure.applyAsLong(results.get(StoreKind.ROCKSDB));
        System.out.printf("%30.2f%n", (double) heartwood / Math.max(1, rocksdb));
    }
}
