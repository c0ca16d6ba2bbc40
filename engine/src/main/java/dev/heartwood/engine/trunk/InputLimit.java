package dev.heartwood.engine.trunk;

import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;

/**
 * Keeps merges within the runs that there is memory to read at once. A node comes to more where merges fell behind: neighbours are merged
 * first then, those of the fewest bytes, as often as it takes. Immutable.
 */
final class InputLimit {
    /** As many runs are merged in any case: a node comes to them before anything is merged. */
    private static final int RUNS_MIN = 16;

    private final long bytesMax;

    /** @param pool the memory for merges; who packs takes some of it, too */
    InputLimit(MemoryPool pool) {
        long fingerprints = FingerprintPieces.bufferBytesMax(pool);
        bytesMax = pool.capacity() / 4 * 3 - BranchWriter.memoryBytes(pool) - fingerprints;
    }

    /** A merge, or the part of it that comes first. */
    CompactionPlan within(CompactionPlan plan) {
        TrunkNode node = plan.node();
        if (allows(node, plan.runFrom(), plan.runTo())) {
            return plan;
        }
        CompactionPlan best = null;
        for (int bundle = plan.bundleFrom(); bundle < plan.bundleTo(); bundle++) {
            CompactionPlan part = from(plan, bundle);
            best = best == null || isBetter(part, best) ? part : best;
        }
        return best;
    }

    /** As many bundles as may be from one on; or some runs of that one. */
    private CompactionPlan from(CompactionPlan plan, int bundleFrom) {
        TrunkNode node = plan.node();
        int runFrom = Math.max(plan.runFrom(), node.runStart(bundleFrom));
        int bundleTo = bundleFrom;
        while (bundleTo < plan.bundleTo() && allows(node, runFrom, Math.min(plan.runTo(), node.runStart(bundleTo + 1)))) {
            bundleTo++;
        }
        if (bundleTo > bundleFrom) {
            return plan.ofBundles(bundleFrom, bundleTo);
        }
        int runTo = runFrom;
        while (allows(node, runFrom, runTo + 1)) {
            runTo++;
        }
        return plan.ofRuns(bundleFrom, bundleFrom + 1, runFrom, runTo);
    }

    private boolean allows(TrunkNode node, int runFrom, int runTo) {
        int runs = 0;
        long bytes = 0;
        for (int position = runFrom; position < runTo; position++) {
            Run run = MergingPolicy.runAt(node, position);
            if (run != null) {
                runs++;
                bytes += 2L * MergeMemory.CHUNK_PAGES_MIN * PageLayout.PAGE_BYTES + BranchCursor.memoryBytes(run.branch());
            }
        }
        return runs <= RUNS_MIN || bytes <= bytesMax;
    }

    /** Whether a merge leaves fewer runs than another one, or as many and takes less. */
    private static boolean isBetter(CompactionPlan plan, CompactionPlan other) {
        int runs = runs(plan);
        int otherRuns = runs(other);
        return runs > otherRuns || runs == otherRuns && plan.inputBytes() < other.inputBytes();
    }

    private static int runs(CompactionPlan plan) {
        return MergingPolicy.liveRuns(plan.node(), plan.runFrom(), plan.runTo());
    }
}
