package dev.heartwood.engine.trunk;

import dev.heartwood.KeyOrder;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.FilterLimit;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;

/** What the policies promise of the nodes of a tree: a node for which nothing is left to merge has no more runs than they allow. */
public final class PolicyRules {
    /** Bytes decide when a node flushes, not what it merges. */
    private static final long ANY_MEMTABLE_BYTES = 1 << 20;

    private final TreeShape shape;
    private final NodePolicies policies;

    /** The rules of trees of a fanout, whose nodes without a policy of their own are under {@code common}. */
    public PolicyRules(KeyOrder order, int fanout, TrunkPolicies common) {
        this(
                switch (order) {
                    case SORTED -> TreeShape.of(fanout, ANY_MEMTABLE_BYTES);
                    case HASHED -> TreeShape.ofHashed(fanout, ANY_MEMTABLE_BYTES);
                },
                common);
    }

    PolicyRules(TreeShape shape, TrunkPolicies common) {
        this.shape = shape;
        this.policies = new NodePolicies(shape, common);
    }

    /**
     * In what a node breaks its policy's promise; null when it does not, when a merge is due that will make it good, or when a filter is
     * damaged, so that what is due cannot be told, or what would be merged is more than a filter may have.
     */
    public String breach(TreeWalk.Node view) {
        TrunkNode node = view.node();
        if (node.bundles().stream().anyMatch(bundle -> bundle.maplet() == null)) {
            return null;
        }
        CompactionPolicy policy = policies.of(node);
        if (policy.plan(node, 0, view.span(), CompactionPolicy.Urge.NEEDED, null) != null) {
            return null;
        }
        if (!FilterLimit.allows(node, shape)) {
            return null;
        }
        int tiers = policy.tiers(node, view.span());
        int most = policy.tiersMax(node);
        return tiers <= most ? null : tiers + " runs that share keys, of which there may be " + most;
    }
}
