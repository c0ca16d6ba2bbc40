package dev.heartwood.engine.node;

import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;

/**
 * Keeps merges within the runs that there is memory to read at once. A node comes to more where merges fell behind: then neighbours are merged
 * first, as many as may be, and of those the ones of the fewest bytes, as often as it takes.
 */
public final class InputLimit {
    /** As many runs are merged in any case: a node comes to them before anything is merged. */
    private static final int RUNS_MIN = 16;

    private InputLimit() {}

    /** The most runs that merges with that memory read, of which who packs takes some, too. */
    static int runsMax(MemoryPool pool) {
        long others = BranchWriter.memoryBytes(pool) + FingerprintPieces.bufferBytesMax(pool);
        long run = (2L * MergeMemory.CHUNK_PAGES_MIN + 1) * PageLayout.PAGE_BYTES;
        return Math.clamp((pool.capacity() / 4 * 3 - others) / run, RUNS_MIN, Integer.MAX_VALUE);
    }

    /** A merge, or the part of it that comes first. */
    public static CompactionPlan within(CompactionPlan plan, TreeShape shape) {
        TrunkNode node = plan.node();
        int runsMax = shape.mergedRunsMax();
        if (plan.runTo() - plan.runFrom() <= runsMax || node.liveRuns(plan.runFrom(), plan.runTo()) <= runsMax) {
            return plan;
        }
        CompactionPlan best = null;
        int bestRuns = 0;
        long bestBytes = 0;
        for (int bundle = plan.bundleFrom(); bundle < plan.bundleTo(); bundle++) {
            CompactionPlan part = from(plan, bundle, runsMax);
            int runs = node.liveRuns(part.runFrom(), part.runTo());
            long bytes = part.inputBytes();
            if (best == null || runs > bestRuns || runs == bestRuns && bytes < bestBytes) {
                best = part;
                bestRuns = runs;
                bestBytes = bytes;
            }
        }
        return best;
    }

    /** As many bundles as may be from one on; or some runs of that one. */
    private static CompactionPlan from(CompactionPlan plan, int bundleFrom, int runsMax) {
        TrunkNode node = plan.node();
        int runFrom = Math.max(plan.runFrom(), node.runStart(bundleFrom));
        int runs = 0;
        int runTo = runFrom;
        int bundleTo = bundleFrom;
        while (bundleTo < plan.bundleTo()) {
            int end = Math.max(runTo, Math.min(plan.runTo(), node.runStart(bundleTo + 1)));
            runs += node.liveRuns(runTo, end);
            if (runs > runsMax) {
                break;
            }
            runTo = end;
            bundleTo++;
        }
        return bundleTo > bundleFrom ? plan.ofBundles(bundleFrom, bundleTo) : plan.ofRuns(bundleFrom, runFrom, runsMax);
    }
}
