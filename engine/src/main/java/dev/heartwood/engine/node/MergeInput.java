package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import java.util.ArrayList;
import java.util.List;

/**
 * A run in one of the bundles of a plan.
 *
 * @param bundle the bundle
 * @param value the run's place in it, which is its value in the bundle's maplet
 * @param run the run
 * @param position its position among all runs of the node
 */
public record MergeInput(Bundle bundle, int value, Run run, int position) {
    /** The runs in the bundles of a plan, oldest first; those to be merged and those to be kept. */
    public static List<MergeInput> of(CompactionPlan plan) {
        List<MergeInput> inputs = new ArrayList<>();
        int position = plan.node().runStart(plan.bundleFrom());
        for (Bundle bundle : plan.bundles()) {
            for (int i = 0; i < bundle.runs().length; i++, position++) {
                if (bundle.runs()[i] != null) {
                    inputs.add(new MergeInput(bundle, i, bundle.runs()[i], position));
                }
            }
        }
        return inputs;
    }

    /** Whether the plan merges the run; else it stays as it is. */
    public boolean isMerged(CompactionPlan plan) {
        return position >= plan.runFrom() && position < plan.runTo();
    }

    /** The keys for which the run is still active in its node: what has been flushed to a child is not merged again. */
    public List<Span> activeRanges(CompactionPlan plan) {
        List<Span> ranges = new ArrayList<>();
        TrunkNode node = plan.node();
        Span open = null;
        for (int p = 0; p < node.pivotCount(); p++) {
            boolean active = node.pivot(p).firstActive() <= position;
            Span pivotSpan = node.pivotSpan(p, plan.span());
            if (active && open != null) {
                open = new Span(open.from(), pivotSpan.to());
            } else if (active) {
                open = pivotSpan;
            }
            if (open != null && (!active || p + 1 == node.pivotCount())) {
                Span both = open.intersect(bundle.span());
                if (!both.isEmpty()) {
                    ranges.add(both);
                }
                open = null;
            }
        }
        return ranges;
    }

    /** The entries of the run within the keys for which its bundle counts, estimated by its sample. */
    long entriesWithin(CompactionPlan plan) {
        long all = Math.max(1, run.sample().bytes());
        double share = (double) run.sample().bytesWithin(plan.spanOf(bundle)) / all;
        return (long) Math.ceil(run.branch().entries() * share);
    }
}
