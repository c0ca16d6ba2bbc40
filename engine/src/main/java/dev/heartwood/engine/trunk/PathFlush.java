package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves what the nodes above one node hold for it to the node, by reference, whatever their policies say: the node is about to be merged
 * with it, at once or a few runs after the other. So what is moved counts as settled and is no debt. Pure: makes new floating nodes.
 */
final class PathFlush {
    private PathFlush() {}

    /** The tree below {@code node}, with everything that is held for the node of a height and a span moved to that node. */
    static TrunkNode flush(TrunkNode node, Span nodeSpan, int height, Span span) {
        if (node.height() <= height) {
            return node;
        }
        int p = pivotOf(node, nodeSpan, span);
        Pivot pivot = node.pivot(p);
        Span pivotSpan = node.pivotSpan(p, nodeSpan);
        List<Bundle> moved = new ArrayList<>();
        Balancer.activeBundles(node, p, pivotSpan).forEach(bundle -> moved.add(bundle.asSettled()));
        TrunkNode child = moved.isEmpty() ? pivot.child() : Balancer.append(pivot.child(), moved);
        TrunkNode flushed = flush(child, pivotSpan, height, span);
        if (flushed == pivot.child()) {
            return node;
        }
        List<Pivot> pivots = new ArrayList<>(node.pivots());
        pivots.set(p, pivot.withChild(flushed).withFirstActive(node.runCount()));
        return Balancer.prune(node.with(pivots, node.bundles()), nodeSpan);
    }

    /** The node of a height whose keys are {@code span}; null when there is none. */
    static TrunkNode find(TrunkNode root, int height, Span span) {
        TrunkNode node = root;
        Span nodeSpan = Span.ALL;
        while (node.height() > height) {
            int p = pivotOf(node, nodeSpan, span);
            nodeSpan = node.pivotSpan(p, nodeSpan);
            node = node.pivot(p).child();
        }
        return node.height() == height && nodeSpan.equals(span) ? node : null;
    }

    /** The pivot that has the first keys of a span. */
    private static int pivotOf(TrunkNode node, Span nodeSpan, Span span) {
        int p = 0;
        while (p + 1 < node.pivotCount() && node.pivotSpan(p, nodeSpan).intersect(span).isEmpty()) {
            p++;
        }
        return p;
    }
}
