package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import java.util.ArrayList;
import java.util.List;

/**
 * The runs of a node as levels, from the youngest to the oldest. A level is a stretch of neighbouring runs of which no two share a key,
 * so that a key lies in at most one of them, and a cursor walks through one after the other. Immutable.
 */
final class RunLevels {
    /**
     * A level.
     *
     * @param from the position of its oldest run among all runs of the node
     * @param runs its runs
     * @param bytes what they hold that has not moved on
     */
    record Level(int from, int runs, long bytes) {}

    private final List<Level> levels;

    private RunLevels(List<Level> levels) {
        this.levels = levels;
    }

    /** The levels that the runs from a position on form in a node, whose keys are {@code span}. */
    static RunLevels of(TrunkNode node, int runsFrom, Span span) {
        List<Level> levels = new ArrayList<>();
        List<KeySample> level = new ArrayList<>();
        int from = node.runCount();
        long bytes = 0;
        int position = node.runCount();
        for (Bundle bundle : node.bundles().reversed()) {
            for (int i = bundle.runs().length - 1; i >= 0; i--) {
                Run run = bundle.runs()[i];
                position--;
                if (run == null || position < runsFrom) {
                    continue;
                }
                if (overlaps(level, run.sample())) {
                    levels.add(new Level(from, level.size(), bytes));
                    level.clear();
                    bytes = 0;
                }
                level.add(run.sample());
                bytes += NodeMeasure.activeBytes(node, run, position, span.intersect(bundle.span()), span);
                from = position;
            }
        }
        if (!level.isEmpty()) {
            levels.add(new Level(from, level.size(), bytes));
        }
        return new RunLevels(levels);
    }

    private static boolean overlaps(List<KeySample> level, KeySample sample) {
        for (KeySample other : level) {
            if (other.overlaps(sample)) {
                return true;
            }
        }
        return false;
    }

    int count() {
        return levels.size();
    }

    /** Runs of all levels. */
    int runs() {
        return levels.stream().mapToInt(Level::runs).sum();
    }

    List<Level> youngestFirst() {
        return List.copyOf(levels);
    }
}
