package dev.heartwood.engine.auto;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.TreeGauge;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Decides, sample by sample, which nodes merge eagerly and how far checkpoints are apart. Nodes are lazy to begin with, and the distance is
 * the one that was asked for. Belongs to one thread at a time.
 */
public final class AutoPolicy {
    /*
     * A part goes over when what that saves is more than what it costs by a margin, and comes back when it is less by as much; in between,
     * and where nothing is at stake, it stays as it is.
     */
    private static final double MARGIN = 1.5;

    /** Intervals in which scans must have been spared what has to be merged for them first. */
    private static final int PAYBACK_INTERVALS = 30;

    /** Bytes that merges of eager leaves read and write for each byte written, beyond those of lazy ones; and nodes above. */
    private static final double LEAF_WRITES = 2;

    private static final double INNER_WRITES = 3;

    /** What a core merges while a scan looks into a run more, waits for a read more, or finds the next of an entry among a run more. */
    private static final double BYTES_PER_RUN = 512;

    private static final double BYTES_PER_READ = 16 << 10;
    private static final double BYTES_PER_ENTRY = 16;

    /** Of pages that reads miss, those that they would find if unwritten pages took no part of the cache; measured (docs/TREES.md). */
    private static final double MISSES_BY_UNWRITTEN = 0.02;

    /**
     * A distance that is far, as a multiple of what half of the page cache has room for. What will be needed longest is written
     * early when that is full, and of the rest the more dies unwritten the farther checkpoints are apart.
     */
    private static final int FAR_ROOMS = 8;

    /** The logs of all stores between checkpoints that are farther apart than there is room for; replayed in about five seconds. */
    private static final long FAR_LOG_BYTES_MAX = 1L << 30;

    /** The largest checkpoint distance there is, in memtables: as far as checkpoints can be asked to be apart. */
    public static final int DISTANCE_MAX = 1024;

    /** Writes beside which it matters what is written between checkpoints: a memtable in so many intervals. */
    private static final double INTERVALS_PER_MEMTABLE = 10;

    /** Above this share of what may be owed writers are slowed, and nothing is merged that need not be. */
    private static final double OWED_SHARE_MAX = 0.4;

    /** A hot span stands for as long as it has this share of the scans, and no less than this share of its leaves would do. */
    private static final double SPAN_SCANS_MIN = 0.8;

    private static final double SPAN_LEAVES_MIN = 0.5;

    /** Intervals without work before what merges free is freed. */
    private static final int IDLE_INTERVALS = 5;

    /** Intervals without work before leaves that were scanned are made ready for scans that come again. */
    private static final int REST_INTERVALS = 10;

    /** Runs that eager nodes are taken to have before any were seen. */
    private static final double EAGER_LEAF_RUNS = 2;

    private static final double EAGER_INNER_RUNS = 3;

    private final WorkloadMix mix = new WorkloadMix();
    private final ScanHeat heat;
    private final NodesPart leaves = new NodesPart(Part.LEAVES, CompactionPolicyKind.LAZY_LEVELING, EAGER_LEAF_RUNS, LEAF_WRITES);
    private final NodesPart inner = new NodesPart(Part.INNER_NODES, CompactionPolicyKind.LEVEL_TIERED, EAGER_INNER_RUNS, INNER_WRITES);
    private final Damping spanDamping = new Damping();
    private final Damping distanceDamping = new Damping();
    private final long memtableBytes;
    /** The keys of the nodes that are eager, when some are. */
    private Span span = Span.ALL;
    private int askedDistance;
    /** The distance in force instead of the one asked for; 0 when that is. */
    private int farDistance;
    private long innerBytes;
    private int idleFor;
    /** A quiet time has begun, and nobody has said that it is spent. */
    private boolean isQuietDue;
    /** A quiet time has been long enough for a rest, and nothing was decided about it: that failed, as on a full Java heap. */
    private boolean isRestDue;

    private Span resting;

    /** Leaves, or the nodes above them. */
    private static final class NodesPart {
        private final Part part;
        private final CompactionPolicyKind eagerPolicy;
        private final ScanCost cost;
        private final double writes;
        private final Damping damping = new Damping();
        private boolean eager;

        NodesPart(Part part, CompactionPolicyKind eagerPolicy, double eagerRuns, double writes) {
            this.part = part;
            this.eagerPolicy = eagerPolicy;
            this.cost = new ScanCost(eagerRuns);
            this.writes = writes;
        }

        CompactionPolicyKind policy(boolean isEager) {
            return isEager ? eagerPolicy : CompactionPolicyKind.SIZE_TIERED;
        }
    }

    /** For a store that is lazy everywhere, whose user asked for a checkpoint distance, in memtables of a size. */
    public AutoPolicy(int askedDistance, long memtableBytes) {
        this(askedDistance, memtableBytes, new ScanHeat());
    }

    AutoPolicy(int askedDistance, long memtableBytes, ScanHeat heat) {
        this.heat = heat;
        this.askedDistance = askedDistance;
        this.memtableBytes = memtableBytes;
    }

