package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/** Orders results by phase, and sets those of one engine against those of another. */
record Comparison(List<PhaseResult> results) {
    /**
     * Results that are alike in whether their stores have settled.
     *
     * @param state which it is, for a caption
     */
    record Alike(List<PhaseResult> results, String state) {}

    /** The phases in the order they were run, what was done after them not among them. */
    Set<String> phases() {
        return results.stream()
                .filter(PhaseResult::isPhase)
                .map(PhaseResult::phase)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The engines in the order they first appear. */
    Set<String> engines() {
        return results.stream().map(PhaseResult::engine).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The results of a phase: fewest threads first, engines in their order. */
    List<PhaseResult> of(String phase) {
        List<String> order = List.copyOf(engines());
        return results.stream()
                .filter(r -> r.phase().equals(phase))
                .sorted((a, b) -> a.threads() != b.threads()
                        ? Integer.compare(a.threads(), b.threads())
                        : Integer.compare(order.indexOf(a.engine()), order.indexOf(b.engine())))
                .toList();
    }

    /** The settling after a result, when there was one. */
    Optional<PhaseResult> settlingAfter(PhaseResult result) {
        return after(result, PhaseResult.SETTLE_SUFFIX);
    }

    /** The settlings after results, of those that have one; where none has, as in a cycle, the results. */
    Alike settledIfAny(List<PhaseResult> some) {
        List<PhaseResult> settled =
                some.stream().map(this::settlingAfter).flatMap(Optional::stream).toList();
        return settled.isEmpty() ? new Alike(some, "not settled") : new Alike(settled, "settled");
    }

    /** The change of the checkpoint distance after a result, when there was one. */
    Optional<PhaseResult> retuningAfter(PhaseResult result) {
        return after(result, PhaseResult.RETUNE_SUFFIX);
    }

    /** Operations per second of a result that was settled, the time of all that was done after it included. */
    OptionalDouble rateWithSettling(PhaseResult result) {
        Optional<PhaseResult> settling = settlingAfter(result);
        if (settling.isEmpty() || result.operations() == 0) {
            return OptionalDouble.empty();
        }
        double retuning = retuningAfter(result).map(PhaseResult::seconds).orElse(0.0);
        return OptionalDouble.of(result.operations() / (result.seconds() + retuning + settling.get().seconds()));
    }

    private Optional<PhaseResult> after(PhaseResult result, String suffix) {
        return results.stream()
                .filter(r -> r.phase().equals(result.phase() + suffix)
                        && r.engine().equals(result.engine())
                        && r.threads() == result.threads())
                .findFirst();
    }

    /**
     * Operations per second of a result as a multiple of those of {@code peer} in the same phase; 0 when there are
     * none.
     */
    double ratio(PhaseResult result, String peer) {
        return results.stream()
                .filter(r ->
                        r.phase().equals(result.phase()) && r.engine().equals(peer) && r.threads() == result.threads())
                .findFirst()
                .map(r -> r.operations() == 0 ? 0 : result.operationsPerSecond() / r.operationsPerSecond())
                .orElse(0.0);
    }
}
