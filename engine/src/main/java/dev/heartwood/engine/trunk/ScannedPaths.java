package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiPredicate;

/**
 * Finds leaves whose scans have looked so often into runs of the nodes above that they have paid for moving those to the leaf and making one
 * run of all: otherwise every scan looks into them until writes move them on. Belongs to one thread; the tree does not change meanwhile.
 */
final class ScannedPaths {
    private record Step(TrunkNode node, int pivot) {}

    /** A leaf, by its keys and the id of its oldest bundle. */
    record Leaf(Span span, long oldestBundle) {}

    private final BiPredicate<TrunkNode, Span> mayMerge;
    private final Deque<Step> path = new ArrayDeque<>();
    private Leaf best;
    private double bestShare = 1;

    private ScannedPaths(BiPredicate<TrunkNode, Span> mayMerge) {
        this.mayMerge = mayMerge;
    }

    /** The leaf whose scans have paid the most times over, of those that may be merged; null when none has paid. */
    static Leaf mostPaid(TrunkNode root, BiPredicate<TrunkNode, Span> mayMerge) {
        ScannedPaths paths = new ScannedPaths(mayMerge);
        paths.visit(root, Span.ALL);
        return paths.best;
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
        if (leaf.looksAbove() < MergingPolicy.SCANS_MIN || leaf.bundleCount() == 0 || !mayMerge.test(leaf, span)) {
            return;
        }
        long held = 0;
        long bytes = NodeMeasure.bytes(leaf, span);
        for (Step step : path) {
            held += NodeMeasure.activeRuns(step.node, step.pivot, span);
            bytes += NodeMeasure.activeBytes(step.node, step.pivot, span);
        }
        if (held == 0) {
            return;
        }
        long own = MergingPolicy.liveRuns(leaf, 0, leaf.runCount());
        long looks = leaf.looksAbove() + leaf.scans() * Math.max(0, own - 1);
        long reads = leaf.scanReads() * (held + own - 1) / (held + own);
        double paid = looks * MergingPolicy.BYTES_PER_SPARED_RUN + reads * MergingPolicy.BYTES_PER_SPARED_READ;
        if (paid > bestShare * bytes) {
            bestShare = paid / bytes;
            best = new Leaf(span, leaf.bundle(0).id());
        }
    }
}
