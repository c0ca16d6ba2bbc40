package dev.heartwood;

/**
 * A store whose policy is {@link CompactionPolicyKind#AUTO}, or the environment of such stores, has changed something by itself.
 *
 * @param part what was changed
 * @param range the keys for which it was changed; all of them for the checkpoint distance, for memory, and where keys are
 *     hashed, since what is changed there is a range of hashes
 * @param from what it was: a policy, a number of memtables, or bytes
 * @param to what it is now
 * @param reason what was weighed against what, in words and numbers
 */
public record PolicyChange(Part part, KeyRange range, String from, String to, String reason) {
    /** What of a store can change. */
    public enum Part {
        /** The policy of the leaves that have keys in the range. */
        LEAVES,
        /** The policy of the nodes above the leaves that have keys in the range. */
        INNER_NODES,
        /** How many memtables checkpoints are apart. */
        CHECKPOINT_DISTANCE,
        /** How much memory for memtables and merges the environment lends to its caches while nobody else uses it. */
        LENT_MEMORY
    }

    /** The line for a log. */
    @Override
    public String toString() {
        return part + " of " + range + " from " + from + " to " + to + ": " + reason;
    }
}
