package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import java.util.BitSet;

/**
 * Size-tiering with a budget of runs per height: a node gathers runs up to its budget, then the youngest of like size become
 * one. With the same budget everywhere this is the STBε-tree (SplinterDB, sections 2.4 and 3); with a budget of few at the
 * leaves it is lazy levelling.
 */
final class TieredPolicy extends MergingPolicy {
    /** Runs a leaf may have when they hardly overlap: a read of a key looks into one of them, or two. */
    private static final int DISJOINT_RUNS_MAX = 32;

    /** Superseded entries of a leaf for each one that is not, below which new keys are loaded into it. */
    private static final double SUPERSEDED_SHARE_LOADED = 0.05;

    private final int leafRunsMax;

    TieredPolicy(TreeShape shape, int leafRunsMax) {
        super(shape);
        this.leafRunsMax = leafRunsMax;
    }

    @Override
    public BitSet flushes(TrunkNode node, Span span, Urge urge) {
        BitSet flushed = new BitSet(node.pivotCount());
        for (int p = 0; p < node.pivotCount(); p++) {
            flushed.set(p, flushes(node, p, node.pivotSpan(p, span), urge));
        }
        return flushed;
    }

    private boolean flushes(TrunkNode node, int pivot, Span pivotSpan, Urge urge) {
        long bytes = NodeMeasure.activeBytes(node, pivot, pivotSpan);
        return NodeMeasure.activeRuns(node, pivot, pivotSpan) >= shape.runsMax()
                || bytes >= shape.flushBytes()
                || urge.reclaims() && NodeMeasure.mostlyTombstones(node, pivot, pivotSpan)
                || urge == Urge.SETTLING && isWorthSettling(node, pivot, pivotSpan, bytes);
    }

    @Override
    public int tiersMax(TrunkNode node) {
        return node.isLeaf() ? leafRunsMax : shape.runsMax() * 2;
    }

    @Override
    int mergeFrom(TrunkNode node, int runsFrom, int unsettledFrom, Span span, Urge urge) {
        int runTo = node.runCount();
        int runFrom = unsettledFrom;
        int live = node.liveRuns(runsFrom, runTo);
        int merging = node.liveRuns(runFrom, runTo);
        if (merging < 2 || !NodeMeasure.overlap(node, runFrom, runTo, span, true)) {
            runFrom = runTo;
            merging = 0;
        }
        if (node.isLeaf() && merging > 0 && takesAllAlong(node, runsFrom, runFrom, span)) {
            runFrom = runsFrom;
            merging = live;
        }
        int runsMax = tiersMax(node);
        if (urge == Urge.SETTLING) {
            // What reads after it profit from is part of what is waited for: one run in a leaf, and few in nodes above.
            runsMax = node.isLeaf() ? 1 : Math.min(runsMax, shape.runsMax() / 2);
        }
        // Where nobody can tell what is superseded, it goes when the tree settles.
        boolean isLittleAllowed = urge != Urge.SETTLING || shape.spread() != KeySpread.GROUPED;
        if (mayStayApart(node, runsFrom, span, live, isLittleAllowed)) {
            runsMax = DISJOINT_RUNS_MAX;
        }
        if (live - Math.max(0, merging - 1) > runsMax) {
            runFrom = tierStart(node, runsFrom, span, runFrom == runTo ? runTo : runFrom, runsMax);
        }
        return runFrom;
    }

    private static boolean mayStayApart(TrunkNode node, int runsFrom, Span span, int live, boolean isLittleAllowed) {
        return node.isLeaf()
                && live <= DISJOINT_RUNS_MAX
                && !NodeMeasure.overlap(node, runsFrom, node.runCount(), span, isLittleAllowed);
    }

    /** Runs of a leaf that follow each other and overlap a little are two at most for a key. */
    @Override
    public int tiers(TrunkNode node, Span span) {
        int tiers = super.tiers(node, span);
        return mayStayApart(node, 0, span, node.liveRuns(0, node.runCount()), true) ? Math.min(2, tiers) : tiers;
    }

    /**
     * Whether what a flush has brought to a leaf is merged with all that is older: many runs that together are no more. Such are the
     * memtables that were in a leaf when it split: they would have all of it merged some flushes later, when it is larger. Where keys are
     * overwritten they are left until then: what is superseded goes only with all of them.
     */
    private boolean takesAllAlong(TrunkNode leaf, int runsFrom, int unsettledFrom, Span span) {
        return leaf.liveRuns(runsFrom, unsettledFrom) > tiersMax(leaf) / 2
                && NodeMeasure.supersededShare(leaf) < SUPERSEDED_SHARE_LOADED
                && NodeMeasure.bytes(leaf, runsFrom, unsettledFrom, span)
                        <= NodeMeasure.bytes(leaf, unsettledFrom, leaf.runCount(), span);
    }

    /** Walks from the youngest run to older ones while they are of like size, and on until few enough remain. */
    private int tierStart(TrunkNode node, int runsFrom, Span span, int from, int runsMax) {
        long merged = 0;
        int start = node.runCount();
        for (int position = node.runCount() - 1; position >= runsFrom; position--) {
            Run run = node.run(position);
            if (run == null) {
                continue;
            }
            long bytes = run.sample().bytesWithin(span);
            boolean must = position >= from || node.liveRuns(runsFrom, start) + 1 > runsMax / 2 + 1;
            if (!must && bytes > merged) {
                break;
            }
            merged += bytes;
            start = position;
        }
        return start;
    }
}
