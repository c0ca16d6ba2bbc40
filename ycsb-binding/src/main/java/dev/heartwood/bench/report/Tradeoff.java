package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import dev.heartwood.bench.workload.Phase;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * What each contestant paid for reads, writes, memory and space, side by side: no store is the best in all (the RUM conjecture). Of
 * the first phase that loads and the first that only reads, with the fewest threads.
 */
record Tradeoff(Comparison comparison) {
    /** A chart: what it shows, its bars. */
    record Chart(String caption, String svg) {}

    /** The charts; none when there is nothing to compare. */
    List<Chart> charts() {
        List<PhaseResult> loads = first(Phase::startsEmpty);
        if (comparison.engines().size() < 2 || loads.isEmpty()) {
            return List.of();
        }
        List<PhaseResult> reads = first(phase -> phase.mix().reads() + phase.mix().scans() == 100);
        List<PhaseResult> retunings = loads.stream()
                .map(comparison::retuningAfter)
                .flatMap(Optional::stream)
                .toList();
        Comparison.Alike stores = comparison.settledIfAny(loads);
        boolean isRetuned = !retunings.isEmpty();
        String writeCost = "write cost: bytes written per byte loaded, " + (isRetuned ? "tuned back" : stores.state());
        return List.of(
                        chart(writeCost, isRetuned ? retunings : stores.results(), r -> r.storage().writeAmplification(),
                                v -> String.format(Locale.ROOT, "%.2f", v)),
                        chart("load, operations per second", loads, PhaseResult::operationsPerSecond, Numbers::count),
                        chart("read cost: bytes read from the device per operation", reads,
                                r -> (double) r.storage().bytesRead() / r.operations(), Numbers::bytes),
                        chart("reads after it, operations per second", reads, PhaseResult::operationsPerSecond, Numbers::count),
                        chart("memory: peak of the load", loads, r -> r.memory().rssPeakBytes(), Numbers::bytes),
                        chart("space: disk, " + stores.state(), stores.results(), r -> r.storage().diskBytes(), Numbers::bytes),
                        chart("tuning back to a distance of 1", retunings, r -> r.seconds() * 1e6, Numbers::latency))
                .stream()
                .filter(chart -> !chart.svg().isEmpty())
                .toList();
    }

    /** By what the phase does: that nothing was written yet makes no reads of a load that stays in memory. */
    private List<PhaseResult> first(Predicate<Phase> wanted) {
        for (String phase : comparison.phases()) {
            List<PhaseResult> results = comparison.of(phase);
            if (wanted.test(results.getFirst().kind())) {
                int threads = results.getFirst().threads();
                return results.stream().filter(r -> r.threads() == threads).toList();
            }
        }
        return List.of();
    }

    private static Chart chart(
            String caption,
            List<PhaseResult> results,
            ToDoubleFunction<PhaseResult> value,
            DoubleFunction<String> format) {
        if (results.isEmpty()) {
            return new Chart(caption, "");
        }
        List<Svg.Bar> bars = results.stream()
                .map(r -> new Svg.Bar(r.engine(), r.engine(), value.applyAsDouble(r)))
                .toList();
        return new Chart(caption, Svg.bars(bars, format));
    }
}
