package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import java.util.BitSet;

/**
 * Decides how lazily nodes flush and merge. Called under the trunk's structure lock: it looks at samples and counts, never at
 * pages. Stateless.
 */
public interface CompactionPolicy {
    /** The pivots of a node, whose keys are {@code span}, for which what it holds moves to the child now. */
    BitSet flushes(TrunkNode node, Span span, Urge urge);

    /**
     * The merge a node wants, or null.
     *
     * @param bundlesFrom the first bundle that may be merged; those before it are left as they are
     * @param usage of the runs of the whole tree; null unless the urge reclaims
     */
    CompactionPlan plan(TrunkNode node, int bundlesFrom, Span span, Urge urge, RunUsage usage);

    /** How many runs of a node, whose keys are {@code span}, may hold one key. */
    default int tiers(TrunkNode node, Span span) {
        return RunLevels.of(node, 0, span).count();
    }

    /** How many there are at most when {@link #plan} has nothing to merge that is needed. */
    int tiersMax(TrunkNode node);

    /** How much a merge must be needed to be planned. */
    enum Urge {
        /** Only what the shape of the tree demands. */
        NEEDED,
        /** Also what scans have paid for; what somebody still sees cannot be dropped. */
        SCANNED,
        /** Also what makes reads cheaper or frees space while there is nothing else to do, and no view is older than something in the tree. */
        IDLE,
        /** Also what frees the last space: somebody waits for it; likewise. */
        SETTLING;

        public boolean isQuiet() {
            return this != NEEDED;
        }

        /** Whether merges pay that only drop what nobody sees. */
        public boolean reclaims() {
            return this == IDLE || this == SETTLING;
        }
    }
}
