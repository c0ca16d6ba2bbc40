package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import dev.heartwood.bench.process.PhaseResult.Between;
import dev.heartwood.bench.process.PhaseResult.Faults;
import dev.heartwood.bench.process.PhaseResult.Latency;
import dev.heartwood.bench.process.PhaseResult.Memory;
import dev.heartwood.bench.process.PhaseResult.Storage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The results of all rounds, in which the same was run.
 *
 * @param results round by round
 * @param steps how many steps a round has, also when no engine came to the last of them
 */
public record Rounds(List<List<PhaseResult>> results, int steps) {
    private record Key(String engine, String phase, int threads) {
        static Key of(PhaseResult result) {
            return new Key(result.engine(), result.phase(), result.threads());
        }
    }

    /** How many there were. */
    int count() {
        return results.size();
    }

    /** All results of all rounds. */
    public List<PhaseResult> all() {
        return results.stream().flatMap(List::stream).toList();
    }

    /**
     * What was run, once, with the median of each figure over the rounds; of an even number of them, the lesser of the two in the
     * middle. Operations and time are those of the round whose operations per second are the median, or whose time is where there are
     * none, since of both medians apart no round had the quotient; and so is what an engine changed by itself. Faults are added up.
     */
    List<PhaseResult> medians() {
        return groups().values().stream().map(Rounds::median).toList();
    }

    /** What the figures are, where they are not those of a single round. */
    Optional<String> note() {
        return count() > 1
                ? Optional.of("medians of " + count() + " rounds, each figure for itself; in column rounds the least and the greatest")
                : Optional.empty();
    }

    /** The least and the greatest operations per second of the rounds that a result is the median of; and how many, where those are not all. */
    String rates(PhaseResult median) {
        List<PhaseResult> same = groups().get(Key.of(median));
        String rates = spread(same.stream().map(PhaseResult::operationsPerSecond).toList(), Numbers::count);
        return same.size() == count() ? rates : rates + " (" + same.size() + ")";
    }

    /**
     * The steps of an engine, in their order, in the round whose whole time is the median of those in which it came to the last; of an
     * even number the lesser of the two in the middle. Where it came to the last in none, of those in which it came furthest.
     */
    List<PhaseResult> stepsOfMedianRound(String engine) {
        List<List<PhaseResult>> all = stepsOfRounds(engine);
        int most = all.stream().mapToInt(List::size).max().orElse(0);
        List<List<PhaseResult>> furthest = all.stream()
                .filter(round -> round.size() == most)
                .sorted(Comparator.comparingDouble(Rounds::wholeSeconds))
                .toList();
        return furthest.isEmpty() ? List.of() : furthest.get((furthest.size() - 1) / 2);
    }

    /** What the steps of a cycle are, where there is more than one round. */
    Optional<String> stepsNote() {
        return count() > 1
                ? Optional.of("each engine's of one round: that whose whole time is the median of those it finished")
                : Optional.empty();
    }

    private List<List<PhaseResult>> stepsOfRounds(String engine) {
        return results.stream()
                .map(round -> round.stream()
                        .filter(r -> r.isStep() && r.engine().equals(engine))
                        .toList())
                .toList();
    }

    private static double wholeSeconds(List<PhaseResult> some) {
        return some.stream().mapToDouble(PhaseResult::seconds).sum();
    }

    /** The least and the greatest seconds that all steps of an engine took in a round in which it came to the last of them. */
    String totals(String engine) {
        List<Double> totals = stepsOfRounds(engine).stream()
                .filter(round -> round.size() == steps)
                .map(Rounds::wholeSeconds)
                .toList();
        return totals.isEmpty() ? "-" : spread(totals, Cycle::seconds);
    }

    private static String spread(List<Double> values, DoubleFunction<String> format) {
        DoubleSummaryStatistics all = values.stream().mapToDouble(v -> v).summaryStatistics();
        return format.apply(all.getMin()) + "–" + format.apply(all.getMax());
    }

    private Map<Key, List<PhaseResult>> groups() {
        Map<Key, List<PhaseResult>> groups = new LinkedHashMap<>();
        for (PhaseResult result : all()) {
            groups.computeIfAbsent(Key.of(result), key -> new ArrayList<>()).add(result);
        }
        return groups;
    }

    private static PhaseResult median(List<PhaseResult> same) {
        PhaseResult middle = same.stream()
                .sorted(Comparator.comparingDouble(PhaseResult::operationsPerSecond).thenComparingDouble(PhaseResult::seconds))
                .toList()
                .get((same.size() - 1) / 2);
        return new PhaseResult(
                middle.engine(),
                middle.phase(),
                middle.threads(),
                middle.records(),
                middle.operations(),
                middle.seconds(),
                real(same, PhaseResult::cpuSeconds),
                new Between(
                        whole(same, r -> r.between().bytesRead()),
                        whole(same, r -> r.between().bytesWritten()),
                        real(same, r -> r.between().cpuSeconds())),
                new Latency(
                        real(same, r -> r.latency().p50Micros()),
                        real(same, r -> r.latency().p99Micros()),
                        real(same, r -> r.latency().p999Micros()),
                        real(same, r -> r.latency().maxMicros())),
                new Storage(
                        whole(same, r -> r.storage().bytesRead()),
                        whole(same, r -> r.storage().bytesWritten()),
                        real(same, r -> r.storage().writeAmplification()),
                        whole(same, r -> r.storage().diskBytes())),
                new Memory(whole(same, r -> r.memory().rssPeakBytes()), whole(same, r -> r.memory().anonymousBytes())),
                middle.scannedRecords(),
                new Faults(
                        same.stream().mapToLong(r -> r.faults().missing()).sum(),
                        same.stream().mapToLong(r -> r.faults().wrong()).sum()),
                middle.progress(),
                middle.changes());
    }

    private static double real(List<PhaseResult> same, ToDoubleFunction<PhaseResult> figure) {
        double[] sorted = same.stream().mapToDouble(figure).sorted().toArray();
        return sorted[(sorted.length - 1) / 2];
    }

    private static long whole(List<PhaseResult> same, ToLongFunction<PhaseResult> figure) {
        long[] sorted = same.stream().mapToLong(figure).sorted().toArray();
        return sorted[(sorted.length - 1) / 2];
    }
}
