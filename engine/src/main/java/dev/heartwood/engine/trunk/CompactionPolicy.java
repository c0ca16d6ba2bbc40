package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;

/**
 * Decides how lazily nodes flush and merge. Called under the trunk's structure lock: it looks at samples and counts, never at
 * pages. Stateless.
 */
interface CompactionPolicy {
    /** Whether what a node holds for a pivot moves to the child now. */
    boolean flushes(TrunkNode node, int pivot, Span pivotSpan, Urge urge);

    /**
     * The merge a node wants, or null.
     *
     * @param bundlesFrom the first bundle that may be merged; those before it are left as they are
     * @param usage of the runs of the whole tree; null unless the urge reclaims
     */
    CompactionPlan plan(TrunkNode node, int bundlesFrom, Span span, Urge urge, RunUsage usage);

    /** How much a merge must be needed to be planned. */
    enum Urge {
        /** Only what the shape of the tree demands. */
        NEEDED,
        /** Also what scans have paid for; what somebody still sees cannot be dropped. */
        SCANNED,
        /** Also what makes reads cheaper or frees space while there is nothing else to do. */
        IDLE,
        /** Also what frees the last space: somebody waits for it. */
        SETTLING;

        boolean isQuiet() {
            return this != NEEDED;
        }

        /** Whether merges pay that only drop what nobody sees. */
        boolean reclaims() {
            return this == IDLE || this == SETTLING;
        }
    }
}
