package dev.heartwood.engine.merge;

import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.trunk.Trunk;
import java.util.function.LongSupplier;

/**
 * Decides how what a merge writes reaches the device. What is merged again before the next checkpoint need never be written, if it
 * stays in the cache until then. Thread-safe.
 */
public final class MergeOutput {
    /** Of what may wait unwritten in the cache, one big merge brings at most one part of so many. */
    private static final int UNWRITTEN_SHARE = 4;

    private final TreeStorage storage;
    private final Trunk trunk;
    private final LongSupplier distanceBytes;

    /** @param distanceBytes what the store writes between two checkpoints */
    public MergeOutput(TreeStorage storage, Trunk trunk, LongSupplier distanceBytes) {
        this.storage = storage;
        this.trunk = trunk;
        this.distanceBytes = distanceBytes;
    }

    /** The mode for the merged run of a plan. */
    WriteMode mode(CompactionPlan plan) {
        long bytes = plan.inputBytes();
        boolean small = bytes <= trunk.shape().memtableBytes();
        if (lifeBytes(plan, bytes) > distanceBytes.getAsLong()) {
            return small ? WriteMode.LASTING : WriteMode.KEPT;
        }
        boolean fits = bytes <= storage.file().unwrittenBytesMax() / UNWRITTEN_SHARE;
        return small || fits ? WriteMode.MERGED : WriteMode.KEPT;
    }

    /** The mode for the maplet that names a run. */
    static dev.heartwood.engine.filter.WriteMode filterMode(WriteMode run) {
        return run == WriteMode.MERGED
                ? dev.heartwood.engine.filter.WriteMode.MERGED
                : dev.heartwood.engine.filter.WriteMode.LASTING;
    }

    /**
     * What the store will have written until the run is merged or flushed on, about. All nodes of a height take an equal share of what is
     * written. A node gathers further runs of the size until it is full, which takes half of its budget on average; but what was merged of
     * all runs is merged again, where keys are overwritten, when as much has come once more.
     */
    private long lifeBytes(CompactionPlan plan, long bytes) {
        boolean whole = plan.takesOldest() && plan.runTo() == plan.node().runCount();
        return bytes * trunk.nodesAt(plan.height()) * (whole ? 1 : trunk.shape().runsMax() / 2);
    }
}
