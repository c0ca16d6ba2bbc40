package dev.heartwood.bench.report;

import dev.heartwood.ByteSize;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was run, and on what.
 *
 * @param engines the engines, as given
 * @param records records
 * @param keyBytes length of a key
 * @param valueBytes length of a value
 * @param memoryBytes memory of each engine
 * @param durability what a write survived
 * @param warmupRecords records of the store that each engine's JVM was warmed up with; 0 when it was not
 * @param machine processors, system and Java
 */
public record RunFacts(
        List<String> engines,
        long records,
        int keyBytes,
        int valueBytes,
        long memoryBytes,
        String durability,
        long warmupRecords,
        String machine) {
    /** The facts of a run on this machine. */
    public static RunFacts of(EngineSettings settings, List<EngineKind> engines, long warmupRecords) {
        String machine =
                Runtime.getRuntime().availableProcessors() + " processors, " + System.getProperty("os.name") + " "
                        + System.getProperty("os.version") + " " + System.getProperty("os.arch") + ", Java "
                        + Runtime.version();
        return new RunFacts(
                engines.stream().map(EngineKind::toString).toList(),
                settings.records(),
                settings.keyBytes(),
                settings.valueBytes(),
                settings.memoryBytes(),
                settings.durability().name().toLowerCase(Locale.ROOT),
                warmupRecords,
                machine);
    }

    /** Bytes of keys and values. */
    public long rawBytes() {
        return records * (keyBytes + valueBytes);
    }

    /** What a reader must know to judge the figures, when there is something. */
    public Optional<String> note() {
        return engines.contains(EngineKind.LMDB.toString())
                ? Optional.of(
                        "lmdb's cache is the operating system's: only a memory cgroup holds it to the memory above")
                : Optional.empty();
    }

    /** What a write survived, and in which state of their JVMs the engines were measured. */
    public String conditions() {
        String warmth = warmupRecords == 0 ? "" : String.format(Locale.ROOT, ", after a warm-up with %,d records", warmupRecords);
        return "durability " + durability + warmth;
    }

    /** Everything in two or three lines. */
    public String headline() {
        return String.format(
                Locale.ROOT,
                "%s: %,d records of %d + %d bytes (%s), memory %s, %s%n%s%s",
                String.join(", ", engines),
                records,
                keyBytes,
                valueBytes,
                Numbers.bytes(rawBytes()),
                new ByteSize(memoryBytes),
                conditions(),
                machine,
                note().map(n -> System.lineSeparator() + n).orElse(""));
    }
}
