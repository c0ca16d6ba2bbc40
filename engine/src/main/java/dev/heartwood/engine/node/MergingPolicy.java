package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;

/**
 * What the policies have in common: when a node is rewritten whole whatever its policy, and which bundles get one maplet. How many runs
 * a node may have, and so where a merge begins, is each policy's own.
 */
public abstract class MergingPolicy implements CompactionPolicy {
    /** Cursors that must have read a node of several runs before a quiet moment is spent on making them one. */
    public static final int SCANS_MIN = 16;

    /**
     * Bytes that a core merges while a scan in the cache looks into one run more than it had to, and while it waits for one read of the
     * device more.
     */
    public static final long BYTES_PER_SPARED_RUN = 512;

    public static final long BYTES_PER_SPARED_READ = 16 << 10;

    /** Tombstones among the entries of a leaf that are left alone, and likewise versions that were kept for views. */
    private static final double DROPPED_SHARE_MAX = 0.25;

    /** Space of a leaf's runs that no node needs, beside what it does need, that is left alone. */
    private static final double DEAD_SHARE_MAX = 0.125;

    /**
     * Superseded entries of a leaf for each one that is not, that are left alone: so a leaf that is written again and again takes about
     * twice its space, at the price of writing each entry once more.
     */
    private static final double SUPERSEDED_SHARE_MAX = 1;

    /**
     * The same in a leaf that shares most of its runs since it was split: from then on filters that name the keys of several leaves tell
     * less and less what is superseded in one.
     */
    private static final double SUPERSEDED_SHARE_SPLIT = 0.25;

    /** The same while somebody waits for space. */
    private static final double SUPERSEDED_SHARE_SETTLED = 0.05;

    /** Bytes of all runs that a leaf refers to, for each that lies in it, that are left alone when somebody waits for cheap reads. */
    private static final double REACH_MAX_SETTLED = 1.25;

    /** The same from which on a leaf shares most of its runs. */
    private static final double REACH_SPLIT = 2;

    /** What a node holds for a child beside what the child holds itself, that is left where it is while somebody waits for cheap reads. */
    private static final double HELD_SHARE_SETTLED = 0.05;

    final TreeShape shape;

    MergingPolicy(TreeShape shape) {
        this.shape = shape;
    }

    /**
     * The position from which on a node's runs become one; the count of its runs when none have to.
     *
     * @param runsFrom the first run that may be merged
     * @param unsettledFrom the first run that a flush has brought and no merge has dealt with
     */
    abstract int mergeFrom(TrunkNode node, int runsFrom, int unsettledFrom, Span span, Urge urge);

    @Override
    public final CompactionPlan plan(TrunkNode node, int bundlesFrom, Span span, Urge urge, RunUsage usage) {
        int bundles = node.bundleCount();
        if (bundles == bundlesFrom) {
            return null;
        }
        int runsFrom = node.runStart(bundlesFrom);
        int unsettledFrom = bundlesFrom;
        while (unsettledFrom < bundles && node.bundle(unsettledFrom).settled()) {
            unsettledFrom++;
        }
        int runTo = node.runCount();
        int live = node.liveRuns(runsFrom, runTo);
        int runFrom = mergeFrom(node, runsFrom, node.runStart(unsettledFrom), span, urge);
        boolean scattered = urge.isQuiet() && bundlesFrom == 0 && ScatteredValues.in(node);
        boolean rewrite = bundlesFrom == 0
                && (node.isLeaf() && (isMostlySuperseded(node, span, live, urge) || reachesFar(node, span, urge))
                        || urge.isQuiet() && isPaidFor(node, span, live, scattered)
                        || scattered && urge == Urge.SETTLING
                        || urge.reclaims() && node.isLeaf() && frees(node, span, live, urge, usage));
        if (rewrite) {
            runFrom = 0;
        }
        boolean merge = rewrite || runFrom < runTo && node.liveRuns(runFrom, runTo) > 1;
        int bundlesMax = urge.reclaims() ? 1 : shape.bundlesMax(node.isLeaf());
        if (!merge && bundles - bundlesFrom <= bundlesMax && unsettledFrom == bundles) {
            return null;
        }
        int bundleFrom = merge ? node.bundleOf(runFrom) : Math.min(unsettledFrom, bundles - 1);
        bundleFrom = urge.reclaims() ? bundlesFrom : joinedFrom(node, bundlesFrom, span, bundleFrom, bundlesMax);
        if (!CompactionPlan.hasOneSpan(node, bundleFrom, bundles, span)) {
            // Nodes were joined; only a merge of all runs makes bundles of different spans one.
            return FilterLimit.within(
                    new CompactionPlan(node.height(), span, node, bundlesFrom, bundles, runsFrom, runTo, scattered), shape);
        }
        int from = merge ? runFrom : runTo;
        boolean gathers = scattered && CompactionPlan.isOldest(node, from);
        return FilterLimit.within(
                new CompactionPlan(node.height(), span, node, bundleFrom, bundles, from, runTo, gathers), shape);
    }