    /** Notes that the user asks for another checkpoint distance; it is in force until the next decision about it. */
    public void ask(int distance) {
        askedDistance = distance;
        farDistance = 0;
    }

    /**
     * Adds to {@code decisions} what is to be changed after an interval, as a rule nothing. What could not be added, as on a full Java heap, was
     * not decided.
     */
    public void decide(WorkloadSample sample, TreeGauge tree, List<Decision> decisions) {
        mix.add(sample);
        heat.add(tree.leaves());
        innerBytes = tree.innerBytes();
        leaves.cost.add(leaves.eager, sample.leafRunsScanned(), sample.leavesScanned());
        inner.cost.add(inner.eager, sample.innerRunsScanned(), sample.leavesScanned());
        if (sample.leavesScanned() == 0 && !leaves.eager && !tree.leaves().isEmpty()) {
            leaves.cost.expect(tree.leaves().stream().mapToInt(TreeGauge.Leaf::runs).average().orElseThrow());
        }
        idleFor = sample.isIdle() ? Math.min(idleFor + 1, REST_INTERVALS + 1) : 0;
        isQuietDue = idleFor == IDLE_INTERVALS || isQuietDue && idleFor > 0;
        isRestDue = idleFor == REST_INTERVALS || isRestDue && idleFor > 0;
        decideRest();
        decideSpan(decisions);
        decideNodes(leaves, sample, decisions);
        decideNodes(inner, sample, decisions);
        decideDistance(sample, decisions);
    }

    /** Whether a quiet time has begun, to be spent on what merges free, which {@link #quietSpent} was not called for. */
    public boolean isQuietBegun() {
        return isQuietDue;
    }

    /** Notes that the quiet time is being spent. */
    public void quietSpent() {
        isQuietDue = false;
    }

    /**
     * The keys whose leaves are to be merged whole, with all that nodes above hold for them, for as long as nothing is asked; null when none
     * are.
     */
    public Span resting() {
        return resting;
    }

    /** Rests when the scans of the last minutes, if they came again for as long as they are remembered, would earn those merges. */
    private void decideRest() {
        if (isRestDue) {
            Span keys = scanned();
            double runs = leaves.cost.runs(leaves.eager) + inner.cost.runs(inner.eager);
            double earned = WorkloadMix.LONG * saved(Math.max(0, runs - 1));
            resting = earned > held(leaves, keys) + held(inner, keys) ? keys : null;
            isRestDue = false;
        } else if (idleFor == 0) {
            resting = null;
        }
    }

    private void decideNodes(NodesPart nodes, WorkloadSample sample, List<Decision> decisions) {
        boolean follows = nodes == inner && inner.eager && !leaves.eager;
        boolean wanted = nodes.eager ? isGivenUp(nodes, sample) : isWorthIt(nodes, sample);
        if (!follows && !nodes.damping.allows(wanted)) {
            return;
        }
        Span keys = leaves.eager || inner.eager ? span : scanned();
        boolean isEager = !nodes.eager;
        String reason = follows
                ? "the leaves below are lazy again"
                : text(
                        "scans look into %.1f runs at a leaf while lazy and %.1f while eager: %s of merging are saved a second and %s are"
                                + " paid, and %s lie there",
                        nodes.cost.lazyRuns(),
                        nodes.cost.eagerRuns(),
                        bytes(saved(nodes)),
                        bytes(paid(nodes)),
                        bytes(held(nodes, keys)));
        decisions.add(new Decision(
                nodes.part,
                keys,
                isEager ? nodes.eagerPolicy : null,
                0,
                nodes.policy(nodes.eager).name(),
                nodes.policy(isEager).name(),
                reason));
        nodes.damping.changed();
        span = keys;
        nodes.eager = isEager;
    }

    /** What scans are spared in an interval when a part is eager. */
    private double saved(NodesPart nodes) {
        return saved(nodes.cost.spared());
    }

    /** What scans save in an interval that are spared so many runs. */
    private double saved(double spared) {
        boolean isQuiet = isQuiet();
        double leavesScanned = isQuiet ? mix.leavesScannedAgain() : mix.leavesScanned();
        double entriesScanned = isQuiet ? mix.entriesScannedAgain() : mix.entriesScanned();
        double all = leaves.cost.lazyRuns() + inner.cost.lazyRuns();
        return spared * leavesScanned * (BYTES_PER_RUN + mix.readsPerRun() * BYTES_PER_READ)
                + (all == 0 ? 0 : spared / all) * entriesScanned * BYTES_PER_ENTRY;
    }

    /**
     * Whether so little is written that what it costs eager leaves for as long as scans are remembered is less than to merge them once:
     * then it pays to have them ready for scans that come again. Otherwise that can wait until they do.
     */
    private boolean isQuiet() {
        return WorkloadMix.LONG * paid(leaves) < heat.bytes(Span.ALL);
    }

    /** Bytes that a part of the tree holds for some keys. */
    private double held(NodesPart nodes, Span keys) {
        return nodes == leaves ? heat.bytes(keys) : innerBytes * heat.shareOfLeaves(keys);
    }

    /** What writes cost in an interval when a part is eager. */
    private double paid(NodesPart nodes) {
        return nodes.writes * mix.written();
    }

