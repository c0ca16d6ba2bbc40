package dev.heartwood.bench.process;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What came of one phase on one engine.
 *
 * @param engine the engine's name
 * @param phase the phase's name, with "-settle" or "-retune" appended for what is done after it
 * @param threads threads that drove it
 * @param records records in the store when it began, or that it loaded
 * @param operations operations completed
 * @param seconds time from the first operation to the last
 * @param latency how long operations took; none for a settling
 * @param storage what was read, written and taken up
 * @param memory what the process held
 * @param scannedRecords records visited by scans
 * @param faults answers that were not right
 * @param progress operations completed over time; none for a settling
 */
public record PhaseResult(
        String engine,
        String phase,
        int threads,
        long records,
        long operations,
        double seconds,
        Latency latency,
        Storage storage,
        Memory memory,
        long scannedRecords,
        Faults faults,
        Series progress) {
    /** Appended to the name of a phase for the settling after it. */
    public static final String SETTLE_SUFFIX = "-settle";

    /** Appended to the name of a phase for the change of the checkpoint distance after it. */
    public static final String RETUNE_SUFFIX = "-retune";

    /** Percentiles in microseconds. */
    public record Latency(double p50Micros, double p99Micros, double p999Micros, double maxMicros) {
        /** Of no operation at all. */
        public static final Latency NONE = new Latency(0, 0, 0, 0);
    }

    /**
     * Traffic to and from storage.
     *
     * @param bytesRead bytes the process read
     * @param bytesWritten bytes the process wrote
     * @param writeAmplification bytes written per byte of keys and values written, 0 when none was; for a
     *     settling that of the phase and the settling together
     * @param diskBytes space the store takes at the end
     */
    public record Storage(long bytesRead, long bytesWritten, double writeAmplification, long diskBytes) {}

    /**
     * Memory of the process, the JVM's own included.
     *
     * @param rssPeakBytes the most that was resident
     * @param anonymousBytes what is resident at the end and backed by no file
     */
    public record Memory(long rssPeakBytes, long anonymousBytes) {}

    /**
     * Answers that were not right.
     *
     * @param missing reads that found nothing where there is a record, or a record where there is none
     * @param wrong values that were not what was written, and records out of order
     */
    public record Faults(long missing, long wrong) {
        /** No fault. */
        public static final Faults NONE = new Faults(0, 0);

        /** Whether there was any. */
        public boolean any() {
            return missing + wrong > 0;
        }
    }

    /**
     * A count over time.
     *
     * @param sampleMillis the length of each sample
     * @param counts the count at the end of each sample
     */
    public record Series(long sampleMillis, long[] counts) {
        /** No sample. */
        public static final Series NONE = new Series(0, new long[0]);
    }

    /** Operations per second; 0 for a settling. */
    public double operationsPerSecond() {
        return seconds == 0 ? 0 : operations / seconds;
    }

    /** Whether this is the settling after a phase. */
    public boolean isSettling() {
        return phase.endsWith(SETTLE_SUFFIX);
    }

    /** Whether this is a phase itself, and nothing done after one. */
    public boolean isPhase() {
        return !isSettling() && !phase.endsWith(RETUNE_SUFFIX);
    }

    /** The same under another name of the engine. */
    PhaseResult named(String name) {
        return new PhaseResult(
                name, phase, threads, records, operations, seconds, latency, storage, memory, scannedRecords, faults,
                progress);
    }

    /** The result as one line of {@code name=value} words. */
    public String toLine() {
        return "engine=" + engine + " phase=" + phase + " threads=" + threads + " records=" + records + " operations="
                + operations + " seconds=" + seconds + " p50=" + latency.p50Micros + " p99=" + latency.p99Micros
                + " p999=" + latency.p999Micros + " max=" + latency.maxMicros + " read=" + storage.bytesRead
                + " written=" + storage.bytesWritten + " amplification=" + storage.writeAmplification + " disk="
                + storage.diskBytes + " rss=" + memory.rssPeakBytes + " anonymous=" + memory.anonymousBytes
                + " scanned="
                + scannedRecords + " missing=" + faults.missing + " wrong=" + faults.wrong + " sampleMillis="
                + progress.sampleMillis + " counts="
                + Arrays.stream(progress.counts).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    /** Reads what {@link #toLine} made. */
    public static PhaseResult parse(String line) {
        Words words = new Words(line);
        return new PhaseResult(
                words.text("engine"),
                words.text("phase"),
                (int) words.whole("threads"),
                words.whole("records"),
                words.whole("operations"),
                words.real("seconds"),
                new Latency(words.real("p50"), words.real("p99"), words.real("p999"), words.real("max")),
                new Storage(
                        words.whole("read"), words.whole("written"), words.real("amplification"), words.whole("disk")),
                new Memory(words.whole("rss"), words.whole("anonymous")),
                words.whole("scanned"),
                new Faults(words.whole("missing"), words.whole("wrong")),
                new Series(words.whole("sampleMillis"), words.wholes("counts")));
    }

    /** The words of a line by name. */
    private static final class Words {
        private final Map<String, String> words = new LinkedHashMap<>();

        Words(String line) {
            for (String word : line.strip().split(" ")) {
                int equals = word.indexOf('=');
                words.put(word.substring(0, equals), word.substring(equals + 1));
            }
        }

        String text(String name) {
            return words.get(name);
        }

        long whole(String name) {
            return Long.parseLong(words.get(name));
        }

        double real(String name) {
            return Double.parseDouble(words.get(name));
        }

        long[] wholes(String name) {
            String list = words.get(name);
            return list.isEmpty()
                    ? new long[0]
                    : Arrays.stream(list.split(",")).mapToLong(Long::parseLong).toArray();
        }
    }
}
