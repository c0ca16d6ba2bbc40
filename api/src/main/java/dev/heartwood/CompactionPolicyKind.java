package dev.heartwood;

/** How lazily the tree merges: what is saved on writes is paid by scans and space. */
public enum CompactionPolicyKind {
    /** Runs wait until there are as many as the fanout, everywhere: the fewest bytes written (SplinterDB, section 2). */
    SIZE_TIERED,
    /** Few runs in the leaves, many above them: cheaper scans, more bytes written (lazy levelling). */
    LAZY_LEVELING,
    /**
     * The runs of each node form levels that double in size and hold every key once, and a leaf is one level: the cheapest scans and the
     * least space, the most bytes written (TurtleKV, section 3).
     */
    LEVEL_TIERED
}
