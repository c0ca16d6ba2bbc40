package dev.heartwood.bench;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.KeyOrder;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.process.EngineClient.Verification;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of the benchmark. Filled by picocli, then checked once by {@link #check}. */
@Command(
        name = "heartwood bench",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Measures Heartwood, alone or beside other engines. Without options: 2,000,000 records, memory a "
                + "tenth of the data, load and YCSB A to F.",
        footer = "Below a phase that writes are its settling, and operations per second of both together; 'idle before' is what the "
                + "engine's process did since its last row and before this, for which no time is told. Ctrl-C ends a run; what was finished by then is reported all the same. Exit codes: 0 done, 1 an engine "
                + "failed or a value was wrong or missing, 2 a bad option, 130 Ctrl-C.")
final class BenchOptions {
    static final Path DEFAULT_DIRECTORY = Path.of("heartwood-bench");
    static final long RECORDS_MAX = (1L << 31) - 1;
    private static final long MEMORY_BYTES_MIN = 16 << 20;
    private static final int SECONDS_DEFAULT = 10;
    private static final int SHARE_MAX = 1000;
    private static final int THREADS_MAX = 1000;
    private static final int STORES_MAX = 1000;

    /** Options of the store that {@code --policies} and {@code --distances} give. */
    static final String POLICY = "policy";

    static final String CHECKPOINT_DISTANCE = "checkpointDistance";

    /** Options of the store that have a flag here. */
    private static final Map<String, String> FLAGS =
            Map.of("memory", "--memory", "durability", "--durability", "device", "--device", "keyOrder", "--order");

    /** Those that would have no store opened, or need code. */
    private static final Set<String> NOT_FOR_BENCHMARKS = Set.of("openMode", "mergeOperator", "compactionFilter");

    private static final List<Phase> PHASES_DEFAULT =
            List.of(Phase.LOAD, Phase.A, Phase.B, Phase.C, Phase.D, Phase.E, Phase.F);

    @Option(
            names = "--engines",
            split = ",",
            paramLabel = "ENGINE",
            description = "heartwood, rocksdb, rocksdb-compacted (as a whole whenever it settles), lmdb, mvstore. Default: heartwood")
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
            description = "Threads that drive each phase, one run per number. Default: the number of processors, 16 at most")
    List<Integer> threads = List.of(Math.min(Runtime.getRuntime().availableProcessors(), 16));

    @Option(
            names = "--phases",
            split = ",",
            paramLabel = "PHASE",
            description = "load, read, zipf, absent, many (32 keys at once), scan, scanlong, A to F, overwrite, "
                    + "queue (each thread takes the first of a thousand records and puts one at the end), idle, sequential (in the order of keys), "
                    + "sequential90, sequential50 (90 and 50 records of 100 so). What comes again is numbered: read, read#2. "
                    + "Default: load,A,B,C,D,E,F")
    List<Phase> phases = PHASES_DEFAULT;

    @Option(
            names = "--cycle",
            split = ",",
            paramLabel = "STEP",
            description = "One load that changes, instead of --phases: PHASE:N is so many operations, load and overwrite alone "
                    + "every record once, idle:N so many seconds. Nothing is settled in between, so that the times of all "
                    + "steps together can be compared. Such as load,read:1m,scan:100k,overwrite,idle:20")
    List<CycleStep> cycle = List.of();

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "Length of every phase that does not write every record once; not for --cycle. Default: 10")
    Integer seconds;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "Runs everything so often, another engine first each time, and prints medians with the least and "
                    + "the greatest. Default: 1")
    int rounds = 1;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Before anything is measured, each engine loads a store of N records and runs every phase on it for two "
                    + "seconds, in the JVM that is measured then, as one that has been running for a while. The store is deleted. "
                    + "Default: 0, a fresh JVM")
    Count warmup = new Count(0);

    @Option(names = "--durability", paramLabel = "LEVEL", description = "none, buffered or sync. Default: buffered")
    Durability durability = Durability.BUFFERED;

    @Option(
            names = "--device",
            paramLabel = "KIND",
            description = "How Heartwood drives its device: auto, uring, aio, posix or jnr. Default: auto")
    DeviceKind device = DeviceKind.AUTO;

    @Option(
            names = "--order",
            paramLabel = "ORDER",
            description = "What orders Heartwood's keys: sorted or hashed, which has no scans. Default: sorted")
    KeyOrder order = KeyOrder.SORTED;

    @Option(
            names = "--option",
            paramLabel = "NAME=VALUE",
            description = "A further option of Heartwood, such as memtable=64m or policy=lazy_leveling; repeatable. "
                    + "What has a flag here is given by that alone, and what needs code, or forbids a store to be made, is not taken")
    Map<String, String> options = new LinkedHashMap<>();

    @Option(
            names = "--policies",
            split = ",",
            paramLabel = "POLICY",
            description = "Compares Heartwood under these policies, one after the other: ${COMPLETION-CANDIDATES}")
    List<CompactionPolicyKind> policies = List.of();

    @Option(
            names = "--distances",
            split = ",",
            paramLabel = "N",
            description = "Compares Heartwood under these checkpoint distances, each with every policy. After a load the "
                    + "store is tuned back to 1, timed, before anything else is run; in a --cycle it is not")
    List<Integer> distances = List.of();

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "N",
            description = "Compares Heartwood with so many records each, instead of --records")
    List<Count> sizes = List.of();

    @Option(
            names = "--shares",
            split = ",",
            paramLabel = "PERCENT",
            description = "Compares Heartwood with memory for so much of the data each, instead of --memory; 16m at least, which of 1m records "
                    + "are 14 percent and of 5m 3")
    List<Integer> shares = List.of();

    @Option(
            names = "--stores",
            split = ",",
            paramLabel = "N",
            description = "Spreads the records over N stores by their keys, Heartwood's or RocksDB's, which share the memory; without scans. "
                    + "Several numbers compare Heartwood with each. Default: 1")
    List<Integer> stores = List.of(1);

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Where the stores go, and stay: a later run without load, with the same --records, uses them again. "
                    + "Default: heartwood-bench in the working directory, where this run's are deleted at the end")
    Path directory;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON")
    Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the results as a page with charts")
    Path html;

    @Option(names = "--verify", description = "Check every value that is read against its key, and of scans the order and how many records they return")
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

        /** With a unit where there is one, for a name. */
        String inMillions() {
            return value % 1_000_000 == 0 ? value / 1_000_000 + "m" : value % 1000 == 0 ? value / 1000 + "k" : toString();
        }

        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    /** A step of a cycle; its step has as many operations, or seconds, as were asked for. */
    record CycleStep(Step step) {
        static CycleStep parse(String text) {
            String[] parts = text.split(":", 2);
            Phase phase = Phase.parse(parts[0]);
            long amount = parts.length == 1 ? 0 : Count.parse(parts[1]).value();
            boolean isWhole = phase.startsEmpty() || phase == Phase.OVERWRITE && parts.length == 1;
            if (phase.hasOwnRecords() || isWhole != (parts.length == 1) || amount < 1 && !isWhole) {
                throw new IllegalArgumentException("'" + text + "' is no step of a cycle (examples: load, read:500k, overwrite, "
                        + "overwrite:3m, idle:20)");
            }
            return new CycleStep(phase == Phase.IDLE ? Step.of(phase, amount) : new Step(phase, amount, 0));
        }
    }

    /** What is run, in this order. */
    List<Step> steps() {
        return isCycle()
                ? cycle.stream().map(CycleStep::step).toList()
                : phases.stream().map(phase -> Step.of(phase, seconds())).toList();
    }

    private int seconds() {
        return seconds == null ? SECONDS_DEFAULT : seconds;
    }

    /** Whether the steps are one load, whose total time counts. */
    boolean isCycle() {
        return !cycle.isEmpty();
    }

    /**
     * Refuses what cannot be run.
     *
     * @throws IllegalArgumentException naming the option and its limits
     */
    void check() {
        within("--records", records.value(), 1, RECORDS_MAX);
        sizes.forEach(size -> within("--sizes", size.value(), 1, RECORDS_MAX));
        shares.forEach(share -> within("--shares", share, 1, SHARE_MAX));
        stores.forEach(count -> within("--stores", count, 1, STORES_MAX));
        within("--key-bytes", keyBytes, KeySpace.KEY_BYTES_MIN, 4096);
        within("--value-bytes", valueBytes, 1, 1 << 20);
        within("--seconds", seconds(), 1, 86_400);
        within("--rounds", rounds, 1, 99);
        within("--warmup", warmup.value(), 0, RECORDS_MAX);
        threads.forEach(t -> within("--threads", t, 1, THREADS_MAX));
        for (Count count : Stream.concat(Stream.of(warmup), counts().stream()).toList()) {
            if (count.value() > new KeySpace(keyBytes).recordsMax()) {
                throw new IllegalArgumentException("--key-bytes " + keyBytes + " is too short for " + count + " records");
            }
        }
        requireMemoryForShares();
        if (new HashSet<>(engines).size() < engines.size()) {
            throw new IllegalArgumentException("--engines names an engine twice: " + engines);
        }
        if (isCycle()) {
            checkCycle();
        }
        if (order == KeyOrder.HASHED) {
            requireNoScans("--order hashed has");
        }
        if (Collections.max(stores) > 1) {
            requireNoScans("several --stores have");
            engines.stream().filter(kind -> !kind.hasManyStores()).forEach(kind -> {
                throw new IllegalArgumentException("several --stores share no memory with --engines " + kind);
            });
        }
        if (engines.contains(EngineKind.LMDB) && keyBytes > 511) {
            throw new IllegalArgumentException("--key-bytes " + keyBytes + " is above LMDB's limit of 511");
        }
        if (comparesSettings() && !engines.equals(List.of(EngineKind.HEARTWOOD))) {
            throw new IllegalArgumentException(
                    "--policies, --distances, --sizes, --shares and several numbers of --stores are Heartwood's, not for --engines " + engines);
        }
        if (memory != null && !shares.isEmpty()) {
            throw new IllegalArgumentException("--memory and --shares both say how much memory there is");
        }
        if (json != null && html != null && isSameFile(json, html)) {
            throw new IllegalArgumentException("--json and --html name the same file: " + html);
        }
        if (!engines.contains(EngineKind.HEARTWOOD)) {
            requireNoneOfHeartwood();
        }
        requireOwnOptions();
        requireNoOption("--policies", policies, POLICY);
        requireNoOption("--distances", distances, CHECKPOINT_DISTANCE);
        requireDifferent("--threads", threads);
        requireDifferent("--policies", policies);
        requireDifferent("--distances", distances);
        requireDifferent("--sizes", sizes);
        requireDifferent("--shares", shares);
        requireDifferent("--stores", stores);
        contestants().forEach(contestant -> contestant.settings().storeOptions());
    }

    private static boolean isSameFile(Path one, Path other) {
        try {
            return one.toAbsolutePath().normalize().equals(other.toAbsolutePath().normalize())
                    || Files.exists(one) && Files.exists(other) && Files.isSameFile(one, other);
        } catch (IOException unreadable) {
            return false; // which it is refused for later
        }
    }

    private void requireNoScans(String who) {
        if (steps().stream().anyMatch(step -> step.phase().scans())) {
            throw new IllegalArgumentException(who + " no scans: name --phases without scan, scanlong, E and queue");
        }
    }

    private void checkCycle() {
        if (phases != PHASES_DEFAULT) {
            throw new IllegalArgumentException("--cycle and --phases both say what is run");
        }
        if (seconds != null) {
            throw new IllegalArgumentException("--seconds is for --phases: a step of a --cycle says itself how long it is");
        }
        if (cycle.getFirst().step().phase() != Phase.LOAD) {
            throw new IllegalArgumentException("--cycle has to begin with load, so that all begin alike");
        }
        if (threads.size() > 1) {
            throw new IllegalArgumentException("--cycle takes one number of --threads, not " + threads);
        }
    }

    /** What no engine looks at would be told as what all ran under. */
    private void requireNoneOfHeartwood() {
        if (!options.isEmpty() || device != DeviceKind.AUTO || order != KeyOrder.SORTED) {
            throw new IllegalArgumentException("--option, --device and --order are Heartwood's, which is not among --engines " + engines);
        }
    }

    /** What has a flag is looked at as that, and told in the report. */
    private void requireOwnOptions() {
        for (String name : options.keySet()) {
            if (FLAGS.containsKey(name)) {
                throw new IllegalArgumentException("--option " + name + ": use " + FLAGS.get(name));
            }
            if (NOT_FOR_BENCHMARKS.contains(name)) {
                throw new IllegalArgumentException("--option " + name + ": is not for a benchmark");
            }
        }
    }

    /** What is compared cannot be one thing for all too, which the report would tell. */
    private void requireNoOption(String name, List<?> compared, String option) {
        if (!compared.isEmpty() && options.containsKey(option)) {
            throw new IllegalArgumentException(name + " and --option " + option + " both say under what Heartwood runs");
        }
    }

    private static void requireDifferent(String name, List<?> values) {
        if (new HashSet<>(values).size() < values.size()) {
            throw new IllegalArgumentException(name + " names something twice: " + values);
        }
    }

    /** Whether settings of Heartwood are compared, instead of engines. */
    boolean comparesSettings() {
        return !policies.isEmpty() || !distances.isEmpty() || !sizes.isEmpty() || !shares.isEmpty() || stores.size() > 1;
    }

    /** All that are compared, in the order given. */
    List<Contestant> contestants() {
        return new Contestants(this).all();
    }

    private static void within(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " " + value + " is not within " + min + ".." + max);
        }
    }

    long memoryBytes() {
        return memoryBytes(records.value());
    }

    long memoryBytes(long count) {
        if (memory != null) {
            return memory.bytes();
        }
        long tenth = rawBytes(count) / 10;
        return Math.max(MEMORY_BYTES_MIN, tenth + (1 << 20) - 1 >> 20 << 20);
    }

    /** Memory for so much of the data, in percent. */
    long memoryBytesOf(long count, int share) {
        return rawBytes(count) * share / 100;
    }

    /** A greater one would be measured under the name of what was asked for. */
    private void requireMemoryForShares() {
        for (Count count : counts()) {
            long least = Math.ceilDiv(100 * MEMORY_BYTES_MIN, rawBytes(count.value()));
            for (int share : shares) {
                if (share < least) {
                    throw new IllegalArgumentException("--shares " + share + " of " + count.inMillions() + " records are less than 16m: "
                            + (least > SHARE_MAX ? "give more records" : "the least share of so many is " + least));
                }
            }
        }
    }

    /** Numbers of records that are compared. */
    List<Count> counts() {
        return sizes.isEmpty() ? List.of(records) : sizes;
    }

    private long rawBytes(long count) {
        return count * (keyBytes + valueBytes);
    }

    Path directory() {
        return (directory == null ? DEFAULT_DIRECTORY : directory)
                .toAbsolutePath()
                .normalize();
    }

    Verification verification() {
        return verify ? Verification.ON : Verification.OFF;
    }

    /** What all have in common who are compared, as an engine of this kind would have it. */
    EngineSettings settings(EngineKind kind) {
        return settings(kind.toString(), stores.size() == 1 ? stores.getFirst() : 1, options, records.value(), memoryBytes());
    }

    EngineSettings settings(String name, int storeCount, Map<String, String> chosen, long count, long bytes) {
        Map<String, String> all = new LinkedHashMap<>(chosen);
        if (order != KeyOrder.SORTED) {
            all.put("keyOrder", order.name());
        }
        return new EngineSettings(
                directory().resolve(name),
                storeCount,
                count,
                keyBytes,
                valueBytes,
                bytes,
                durability,
                device,
                all);
    }
}
