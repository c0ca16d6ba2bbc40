package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;

/**
 * Keeps merges within what a filter may have. The filter of what a merge makes names at most what the filters of its bundles name of their
 * runs, as when there is no memory for new fingerprints; so bundles that name more together do not become one.
 */
public final class FilterLimit {
    private FilterLimit() {}

    /** Whether all bundles of a node may become one. */
    public static boolean allows(TrunkNode node, TreeShape shape) {
        return allows(node, 0, shape);
    }

    /** Whether all bundles of a node may become one with what nodes above hold for it, of which filters name so many entries. */
    public static boolean allows(TrunkNode node, long entriesAbove, TreeShape shape) {
        return NodeMeasure.filterEntries(node, 0, node.bundleCount()) + entriesAbove <= shape.filterEntriesMax();
    }

    private static boolean allows(TrunkNode node, int bundleFrom, int bundleTo, TreeShape shape) {
        return NodeMeasure.filterEntries(node, bundleFrom, bundleTo) <= shape.filterEntriesMax();
    }

    /**
     * A merge, or as much of it as may be done: of the oldest bundles with which it comes to anything, one at least, the filter of which there is
     * already. Null when it comes to nothing.
     */
    static CompactionPlan within(CompactionPlan plan, TreeShape shape) {
        TrunkNode node = plan.node();
        if (allows(node, plan.bundleFrom(), plan.bundleTo(), shape)) {
            return plan;
        }
        for (int from = plan.bundleFrom(); from < plan.bundleTo(); from++) {
            int to = from + 1;
            while (to < plan.bundleTo() && mayBeOne(node, from, to + 1, plan.span(), shape)) {
                to++;
            }
            CompactionPlan part = plan.ofBundles(from, to);
            if (changesAnything(part)) {
                return part;
            }
        }
        return null;
    }

    private static boolean mayBeOne(TrunkNode node, int from, int to, Span span, TreeShape shape) {
        return CompactionPlan.hasOneSpan(node, from, to, span) && allows(node, from, to, shape);
    }

    /** Whether there are fewer runs or bundles after a merge, or fewer that no merge has dealt with: so there is an end to it. */
    private static boolean changesAnything(CompactionPlan plan) {
        return plan.runFrom() < plan.runTo()
                || plan.bundles().size() > 1
                || !plan.bundles().getFirst().settled();
    }
}
