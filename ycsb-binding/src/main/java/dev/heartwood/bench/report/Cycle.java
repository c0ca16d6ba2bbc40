package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The steps of a cycle as one load: what they took together, and what the engines changed by themselves on the way. Of several rounds
 * all of it is that of one, since what steps of different rounds took together no round took.
 */
record Cycle(Comparison comparison, Rounds rounds) {
    /**
     * A change on the way.
     *
     * @param seconds when, from the beginning of the cycle on
     * @param what what, and why
     */
    record Change(String engine, double seconds, String what) {}

    boolean isEmpty() {
        return comparison.results().stream().noneMatch(PhaseResult::isStep);
    }

    /** The steps of an engine, in their order, of its median round. */
    List<PhaseResult> steps(String engine) {
        return rounds.stepsOfMedianRound(engine);
    }

    /** Whether an engine came to the end; what others took is no measure of one that failed before. */
    boolean isComplete(String engine) {
        return steps(engine).size() == rounds.steps();
    }

    /** How long all steps of an engine took, or those that it came to. */
    double seconds(String engine) {
        return steps(engine).stream().mapToDouble(PhaseResult::seconds).sum();
    }

    /** What the engines changed, engine by engine, oldest first. */
    List<Change> changes() {
        List<Change> all = new ArrayList<>();
        for (String engine : comparison.engines()) {
            double begin = 0;
            for (PhaseResult step : steps(engine)) {
                for (PhaseResult.Change change : step.changes()) {
                    all.add(new Change(engine, begin + change.seconds(), change.what()));
                }
                begin += step.seconds();
            }
        }
        return all;
    }

    /** A table: engine by engine the whole, as a multiple of the fastest too, its processor seconds, what it read and wrote, between steps too, and the seconds of each step. */
    List<List<String>> table() {
        List<List<String>> rows = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of("engine", "seconds", "× fastest", "processor", "read", "written", "disk"));
        header.addAll(comparison.phases());
        if (rounds.count() > 1) {
            header.add("seconds of rounds");
        }
        rows.add(header);
        double fastest =
                comparison.engines().stream().filter(this::isComplete).mapToDouble(this::seconds).min().orElse(0);
        for (String engine : comparison.engines()) {
            List<PhaseResult> steps = steps(engine);
            List<String> row = new ArrayList<>(List.of(
                    engine,
                    seconds(seconds(engine)),
                    isComplete(engine) ? Numbers.ratio(seconds(engine) / fastest) : "unfinished",
                    seconds(sum(steps, r -> r.between().cpuSeconds() + r.cpuSeconds())),
                    Numbers.bytes(sum(steps, r -> r.between().bytesRead() + r.storage().bytesRead())),
                    Numbers.bytes(sum(steps, r -> r.between().bytesWritten() + r.storage().bytesWritten())),
                    steps.isEmpty() ? "-" : Numbers.bytes(steps.getLast().storage().diskBytes())));
            for (String phase : comparison.phases()) {
                row.add(steps.stream()
                        .filter(r -> r.phase().equals(phase))
                        .findFirst()
                        .map(r -> seconds(r.seconds()))
                        .orElse("-"));
            }
            if (rounds.count() > 1) {
                row.add(rounds.totals(engine));
            }
            rows.add(row);
        }
        return rows;
    }

    private static double sum(List<PhaseResult> steps, ToDoubleFunction<PhaseResult> figure) {
        return steps.stream().mapToDouble(figure).sum();
    }

    /** Engine by engine the steps, each as long as it took, and where the engine changed something. */
    String timeline() {
        List<Svg.Lane> lanes = new ArrayList<>();
        for (String engine : comparison.engines()) {
            List<Svg.Block> blocks = new ArrayList<>();
            double begin = 0;
            for (PhaseResult step : steps(engine)) {
                String title = step.phase() + ", " + seconds(step.seconds()) + " s";
                blocks.add(new Svg.Block(begin, begin += step.seconds(), title));
            }
            List<Svg.Mark> marks = changes().stream()
                    .filter(change -> change.engine().equals(engine))
                    .map(change -> new Svg.Mark(change.seconds(), HtmlReport.escape(change.what())))
                    .toList();
            lanes.add(new Svg.Lane(engine, HtmlReport.escape(engine), blocks, marks));
        }
        return Svg.timeline(lanes, x -> String.format(Locale.ROOT, "%.0f s", x));
    }

    static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.1f", seconds);
    }
}
