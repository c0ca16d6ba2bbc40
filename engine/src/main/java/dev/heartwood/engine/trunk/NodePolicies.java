package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Which policy a node is under: its own, or else the one that is common to its tree. Guarded by the trunk's structure lock. */
final class NodePolicies {
    private final Map<TrunkPolicies, CompactionPolicy> policies = new EnumMap<>(TrunkPolicies.class);
    private TrunkPolicies common;

    NodePolicies(TreeShape shape, TrunkPolicies common) {
        for (TrunkPolicies each : TrunkPolicies.values()) {
            policies.put(each, each.policy(shape));
        }
        this.common = common;
    }

    CompactionPolicy of(TrunkNode node) {
        return policies.get(node.ownPolicy() == null ? common : node.ownPolicy());
    }

    TrunkPolicies common() {
        return common;
    }

    void use(TrunkPolicies policy) {
        common = policy;
    }

    /**
     * The tree below {@code node}, whose keys are {@code nodeSpan}, with the nodes of some heights that have keys in {@code span} under a
     * policy of their own, or none for null; the same node when they are so already. Bundles are shared with the tree as it was.
     */
    static TrunkNode change(
            TrunkNode node, Span nodeSpan, Span span, Trunk.Heights heights, TrunkPolicies policy) {
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        boolean changed = false;
        for (int p = 0; p < node.pivotCount(); p++) {
            Pivot pivot = node.pivot(p);
            Span pivotSpan = node.pivotSpan(p, nodeSpan);
            if (pivot.child() != null && !pivotSpan.intersect(span).isEmpty()) {
                TrunkNode child = change(pivot.child(), pivotSpan, span, heights, policy);
                changed |= child != pivot.child();
                pivot = pivot.withChild(child);
            }
            pivots.add(pivot);
        }
        TrunkNode copied = changed ? node.with(pivots, node.bundles()) : node;
        return heights.contains(node.height()) && node.ownPolicy() != policy ? copied.withPolicy(policy) : copied;
    }
}