    /**
     * Whether a part that is lazy should be eager: by itself, or, for leaves, since nodes above them can then be so too. While little is
     * written, scans pay for merges of what they pass, once; who was eager then would merge the same twice.
     */
    private boolean isWorthIt(NodesPart nodes, WorkloadSample sample) {
        boolean isMergedByScans = nodes == leaves && sample.leavesScanned() > 0 && isQuiet();
        boolean isAllowed = sample.owedShare() <= OWED_SHARE_MAX && (nodes == leaves || leaves.eager) && !isMergedByScans;
        Span keys = scanned();
        return isAllowed
                && (isWorthIt(saved(nodes), paid(nodes), held(nodes, keys))
                        || nodes == leaves
                                && isWorthIt(
                                        saved(leaves) + saved(inner),
                                        paid(leaves) + paid(inner),
                                        held(leaves, keys) + held(inner, keys)));
    }

    private static boolean isWorthIt(double saved, double paid, double firstBytes) {
        return saved > MARGIN * Math.max(paid, firstBytes / PAYBACK_INTERVALS);
    }

    /** Whether a part that is eager should be lazy; leaves are not while nodes above them earn what both cost. */
    private boolean isGivenUp(NodesPart nodes, WorkloadSample sample) {
        boolean isAlone = nodes == inner || !inner.eager;
        double saved = isAlone ? saved(nodes) : saved(leaves) + saved(inner);
        double paid = isAlone ? paid(nodes) : paid(leaves) + paid(inner);
        return sample.bytesWritten() > 0 && (MARGIN * saved < paid || sample.owedShare() > OWED_SHARE_MAX);
    }

    /** The keys that scans keep to; all keys when that is most of them. */
    private Span scanned() {
        Span hot = heat.hot();
        return heat.shareOfLeaves(hot) < SPAN_LEAVES_MIN ? hot : Span.ALL;
    }

    private void decideSpan(List<Decision> decisions) {
        if (!leaves.eager) {
            return;
        }
        Span hot = heat.hot();
        boolean isMissed = heat.shareOfScans(span) < SPAN_SCANS_MIN;
        boolean isTooWide = heat.shareOfLeaves(hot) < SPAN_LEAVES_MIN * heat.shareOfLeaves(span);
        if (!spanDamping.allows(isMissed || isTooWide)) {
            return;
        }
        String reason = text(
                "%.0f%% of the scans were there, and %.0f%% of the leaves have nearly all of them",
                100 * heat.shareOfScans(span), 100 * heat.shareOfLeaves(hot));
        Span keys = scanned();
        List<Decision> together = new ArrayList<>();
        for (NodesPart nodes : List.of(leaves, inner)) {
            if (nodes.eager) {
                together.add(new Decision(
                        nodes.part,
                        keys,
                        nodes.eagerPolicy,
                        0,
                        nodes.eagerPolicy + " of " + span,
                        nodes.eagerPolicy.name(),
                        reason));
            }
        }
        decisions.addAll(together);
        spanDamping.changed();
        span = keys;
    }

    private void decideDistance(WorkloadSample sample, List<Decision> decisions) {
        boolean isFar = farDistance != 0;
        if (isFar && far(sample) < farDistance) {
            // At once: the logs of all stores are bounded together.
            int distance = far(sample) > askedDistance ? far(sample) : 0;
            changeDistance(distance, text("%d stores share the memory and the space for logs", sample.stores()), decisions);
            return;
        }
        double missed = MISSES_BY_UNWRITTEN * mix.misses() * BYTES_PER_READ;
        boolean matters = sample.distanceRoom() > askedDistance && mix.written() > memtableBytes / INTERVALS_PER_MEMTABLE;
        boolean isGivenUp = isFar && MARGIN * mix.written() < missed;
        // Also while it is far: once other stores are closed there is room for more.
        boolean isFarther = far(sample) > farDistance && matters && mix.written() > MARGIN * missed;
        if (distanceDamping.allows(isGivenUp || isFarther)) {
            String reason = text("%s are written a second, and reads miss %.0f pages", bytes(mix.written()), mix.misses());
            changeDistance(isGivenUp ? 0 : far(sample), reason, decisions);
            distanceDamping.changed();
        }
    }

    /** Has a far distance in force, or with 0 the one that was asked for. */
    private void changeDistance(int distance, String reason, List<Decision> decisions) {
        int before = farDistance == 0 ? askedDistance : farDistance;
        int after = distance == 0 ? askedDistance : distance;
        decisions.add(new Decision(
                Part.CHECKPOINT_DISTANCE, Span.ALL, null, after, Integer.toString(before), Integer.toString(after), reason));
        farDistance = distance;
    }

    private int far(WorkloadSample sample) {
        int room = sample.distanceRoom();
        long byLog = FAR_LOG_BYTES_MAX / sample.stores() / memtableBytes;
        return (int) Math.max(room, Math.min(Math.min((long) FAR_ROOMS * room, byLog), DISTANCE_MAX));
    }

    private static String bytes(double bytes) {
        return text("%.1f MB", bytes / 1e6);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
