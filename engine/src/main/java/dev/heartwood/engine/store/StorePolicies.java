package dev.heartwood.engine.store;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.trunk.Trunk;

/**
 * Changes the policies of single nodes of an open store while it is used; that of all others is {@link KeyValueStore#tune}'s. A change takes effect at once and rewrites nothing by itself; the merges that
 * the new policy wants are then done in the background. Thread-safe.
 */
public final class StorePolicies {
    private final EngineStore store;

    private StorePolicies(EngineStore store) {
        this.store = store;
    }

    /** The policies of a store; null when it is not one of this engine. */
    public static StorePolicies of(KeyValueStore store) {
        return store instanceof EngineStore own ? new StorePolicies(own) : null;
    }

    /**
     * Gives the nodes of some heights that have keys in a range a policy of their own, durable with the next checkpoint, until the store
     * goes over to another policy or is opened again.
     *
     * @throws IllegalArgumentException for {@code AUTO}
     */
    public void set(KeyRange range, Trunk.Heights heights, CompactionPolicyKind policy) {
        if (policy == CompactionPolicyKind.AUTO) {
            throw new IllegalArgumentException("AUTO is a policy of stores, not of nodes");
        }
        store.changePolicy(range, heights, TrunkPolicies.of(policy));
    }

    /** How many nodes have a policy of their own. */
    public int count() {
        return store.ownPolicies();
    }

    /** Takes their own policy from such nodes: they go with the store again. */
    public void clear(KeyRange range, Trunk.Heights heights) {
        store.changePolicy(range, heights, null);
    }
}
