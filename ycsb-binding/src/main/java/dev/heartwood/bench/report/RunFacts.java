package dev.heartwood.bench.report;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.process.EngineClient.Verification;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What was run, and on what.
 *
 * @param parts those that were compared, as given
 * @param keyBytes length of a key
 * @param valueBytes length of a value
 * @param conditions what a write survived, what was set besides, and in which state of their JVMs the engines were measured
 * @param ofHeartwood what was set besides that only Heartwood obeys; empty where all are Heartwood's, of which it is a condition
 * @param machine processors, system and Java
 */
public record RunFacts(List<Part> parts, int keyBytes, int valueBytes, String conditions, String ofHeartwood, String machine) {
    /** What figures of latency are. */
    static final String LATENCY = "latencies are service times of threads that wait for each answer, making keys and values and checking "
            + "included: a stall is one sample of each thread";

    /**
     * One of those that were compared.
     *
     * @param name what the results call it
     * @param kind the engine
     * @param records records
     * @param memoryBytes its memory
     */
    public record Part(String name, EngineKind kind, long records, long memoryBytes) {
        private boolean isLike(Part other) {
            return records == other.records && memoryBytes == other.memoryBytes;
        }
    }

    /**
     * The facts of a run on this machine.
     *
     * @param settings what all parts have in common but records and memory
     * @param warmupRecords records of the store that each engine's JVM was warmed up with; 0 when it was not
     */
    public static RunFacts of(List<Part> parts, EngineSettings settings, Verification verification, long warmupRecords) {
        StringJoiner conditions = new StringJoiner(", ");
        if (settings.stores() > 1) {
            conditions.add(settings.stores() + " stores");
        }
        conditions.add("durability " + settings.durability().name().toLowerCase(Locale.ROOT));
        StringJoiner own = new StringJoiner(", ");
        StringJoiner besides = parts.stream().allMatch(part -> part.kind() == EngineKind.HEARTWOOD) ? conditions : own;
        if (settings.device() != DeviceKind.AUTO) {
            besides.add("device " + settings.device().name().toLowerCase(Locale.ROOT));
        }
        new TreeMap<>(settings.options()).forEach((name, value) -> besides.add(name + "=" + value));
        if (verification == Verification.ON) {
            conditions.add("every value checked");
        }
        if (warmupRecords > 0) {
            conditions.add(String.format(Locale.ROOT, "after a warm-up with %,d records", warmupRecords));
        }
        String machine =
                Runtime.getRuntime().availableProcessors() + " processors, " + System.getProperty("os.name") + " "
                        + System.getProperty("os.version") + " " + System.getProperty("os.arch") + ", Java "
                        + Runtime.version();
        return new RunFacts(parts, settings.keyBytes(), settings.valueBytes(), conditions.toString(), own.toString(), machine);
    }

    /** These facts of a run that was ended before all of it was finished. */
    public RunFacts ofInterrupted() {
        return new RunFacts(parts, keyBytes, valueBytes, conditions + ", interrupted", ofHeartwood, machine);
    }

    /** All of it, line by line: where they differ in records or memory, one for each part. */
    public List<String> lines() {
        String shape = "records of " + keyBytes + " + " + valueBytes + " bytes";
        Part first = parts.getFirst();
        List<String> lines = new ArrayList<>();
        if (parts.stream().allMatch(first::isLike)) {
            String names = parts.stream().map(Part::name).collect(Collectors.joining(", "));
            lines.add(String.format(
                    Locale.ROOT,
                    "%s: %,d %s (%s), memory %s, %s",
                    names,
                    first.records(),
                    shape,
                    Numbers.bytes(rawBytes(first)),
                    memory(first),
                    conditions));
        } else {
            lines.add(shape + ", " + conditions);
            parts.forEach(part -> lines.add(String.format(
                    Locale.ROOT,
                    "%s: %,d records (%s), memory %s, %.0f %% of that",
                    part.name(),
                    part.records(),
                    Numbers.bytes(rawBytes(part)),
                    memory(part),
                    100.0 * part.memoryBytes() / rawBytes(part))));
        }
        if (!ofHeartwood.isEmpty()) {
            lines.add(EngineKind.HEARTWOOD + " alone: " + ofHeartwood);
        }
        lines.add(machine);
        lines.add(LATENCY);
        if (parts.stream().anyMatch(part -> part.kind() == EngineKind.LMDB)) {
            lines.add("lmdb's cache is the operating system's: only a memory cgroup holds it to the memory above");
        }
        return lines;
    }

    /** As an option gives it; a share of the data, which is no whole number of MiB, as other sizes are printed. */
    private static String memory(Part part) {
        return part.memoryBytes() % (1 << 20) == 0
                ? new ByteSize(part.memoryBytes()).toString()
                : Numbers.bytes(part.memoryBytes());
    }

    private long rawBytes(Part part) {
        return part.records() * (keyBytes + valueBytes);
    }
}
