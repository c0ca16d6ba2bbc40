package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.FilterLimit;
import dev.heartwood.engine.node.MergingPolicy;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiPredicate;

/**
 * Finds leaves whose scans have looked so often into runs of the nodes above that they have paid for moving those to the leaf and making one
 * run of all: otherwise every scan looks into them until writes move them on. Or those for which that would spare scans most, whoever pays.
 * Belongs to one thread; the tree does not change meanwhile.
 */
final class ScannedPaths {
    private record Step(TrunkNode node, int pivot) {}

    /** A leaf, by its keys and the id of its oldest bundle. */
    record Leaf(Span span, long oldestBundle) {}

    /** What makes a leaf worth a merge. */
    private interface Worth {
        /**
         * For each byte that is merged; the leaf with most is chosen.
         *
         * @param held runs that nodes above hold for the leaf
         * @param own runs of the leaf
         */
        double of(TrunkNode leaf, long held, long own);
    }

    private final Worth worth;
    /** What a leaf's scans must have looked into above it. */
    private final int looksMin;

    private final Span keys;
    private final TreeShape shape;
    private final BiPredicate<TrunkNode, Span> mayMerge;
    private final Deque<Step> path = new ArrayDeque<>();
    private Leaf best;
    private double bestShare;

    private ScannedPaths(
            Worth worth, double least, int looksMin, Span keys, TreeShape shape, BiPredicate<TrunkNode, Span> mayMerge) {
        this.worth = worth;
        this.bestShare = least;
        this.looksMin = looksMin;
        this.keys = keys;
        this.shape = shape;
        this.mayMerge = mayMerge;
    }

    /** The leaf whose scans have paid the most times over, of those that may be merged; null when none has paid. */
    static Leaf mostPaid(TrunkNode root, TreeShape shape, BiPredicate<TrunkNode, Span> mayMerge) {
        return new ScannedPaths(ScannedPaths::paid, 1, MergingPolicy.SCANS_MIN, Span.ALL, shape, mayMerge).find(root);
    }

    /** Of the leaves that have keys in {@code keys} and may be merged, the one with most runs for its bytes; null when each has one run. */
    static Leaf mostScattered(TrunkNode root, Span keys, TreeShape shape, BiPredicate<TrunkNode, Span> mayMerge) {
        return new ScannedPaths((leaf, held, own) -> held + own - 1, 0, 0, keys, shape, mayMerge).find(root);
    }

    private static double paid(TrunkNode leaf, long held, long own) {
        if (held == 0) {
            return 0;
        }
        long looks = leaf.looksAbove() + leaf.scans() * Math.max(0, own - 1);
        long reads = leaf.scanReads() * (held + own - 1) / (held + own);
        return looks * MergingPolicy.BYTES_PER_SPARED_RUN + reads * MergingPolicy.BYTES_PER_SPARED_READ;
    }

    private Leaf find(TrunkNode root) {
        visit(root, Span.ALL);
        return best;
    }

    private void visit(TrunkNode node, Span span) {
        if (node.isLeaf()) {
            visitLeaf(node, span);
            return;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            path.push(new Step(node, p));
            visit(node.pivot(p).child(), node.pivotSpan(p, span));
            path.pop();
        }
    }

    private void visitLeaf(TrunkNode leaf, Span span) {
        boolean isMeant = leaf.looksAbove() >= looksMin && !span.intersect(keys).isEmpty();
        if (!isMeant || leaf.bundleCount() == 0 || !mayMerge.test(leaf, span)) {
            return;
        }
        long held = 0;
        long bytes = NodeMeasure.bytes(leaf, span);
        for (Step step : path) {
            held += NodeMeasure.activeRuns(step.node, step.pivot, span);
            bytes += NodeMeasure.activeBytes(step.node, step.pivot, span);
        }
        double gain = worth.of(leaf, held, leaf.liveRuns(0, leaf.runCount()));
        if (gain > bestShare * bytes && fitsOneFilter(leaf, span)) {
            bestShare = gain / bytes;
            best = new Leaf(span, leaf.bundle(0).id());
        }
    }

    /** Whether a leaf may have one filter with what is held for it: one that may not would be found again and again, and no other. */
    private boolean fitsOneFilter(TrunkNode leaf, Span span) {
        long entriesAbove = 0;
        for (Step step : path) {
            entriesAbove += NodeMeasure.activeFilterEntries(step.node, step.pivot, span);
        }
        return FilterLimit.allows(leaf, entriesAbove, shape);
    }
}