    /** Whether so much is held for a child that it is merged there before a store is settled. */
    static boolean isWorthSettling(TrunkNode node, int pivot, Span pivotSpan, long held) {
        TrunkNode child = node.pivot(pivot).child();
        return child != null && held > HELD_SHARE_SETTLED * NodeMeasure.bytes(child, pivotSpan);
    }

    /**
     * From which bundle on maplets are built into one: on to older bundles while they are of like size, so that a fingerprint is
     * copied a few times and not for every flush, and on while more would remain than are allowed.
     */
    private int joinedFrom(TrunkNode node, int bundlesFrom, Span span, int from, int bundlesMax) {
        if (shape.spread() == KeySpread.EVEN && from - bundlesFrom < bundlesMax) {
            // Every memtable brings as much as any other, so like sizes are the rule: joining can wait until it must be.
            return from;
        }
        int bundleFrom = from;
        long joined = 0;
        for (int b = from; b < node.bundleCount(); b++) {
            joined += bundleBytes(node.bundle(b), span);
        }
        while (bundleFrom > bundlesFrom) {
            long older = bundleBytes(node.bundle(bundleFrom - 1), span);
            if (older > 2 * joined && bundleFrom - bundlesFrom < bundlesMax) {
                break;
            }
            joined += older;
            bundleFrom--;
        }
        return bundleFrom;
    }

    private static long bundleBytes(Bundle bundle, Span span) {
        long bytes = 0;
        for (Run run : bundle.runs()) {
            bytes += run == null ? 0 : run.sample().bytesWithin(span.intersect(bundle.span()));
        }
        return bytes;
    }

    /**
     * Whether scans have cost as much more as making one of all runs of a node takes: they are taken to go on. Where it is {@code
     * scattered}, most reads of large values are spared, too.
     */
    private static boolean isPaidFor(TrunkNode node, Span span, int live, boolean scattered) {
        if (live < 2 && !scattered || node.scans() < SCANS_MIN) {
            return false;
        }
        long looks = node.scans() * (live - 1L);
        long reads = (live < 2 ? 0 : node.scanReads() * (live - 1L) / live) + (scattered ? node.largeReads() : 0);
        return looks * BYTES_PER_SPARED_RUN + reads * BYTES_PER_SPARED_READ > NodeMeasure.bytes(node, span);
    }

    /**
     * Whether runs of a leaf hold the same keys too often; versions that one run has were all still seen by somebody when it was written. Filters
     * that know groups do not tell.
     */
    private boolean isMostlySuperseded(TrunkNode leaf, Span span, int live, Urge urge) {
        if (live < 2 || shape.spread() == KeySpread.GROUPED) {
            return false;
        }
        double share = NodeMeasure.supersededShare(leaf);
        return share > (urge == Urge.SETTLING ? SUPERSEDED_SHARE_SETTLED : SUPERSEDED_SHARE_MAX)
                || share > SUPERSEDED_SHARE_SPLIT && reach(leaf, span) > REACH_SPLIT;
    }

    /** Whether most of what a leaf's filters name lies in other leaves, with which it shares the runs since they were one. */
    private boolean reachesFar(TrunkNode leaf, Span span, Urge urge) {
        return shape.reachMax() < Long.MAX_VALUE
                && reach(leaf, span) > (urge == Urge.SETTLING ? REACH_MAX_SETTLED : shape.reachMax());
    }

    /** Bytes of all runs of a leaf, but of those that a flush has brought, for each that lies in it. */
    private static double reach(TrunkNode leaf, Span span) {
        long within = 0;
        long all = 0;
        for (Bundle bundle : leaf.bundles()) {
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && bundle.settled()) {
                    within += run.sample().bytesWithin(both);
                    all += run.sample().bytes();
                }
            }
        }
        return (double) all / Math.max(1, within);
    }

    /**
     * Whether a full merge of a leaf would remove enough: tombstones, what was kept for views, of which none is open any more that is older than
     * something in the tree, or space nobody reads.
     */
    private static boolean frees(TrunkNode leaf, Span span, int live, Urge urge, RunUsage usage) {
        double shareMax = urge == Urge.SETTLING ? 0 : DROPPED_SHARE_MAX;
        return live > 0 && (NodeMeasure.tombstoneShare(leaf, span) > shareMax || NodeMeasure.keptShare(leaf, span) > shareMax)
                || usage.deadBytes(leaf, span) > DEAD_SHARE_MAX * NodeMeasure.bytes(leaf, span);
    }
}
