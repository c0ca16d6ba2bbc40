package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A tree at one moment, for what decides about its policies.
 *
 * @param leaves the leaves in the order of their keys
 * @param innerBytes bytes that nodes above the leaves hold for their children
 * @param height levels of nodes; 1 is a single leaf
 * @param ownPolicies nodes that have a policy of their own
 */
public record TreeGauge(List<Leaf> leaves, long innerBytes, int height, int ownPolicies) {
    /**
     * A leaf.
     *
     * @param span its keys
     * @param scans cursors that have opened it since it was last changed
     * @param bytes what its runs hold of its keys
     * @param runs its runs
     */
    public record Leaf(Span span, long scans, long bytes, int runs) {}

    static TreeGauge of(TrunkNode root) {
        List<Leaf> leaves = new ArrayList<>();
        long innerBytes = add(root, Span.ALL, leaves);
        return new TreeGauge(List.copyOf(leaves), innerBytes, root.height() + 1, ownPolicies(root));
    }

    private static int ownPolicies(TrunkNode node) {
        int own = node.ownPolicy() == null ? 0 : 1;
        for (int p = 0; p < node.pivotCount() && !node.isLeaf(); p++) {
            own += ownPolicies(node.pivot(p).child());
        }
        return own;
    }

    /** Adds the leaves below a node; returns what the nodes above them hold. */
    private static long add(TrunkNode node, Span span, List<Leaf> leaves) {
        if (node.isLeaf()) {
            int runs = node.liveRuns(0, node.runCount());
            leaves.add(new Leaf(span, node.scans(), NodeMeasure.bytes(node, span), runs));
            return 0;
        }
        long bytes = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            Span pivotSpan = node.pivotSpan(p, span);
            bytes += NodeMeasure.activeBytes(node, p, pivotSpan) + add(node.pivot(p).child(), pivotSpan, leaves);
        }
        return bytes;
    }
}
