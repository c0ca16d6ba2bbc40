package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.RunLevels.Level;
import java.util.BitSet;

/**
 * Level-tiering within each node (TurtleKV, section 3): a node's runs form levels that grow from the youngest to the oldest and hold
 * every key once. What arrives is merged with all levels that are not larger than what is merged by then, as a binary counter carries, so
 * that a node has about as many levels as the logarithm of its pivots. One batch at a time moves on, to the child for which most is held,
 * and what has moved on is left out of the next merge but not rewritten before. A leaf is one level, or two.
 */
final class LevelTieredPolicy extends MergingPolicy {
    /*
     * Differences from the paper. A level is a run, or several that share no key, instead of segments of one size. The paper merges with
     * every batch and counts on the checkpoint distance to have most of that done in memory; here a node above the leaves lets a few runs
     * wait while there are writes, and they are merged together, which costs fewer bytes. A batch is a part of a leaf, not a whole one:
     * what a node holds for its children, and what has moved on of its runs, is the space that this policy takes beyond the data, and grows
     * with the batch; the bytes that a leaf is written again for shrink with it.
     */
    /** A level is merged with what is younger when it is at most this many times as large: memtables are not all of one size. */
    private static final double LIKE_SIZE = 1.5;

    /** The same in a leaf, where a level less is worth more. */
    private static final double LIKE_SIZE_IN_LEAF = 4;

    /** Levels of a leaf: what it holds, and what is too little to write that again for. */
    private static final int LEAF_LEVELS_MAX = 2;

    /** Levels of another node beside the logarithm of its pivots: runs that wait to be merged together. */
    private static final int WAITING_LEVELS_MAX = 4;

    /** Batches in the largest leaf. */
    private static final int LEAF_BATCHES = 8;

    /** Runs of a node, most of them in one level because they share no key, before some become one. */
    private static final int RUNS_MAX = 32;

    LevelTieredPolicy(TreeShape shape) {
        super(shape);
    }

    @Override
    public int tiersMax(TrunkNode node) {
        return node.isLeaf() ? LEAF_LEVELS_MAX : logarithm(node.pivotCount()) + WAITING_LEVELS_MAX;
    }

    private static int logarithm(int pivots) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(pivots - 1);
    }

    @Override
    public BitSet flushes(TrunkNode node, Span span, Urge urge) {
        BitSet flushed = new BitSet(node.pivotCount());
        int fullest = 0;
        long most = -1;
        for (int p = 0; p < node.pivotCount(); p++) {
            Span pivotSpan = node.pivotSpan(p, span);
            long bytes = NodeMeasure.activeBytes(node, p, pivotSpan);
            if (bytes > most) {
                most = bytes;
                fullest = p;
            }
            if (NodeMeasure.activeRuns(node, p, pivotSpan) >= RUNS_MAX
                    || urge.reclaims() && NodeMeasure.mostlyTombstones(node, p, pivotSpan)
                    || urge == Urge.SETTLING && isWorthSettling(node, p, pivotSpan, bytes)) {
                flushed.set(p);
            }
        }
        if (most >= shape.leafBytesMax(NodeMeasure.entryBytes(node), false) / LEAF_BATCHES) {
            flushed.set(fullest);
        }
        return flushed;
    }

    @Override
    int mergeFrom(TrunkNode node, int runsFrom, int unsettledFrom, Span span, Urge urge) {
        RunLevels levels = RunLevels.of(node, runsFrom, span);
        int levelsMax = levelsMax(node, urge);
        if (mayWait(node, levels, unsettledFrom, urge)) {
            return node.runCount();
        }
        double likeSize = node.isLeaf() ? LIKE_SIZE_IN_LEAF : LIKE_SIZE;
        int levelsLeft = levels.count();
        int runsLeft = levels.runs();
        int from = node.runCount();
        long bytes = 0;
        for (Level level : levels.youngestFirst()) {
            boolean isSettled = level.from() < unsettledFrom;
            boolean isLarger = level.bytes() > likeSize * bytes;
            if (bytes > 0 && isSettled && isLarger && levelsLeft < levelsMax && runsLeft < RUNS_MAX) {
                break;
            }
            from = level.from();
            bytes += level.bytes();
            levelsLeft--;
            runsLeft -= level.runs();
        }
        boolean isOneAlready = levels.count() == levelsLeft + 1 && levels.runs() <= RUNS_MAX;
        return isOneAlready ? node.runCount() : from;
    }

    private int levelsMax(TrunkNode node, Urge urge) {
        return switch (urge) {
            case NEEDED -> tiersMax(node);
            case SCANNED, IDLE -> node.isLeaf() ? 1 : Math.max(1, logarithm(node.pivotCount()));
            case SETTLING -> 1;
        };
    }

    /** Whether runs that arrive at a node above the leaves wait for others, since writes go on and nobody is known to read. */
    private boolean mayWait(TrunkNode node, RunLevels levels, int unsettledFrom, Urge urge) {
        boolean isFlushed = levels.count() > 0 && levels.youngestFirst().getFirst().from() >= unsettledFrom;
        return !node.isLeaf()
                && !urge.isQuiet()
                && !isFlushed
                && levels.count() <= tiersMax(node)
                && levels.runs() <= RUNS_MAX;
    }
}
