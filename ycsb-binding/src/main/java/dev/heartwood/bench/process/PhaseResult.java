package dev.heartwood.bench.process;

import dev.heartwood.bench.workload.Phase;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What came of one phase on one engine.
 *
 * @param engine the engine's name
 * @param phase the phase's name, numbered from the second time on, with "-settle" or "-retune" appended for what is done after it
 * @param threads threads that drove it
 * @param records records in the store when it began, or that it loaded
 * @param operations operations completed
 * @param seconds time from the first operation to the last
 * @param cpuSeconds processor time of the engine's process meanwhile, of all its threads
 * @param between what the process did between its last result and the beginning of this
 * @param latency how long operations took; none for a settling
 * @param storage what was read, written and taken up
 * @param memory what the process held
 * @param scannedRecords records visited by scans
 * @param faults answers that were not right
 * @param progress operations completed over time; none for a settling
 * @param changes what the engine has changed by itself meanwhile, oldest first
 */
public record PhaseResult(
        String engine,
        String phase,
        int threads,
        long records,
        long operations,
        double seconds,
        double cpuSeconds,
        Between between,
        Latency latency,
        Storage storage,
        Memory memory,
        long scannedRecords,
        Faults faults,
        Series progress,
        List<Change> changes) {
    /** Appended to the name of a phase for the settling after it. */
    public static final String SETTLE_SUFFIX = "-settle";

    /** Appended to the name of a phase for the change of the checkpoint distance after it. */
    public static final String RETUNE_SUFFIX = "-retune";

    private static final String STEP_SEPARATOR = "-";
    private static final String REPETITION_SEPARATOR = "#";

    /**
     * What a process did while nothing of it was measured: what its engine still had to do, or does by itself, while others take their
     * turn, and closing and opening stores. Of the first result it is since the store was opened.
     *
     * @param bytesRead bytes it read
     * @param bytesWritten bytes it wrote
     * @param cpuSeconds processor time of all its threads
     */
    public record Between(long bytesRead, long bytesWritten, double cpuSeconds) {
        /** Nothing. */
        public static final Between NONE = new Between(0, 0, 0);
    }

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
     *     settling that of the phase, the settling and what was written between them together
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
     * @param missing reads that found nothing where there is a record, or a record where there is none, and records that scans left out
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

    /**
     * Something that the engine has changed by itself.
     *
     * @param seconds when, from the beginning of the phase on
     * @param what what, and why
     */
    public record Change(double seconds, String what) {
        private static Change parse(String text) {
            String[] parts = text.split("@", 2);
            return new Change(Double.parseDouble(parts[0]), URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }

        @Override
        public String toString() {
            return seconds + "@" + URLEncoder.encode(what, StandardCharsets.UTF_8);
        }
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

    /** The phase itself, whatever step it was, and of what is done after one that phase. */
    public Phase kind() {
        String name = isStep() ? phase.substring(phase.indexOf(STEP_SEPARATOR) + 1) : phase;
        return Phase.parse(name.replace(SETTLE_SUFFIX, "").replace(RETUNE_SUFFIX, "").split(REPETITION_SEPARATOR)[0]);
    }

    /** The same under another name of the engine. */
    PhaseResult named(String name) {
        return named(name, phase);
    }

    /** The same as a step of a cycle, from 1 on, in which a phase can come again. */
    public PhaseResult asStep(int number) {
        return named(engine, number + STEP_SEPARATOR + phase);
    }

    /** The same of a phase that a run comes to again, from 1 on; the first time has the name alone. */
    public PhaseResult asRepetition(int number) {
        String name = kind().toString();
        return number == 1 ? this : named(engine, name + REPETITION_SEPARATOR + number + phase.substring(name.length()));
    }

    /** Whether this is a step of a cycle. */
    public boolean isStep() {
        return Character.isDigit(phase.charAt(0));
    }

    private PhaseResult named(String name, String phaseName) {
        return new PhaseResult(
                name, phaseName, threads, records, operations, seconds, cpuSeconds, between, latency, storage, memory, scannedRecords,
                faults, progress, changes);
    }

    /** The result as one line of {@code name=value} words. */
    public String toLine() {
        return "engine=" + engine + " phase=" + phase + " threads=" + threads + " records=" + records + " operations="
                + operations + " seconds=" + seconds + " cpu=" + cpuSeconds + " betweenRead=" + between.bytesRead + " betweenWritten="
                + between.bytesWritten + " betweenCpu=" + between.cpuSeconds + " p50=" + latency.p50Micros + " p99=" + latency.p99Micros
                + " p999=" + latency.p999Micros + " max=" + latency.maxMicros + " read=" + storage.bytesRead
                + " written=" + storage.bytesWritten + " amplification=" + storage.writeAmplification + " disk="
                + storage.diskBytes + " rss=" + memory.rssPeakBytes + " anonymous=" + memory.anonymousBytes
                + " scanned="
                + scannedRecords + " missing=" + faults.missing + " wrong=" + faults.wrong + " sampleMillis="
                + progress.sampleMillis + " counts="
                + Arrays.stream(progress.counts).mapToObj(Long::toString).collect(Collectors.joining(","))
                + " changes=" + changes.stream().map(Change::toString).collect(Collectors.joining(","));
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
                words.real("cpu"),
                new Between(words.whole("betweenRead"), words.whole("betweenWritten"), words.real("betweenCpu")),
                new Latency(words.real("p50"), words.real("p99"), words.real("p999"), words.real("max")),
                new Storage(
                        words.whole("read"), words.whole("written"), words.real("amplification"), words.whole("disk")),
                new Memory(words.whole("rss"), words.whole("anonymous")),
                words.whole("scanned"),
                new Faults(words.whole("missing"), words.whole("wrong")),
                new Series(words.whole("sampleMillis"), words.wholes("counts")),
                words.list("changes").map(Change::parse).toList());
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
            return list(name).mapToLong(Long::parseLong).toArray();
        }

        Stream<String> list(String name) {
            String list = words.get(name);
            return list.isEmpty() ? Stream.empty() : Arrays.stream(list.split(","));
        }
    }
}
