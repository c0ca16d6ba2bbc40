package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;

/**
 * Size-tiering with a budget of runs per height: a node gathers runs up to its budget, then the youngest of like size become
 * one. With the same budget everywhere this is the STBε-tree (SplinterDB, sections 2.4 and 3); with a budget of few at the
 * leaves it is lazy levelling.
 */
final class TieredPolicy implements CompactionPolicy {
    /** Bundles a node may have, each with a maplet to be asked, before their maplets are merged into one. */
    private static final int BUNDLES_MAX = 4;

    /** Cursors that must have read a node of several runs before a quiet moment is spent on making them one. */
    private static final int SCANS_MIN = 16;

    /**
     * Bytes that a core merges while a scan in the cache looks into one run more than it had to, and while it waits for one read of the
     * device more.
     */
    private static final long BYTES_PER_SPARED_RUN = 512;

    private static final long BYTES_PER_SPARED_READ = 16 << 10;

    /** Tombstones among the entries of a leaf that are left alone. */
    private static final double TOMBSTONE_SHARE_MAX = 0.25;

    /** Space of a leaf's runs that no node needs, beside what it does need, that is left alone. */
    private static final double DEAD_SHARE_MAX = 0.125;

    /**
     * Superseded entries of a leaf for each one that is not, that are left alone: so a leaf that is written again and again takes about
     * twice its space, at the price of writing each entry once more.
     */
    private static final double SUPERSEDED_SHARE_MAX = 1;

    /** The same while somebody waits for space. */
    private static final double SUPERSEDED_SHARE_SETTLED = 0.05;

    /** Runs a leaf may have when no two share a key: a read of a key looks into one of them at most. */
    private static final int DISJOINT_RUNS_MAX = 32;

    private final TreeShape shape;
    private final int leafRunsMax;

    TieredPolicy(TreeShape shape, int leafRunsMax) {
        this.shape = shape;
        this.leafRunsMax = leafRunsMax;
    }

    @Override
    public boolean flushes(TrunkNode node, int pivot, Span pivotSpan, Urge urge) {
        return NodeMeasure.activeRuns(node, pivot, pivotSpan) >= shape.runsMax()
                || NodeMeasure.activeBytes(node, pivot, pivotSpan) >= shape.flushBytes()
                || urge.reclaims() && NodeMeasure.mostlyTombstones(node, pivot, pivotSpan);
    }

    @Override
    public CompactionPlan plan(TrunkNode node, int bundlesFrom, Span span, Urge urge, RunUsage usage) {
        int bundles = node.bundleCount();
        if (bundles == bundlesFrom) {
            return null;
        }
        int runsFrom = node.runStart(bundlesFrom);
        int unsettledFrom = bundles;
        while (unsettledFrom > bundlesFrom && !node.bundle(unsettledFrom - 1).settled()) {
            unsettledFrom--;
        }
        int runTo = node.runCount();
        int runFrom = node.runStart(unsettledFrom);
        int live = liveRuns(node, runsFrom, runTo);
        int merging = liveRuns(node, runFrom, runTo);
        if (merging < 2 || !NodeMeasure.overlap(node, runFrom, runTo)) {
            runFrom = runTo;
            merging = 0;
        }
        int runsMax = node.isLeaf() ? leafRunsMax : shape.runsMax() * 2;
        if (urge == Urge.SETTLING) {
            // What reads after it profit from is part of what is waited for, as far as it is cheap.
            runsMax = Math.min(runsMax, shape.runsMax() / 2);
        }
        if (node.isLeaf() && live <= DISJOINT_RUNS_MAX && !NodeMeasure.overlap(node, runsFrom, runTo)) {
            runsMax = DISJOINT_RUNS_MAX;
        }
        if (live - Math.max(0, merging - 1) > runsMax) {
            runFrom = tierStart(node, runsFrom, span, runFrom == runTo ? runTo : runFrom, runsMax);
        }
        boolean rewrite = bundlesFrom == 0
                && (node.isLeaf() && isMostlySuperseded(node, live, urge)
                        || urge.isQuiet() && isPaidFor(node, span, live)
                        || urge.reclaims() && node.isLeaf() && frees(node, span, live, urge, usage));
        if (rewrite) {
            runFrom = 0;
        }
        boolean merge = rewrite || runFrom < runTo && liveRuns(node, runFrom, runTo) > 1;
        int bundlesMax = urge.reclaims() ? 1 : BUNDLES_MAX;
        if (!merge && bundles - bundlesFrom <= bundlesMax && unsettledFrom == bundles) {
            return null;
        }
        int bundleFrom = merge ? bundleOf(node, runFrom) : Math.min(unsettledFrom, bundles - 1);
        bundleFrom = urge.reclaims() ? bundlesFrom : joinedFrom(node, bundlesFrom, span, bundleFrom);
        if (!CompactionPlan.hasOneSpan(node, bundleFrom, bundles, span)) {
            // Nodes were joined; only a merge of all runs makes bundles of different spans one.
            return new CompactionPlan(node.height(), span, node, bundlesFrom, bundles, runsFrom, runTo);
        }
        return new CompactionPlan(node.height(), span, node, bundleFrom, bundles, merge ? runFrom : runTo, runTo);
    }

