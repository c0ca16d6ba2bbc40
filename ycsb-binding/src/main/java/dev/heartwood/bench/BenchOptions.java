package dev.heartwood.bench;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.StoreOptions;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.process.EngineClient.Verification;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.Phase;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of the benchmark. Filled by picocli, then checked once by {@link #check}. */
@Command(
        name = "heartwood bench",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Measures Heartwood, alone or beside other engines. Without options: 2,000,000 records, memory a "
                + "tenth of the data, load and YCSB A to F.",
        footer = "Exit codes: 0 done, 1 an engine failed or a value was wrong or missing, 2 a bad option.")
final class BenchOptions {
    static final Path DEFAULT_DIRECTORY = Path.of("heartwood-bench");
    static final long RECORDS_MAX = (1L << 31) - 1;
    private static final long MEMORY_BYTES_DEFAULT_MIN = 16 << 20;
    private static final int THREADS_MAX = 1000;

    @Option(
            names = "--engines",
            split = ",",
            paramLabel = "ENGINE",
            description = "heartwood, rocksdb, lmdb, mvstore. Default: heartwood")
    List<EngineKind> engines = List.of(EngineKind.HEARTWOOD);

    @Option(names = "--records", paramLabel = "N", description = "Records, such as 500k or 20m. Default: 2m")
    Count records = new Count(2_000_000);

    @Option(names = "--key-bytes", paramLabel = "N", description = "Length of a key. Default: 24")
    int keyBytes = 24;

    @Option(names = "--value-bytes", paramLabel = "N", description = "Length of a value. Default: 100")
    int valueBytes = 100;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description = "Memory of each engine, such as 256m. Default: a tenth of the data, at least 16m")
    ByteSize memory;

    @Option(
            names = "--threads",
            split = ",",
            paramLabel = "T",
            description = "Threads that drive each phase, one run per number. Default: the number of processors")
    List<Integer> threads = List.of(Math.min(Runtime.getRuntime().availableProcessors(), 16));

    @Option(
            names = "--phases",
            split = ",",
            paramLabel = "PHASE",
            description = "load, read, zipf, absent, scan, scanlong, A to F, sequential, overwrite. "
                    + "Default: load,A,B,C,D,E,F")
    List<Phase> phases = List.of(Phase.LOAD, Phase.A, Phase.B, Phase.C, Phase.D, Phase.E, Phase.F);

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "Length of every phase but load, sequential and overwrite. Default: 10")
    int seconds = 10;

    @Option(names = "--durability", paramLabel = "LEVEL", description = "none, buffered or sync. Default: buffered")
    Durability durability = Durability.BUFFERED;

    @Option(
            names = "--device",
            paramLabel = "KIND",
            description = "How Heartwood drives its device: auto, uring, posix or jnr. Default: auto")
    DeviceKind device = DeviceKind.AUTO;

    @Option(
            names = "--option",
            paramLabel = "NAME=VALUE",
            description = "A further option of Heartwood, such as memtable=64m or policy=lazy_leveling; repeatable")
    Map<String, String> options = new LinkedHashMap<>();

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Where the stores go, and stay: a later run without load uses them again. Default: "
                    + "heartwood-bench in the working directory, deleted at the end")
    Path directory;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON")
    Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the results as a page with charts")
    Path html;

    @Option(names = "--verify", description = "Check every value that is read against its key, and the order of scans")
    boolean verify;

    @Option(names = "--stats", description = "After every phase, print what the engine tells about itself")
    boolean stats;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of keys drawn and values written. Default: 1")
    long seed = 1;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this and exit")
    boolean help;

    /** A number of records with an optional decimal unit. */
    record Count(long value) {
        static Count parse(String text) {
            String s = text.strip().toLowerCase(Locale.ROOT).replace("_", "");
            int exponent = s.endsWith("k") ? 3 : s.endsWith("m") ? 6 : s.endsWith("g") ? 9 : 0;
            String digits = exponent == 0 ? s : s.substring(0, s.length() - 1);
            try {
                long unit = (long) Math.pow(10, exponent);
                return new Count(Math.multiplyExact(Long.parseLong(digits), unit));
            } catch (NumberFormatException | ArithmeticException e) {
                throw new IllegalArgumentException("'" + text + "' is not a number (examples: 500k, 20m)", e);
            }
        }

        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    /**
     * Refuses what cannot be run.
     *
     * @throws IllegalArgumentException naming the option and its limits
     */
    void check() {
        within("--records", records.value(), 1, RECORDS_MAX);
        within("--key-bytes", keyBytes, KeySpace.KEY_BYTES_MIN, 4096);
        within("--value-bytes", valueBytes, 1, 1 << 20);
        within("--seconds", seconds, 1, 86_400);
        threads.forEach(t -> within("--threads", t, 1, THREADS_MAX));
        if (records.value() > new KeySpace(keyBytes).recordsMax()) {
            throw new IllegalArgumentException("--key-bytes " + keyBytes + " is too short for " + records + " records");
        }
        if (new HashSet<>(engines).size() < engines.size()) {
            throw new IllegalArgumentException("--engines names an engine twice: " + engines);
        }
        if (engines.contains(EngineKind.LMDB) && keyBytes > 511) {
            throw new IllegalArgumentException("--key-bytes " + keyBytes + " is above LMDB's limit of 511");
        }
        StoreOptions.Builder builder = StoreOptions.builder().memory(new ByteSize(memoryBytes()));
        options.forEach(builder::set);
    }

    private static void within(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " " + value + " is not within " + min + ".." + max);
        }
    }

    long memoryBytes() {
        if (memory != null) {
            return memory.bytes();
        }
        long tenth = records.value() * (keyBytes + valueBytes) / 10;
        return Math.max(MEMORY_BYTES_DEFAULT_MIN, tenth + (1 << 20) - 1 >> 20 << 20);
    }

    Path directory() {
        return (directory == null ? DEFAULT_DIRECTORY : directory)
                .toAbsolutePath()
                .normalize();
    }

    Verification verification() {
        return verify ? Verification.ON : Verification.OFF;
    }

    EngineSettings settings(EngineKind kind) {
        return new EngineSettings(
                directory().resolve(kind.toString()),
                records.value(),
                keyBytes,
                valueBytes,
                memoryBytes(),
                durability,
                device,
                options);
    }
}
