package dev.heartwood;

import java.util.Objects;

/**
 * What of a store can be changed while it runs; see {@link KeyValueStore#tune}. Immutable, thread-safe. Made from the one in force:
 *
 * <pre>{@code
 * store.tune(store.tuning().withCheckpointDistance(64));
 * }</pre>
 */
public final class StoreTuning {
    private final int checkpointDistance;
    private final CompactionPolicyKind policy;
    private final double spaceAmplificationTarget;

    private StoreTuning(int checkpointDistance, CompactionPolicyKind policy, double spaceAmplificationTarget) {
        this.checkpointDistance = checkpointDistance;
        this.policy = Objects.requireNonNull(policy, "policy");
        this.spaceAmplificationTarget = spaceAmplificationTarget;
    }

    /** What options say of it. */
    public static StoreTuning of(StoreOptions options) {
        return new StoreTuning(options.checkpointDistance(), options.policy(), options.spaceAmplificationTarget());
    }

    /**
     * Memtables between two checkpoints; see {@link StoreOptions#checkpointDistance()}. Under {@link CompactionPolicyKind#AUTO} what was
     * asked for; {@link StoreStats#checkpointDistance()} is what is in force.
     */
    public int checkpointDistance() {
        return checkpointDistance;
    }

    /**
     * This tuning with another checkpoint distance, in memtables.
     *
     * @throws IllegalArgumentException when it is not within 1 to 1,024
     */
    public StoreTuning withCheckpointDistance(int memtables) {
        return new StoreTuning(StoreOptions.checkDistance(memtables), policy, spaceAmplificationTarget);
    }

    /** How lazily the tree merges; see {@link StoreOptions#policy()}. */
    public CompactionPolicyKind policy() {
        return policy;
    }

    /**
     * This tuning with another policy. What that wants merged is merged in the background. {@link CompactionPolicyKind#AUTO} leaves it to the
     * store from then on, and any other ends that for all of the tree.
     */
    public StoreTuning withPolicy(CompactionPolicyKind newPolicy) {
        return new StoreTuning(checkpointDistance, newPolicy, spaceAmplificationTarget);
    }

    /** Space taken for each byte of live entries, at most; see {@link StoreOptions#spaceAmplificationTarget()}. */
    public double spaceAmplificationTarget() {
        return spaceAmplificationTarget;
    }

    /**
     * This tuning with another target of space. What is redundant by it is removed in the background.
     *
     * @throws IllegalArgumentException when it is not within 1.05 to 100
     */
    public StoreTuning withSpaceAmplificationTarget(double target) {
        return new StoreTuning(checkpointDistance, policy, StoreOptions.checkSpaceAmplification(target));
    }

    /** The options with what this tuning says. */
    public StoreOptions applyTo(StoreOptions options) {
        return options.toBuilder()
                .checkpointDistance(checkpointDistance)
                .policy(policy)
                .spaceAmplificationTarget(spaceAmplificationTarget)
                .build();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoreTuning tuning
                && tuning.checkpointDistance == checkpointDistance
                && tuning.policy == policy
                && tuning.spaceAmplificationTarget == spaceAmplificationTarget;
    }

    @Override
    public int hashCode() {
        return Objects.hash(checkpointDistance, policy, spaceAmplificationTarget);
    }

    @Override
    public String toString() {
        return "checkpointDistance = " + checkpointDistance + ", policy = " + policy
                + ", spaceAmplificationTarget = " + spaceAmplificationTarget;
    }
}
