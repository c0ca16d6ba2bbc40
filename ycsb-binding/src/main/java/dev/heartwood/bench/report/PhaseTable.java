package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The columns that printed tables of a phase and those of the page have in common. What no result has, as faults, has no column.
 *
 * @param results those of the phase
 */
record PhaseTable(Rounds rounds, Comparison comparison, List<PhaseResult> results) {
    /** Behind it a column may be put in. */
    static final String WRITE_AMPLIFICATION = "WA";

    private static final long BETWEEN_BYTES_MIN = 1_000_000;
    private static final double BETWEEN_SECONDS_MIN = 0.1;

    private static final List<String> COLUMNS = List.of(
            "engine",
            "threads",
            "ops/s",
            "p50 µs",
            "p99",
            "p99.9",
            "max",
            "read",
            "written",
            WRITE_AMPLIFICATION,
            "disk",
            "RSS peak",
            "anonymous");

    /** The names of the columns; the caller's to change. */
    List<String> header() {
        List<String> header = new ArrayList<>(COLUMNS);
        if (rounds.count() > 1) {
            header.add("rounds");
        }
        if (comparison.engines().size() > 1) {
            comparison.engines().forEach(peer -> header.add("× " + peer));
        }
        if (scans()) {
            header.add("records/s");
        }
        if (faults()) {
            header.add("missing");
            header.add("wrong");
        }
        return header;
    }

    /** A result, column by column; the caller's to change. */
    List<String> row(PhaseResult result) {
        List<String> row = new ArrayList<>(List.of(
                result.engine(),
                Integer.toString(result.threads()),
                Numbers.count(result.operationsPerSecond()),
                Numbers.micros(result.latency().p50Micros()),
                Numbers.micros(result.latency().p99Micros()),
                Numbers.micros(result.latency().p999Micros()),
                Numbers.micros(result.latency().maxMicros())));
        row.addAll(storage(result));
        if (rounds.count() > 1) {
            row.add(rounds.rates(result));
        }
        if (comparison.engines().size() > 1) {
            comparison
                    .engines()
                    .forEach(peer ->
                            row.add(peer.equals(result.engine()) ? "" : Numbers.ratio(comparison.ratio(result, peer))));
        }
        if (scans()) {
            row.add(Numbers.count(result.scannedRecords() / result.seconds()));
        }
        if (faults()) {
            row.add(Long.toString(result.faults().missing()));
            row.add(Long.toString(result.faults().wrong()));
        }
        return row;
    }

    /** What a process did before a result, where that is worth a row of its own; the columns up to what was written. */
    static Optional<List<String>> between(PhaseResult result) {
        PhaseResult.Between between = result.between();
        if (Math.max(between.bytesRead(), between.bytesWritten()) <= BETWEEN_BYTES_MIN && between.cpuSeconds() <= BETWEEN_SECONDS_MIN) {
            return Optional.empty();
        }
        return Optional.of(List.of(
                "  idle before",
                "",
                String.format(Locale.ROOT, "%.1f s cpu", between.cpuSeconds()),
                "",
                "",
                "",
                "",
                Numbers.bytes(between.bytesRead()),
                Numbers.bytes(between.bytesWritten())));
    }

    /** The columns from what was read on, to the memory. */
    static List<String> storage(PhaseResult result) {
        return List.of(
                Numbers.bytes(result.storage().bytesRead()),
                Numbers.bytes(result.storage().bytesWritten()),
                Numbers.ratio(result.storage().writeAmplification()),
                Numbers.bytes(result.storage().diskBytes()),
                Numbers.bytes(result.memory().rssPeakBytes()),
                Numbers.bytes(result.memory().anonymousBytes()));
    }

    private boolean scans() {
        return results.stream().anyMatch(r -> r.scannedRecords() > 0);
    }

    private boolean faults() {
        return results.stream().anyMatch(r -> r.faults().any());
    }
}