    /** The bundle that holds a position among all runs. */
    private static int bundleOf(TrunkNode node, int position) {
        int bundle = 0;
        int end = node.bundle(0).runs().length;
        while (position >= end) {
            end += node.bundle(++bundle).runs().length;
        }
        return bundle;
    }

    /**
     * From which bundle on maplets are built into one: on to older bundles while they are of like size, so that a fingerprint is
     * copied a few times and not for every flush, and on while more would remain than are allowed.
     */
    private static int joinedFrom(TrunkNode node, int bundlesFrom, Span span, int from) {
        int bundleFrom = from;
        long joined = 0;
        for (int b = from; b < node.bundleCount(); b++) {
            joined += bundleBytes(node.bundle(b), span);
        }
        while (bundleFrom > bundlesFrom) {
            long older = bundleBytes(node.bundle(bundleFrom - 1), span);
            if (older > 2 * joined && bundleFrom - bundlesFrom < BUNDLES_MAX) {
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

    /** Walks from the youngest run to older ones while they are of like size, and on until few enough remain. */
    private int tierStart(TrunkNode node, int runsFrom, Span span, int from, int runsMax) {
        long merged = 0;
        int start = node.runCount();
        for (int position = node.runCount() - 1; position >= runsFrom; position--) {
            Run run = runAt(node, position);
            if (run == null) {
                continue;
            }
            long bytes = run.sample().bytesWithin(span);
            boolean must = position >= from || liveRuns(node, runsFrom, start) + 1 > runsMax / 2 + 1;
            if (!must && bytes > merged) {
                break;
            }
            merged += bytes;
            start = position;
        }
        return start;
    }

    /** Whether scans have cost as much more as making one of all runs of a node takes: they are taken to go on. */
    private static boolean isPaidFor(TrunkNode node, Span span, int live) {
        if (live < 2 || node.scans() < SCANS_MIN) {
            return false;
        }
        long looks = node.scans() * (live - 1L);
        long reads = node.scanReads() * (live - 1L) / live;
        return looks * BYTES_PER_SPARED_RUN + reads * BYTES_PER_SPARED_READ > NodeMeasure.bytes(node, span);
    }

    /** Whether runs of a leaf hold the same keys too often; versions that one run has are all still seen by somebody. */
    private static boolean isMostlySuperseded(TrunkNode leaf, int live, Urge urge) {
        double most = urge == Urge.SETTLING ? SUPERSEDED_SHARE_SETTLED : SUPERSEDED_SHARE_MAX;
        return live > 1 && NodeMeasure.supersededShare(leaf) > most;
    }

    /** Whether a full merge of a leaf would remove enough: tombstones, or space nobody reads. */
    private static boolean frees(TrunkNode leaf, Span span, int live, Urge urge, RunUsage usage) {
        double tombstonesMax = urge == Urge.SETTLING ? 0 : TOMBSTONE_SHARE_MAX;
        return live > 0 && NodeMeasure.tombstoneShare(leaf, span) > tombstonesMax
                || usage.deadBytes(leaf, span) > DEAD_SHARE_MAX * NodeMeasure.bytes(leaf, span);
    }

    private static int liveRuns(TrunkNode node, int from, int to) {
        int live = 0;
        for (int position = from; position < to; position++) {
            if (runAt(node, position) != null) {
                live++;
            }
        }
        return live;
    }

    private static Run runAt(TrunkNode node, int position) {
        int start = 0;
        for (int b = 0; b < node.bundleCount(); b++) {
            Run[] runs = node.bundle(b).runs();
            if (position < start + runs.length) {
                return runs[position - start];
            }
            start += runs.length;
        }
        throw new IndexOutOfBoundsException(position);
    }
}
