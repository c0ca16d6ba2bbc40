package dev.heartwood.engine.merge;

import dev.heartwood.CorruptionException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletSlice;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.trunk.OldestView;
import dev.heartwood.engine.trunk.RedundancyEstimate;
import dev.heartwood.engine.trunk.RedundancyEstimate.Node;
import dev.heartwood.engine.trunk.TreeSummary;
import dev.heartwood.engine.trunk.Trunk;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Function;

/**
 * While a tree takes more space than its target, names the node to be merged next: the one with most redundant bytes, from a heap
 * ("SplinterDB and Maplets", adaptive space reclamation). One thread at a time plans; the target and the last estimate may be read and
 * set by any.
 */
final class SpaceReclaim {
    /*
     * Estimates are made anew when the heap's nodes are used up or enough of them for the target have been merged, and else when so many
     * entries were packed, or left by merges beside what they replace, that they could have made up a part of what may be redundant. Slices of
     * maplets are kept from one to the next, so that a maplet is read once, a few pages of it, when it is new.
     *
     * A node that was merged, a few runs after the other where there is little memory, has one run, of which all is used and in which nothing is superseded as far as maplets tell, whatever a
     * view made the merge keep. So no node is merged again before something has come to it or to a node above, or has left it, or that
     * views were closed for which it has kept something (KeptVersions).
     *
     * What is superseded and seen by an old view stays when it is merged. That is at most one version of each key that was written since the
     * view was opened. So the least of what was written since and of one version of all keys is taken for seen, what was kept at least. With
     * several old views it can be more: then some merges free less than was hoped.
     */
    /** From this target on nothing is estimated, and nothing merged for space. */
    private static final double LEFT_TO_POLICY = 100;

    /** Of what may be redundant by the target, the part up to which is merged: the rest is for errors and for what comes meanwhile. */
    private static final double GOAL_SHARE = 0.8;

    /** Of what may be redundant, or of all when that is less, the part that may be packed between two estimates. */
    private static final double UNSEEN_SHARE = 0.125;

    /** After one change for so many nodes of a tree it is looked at whether that has grown. */
    private static final int NODES_PER_LOOK = 8;

    /** Of what may be redundant in a node, the part up to which it is left alone. */
    private static final double NODE_SHARE_MIN = 0.5;

    /**
     * The same of a node above the leaves while leaves have something to gain: what it holds moves on and is written again there, and when
     * all of it has, what is dead is gone without a merge.
     */
    private static final double INNER_SHARE_MIN = 1;

    /** Of a node's redundancy, what nodes above must supersede for what they hold to be moved to it first. */
    private static final double FLUSHED_SHARE_MIN = 0.25;

    /** Entries in the sample of a tree, and of an average leaf, about. */
    private static final long SAMPLED_MIN = 4096;

    private static final long SAMPLED_OF_LEAF = 128;

    private final TreeStorage storage;
    private final Trunk trunk;
    private final PriorityQueue<Node> heap = new PriorityQueue<>(Comparator.comparingDouble(Node::redundantBytes).reversed());
    private Map<Long, MapletSlice> slices = new HashMap<>();
    private int zeroBits;
    private boolean again;
    private long addedThen;
    private long entriesThen;
    private long changesDue;
    private double liveBytes;
    private double expectedBytes;
    /** Of these, what is or may be there for the oldest view alone. */
    private double seenBytes;
    /** When the oldest view sees as much as this, it holds markedly less. */
    private long enough = OldestView.NONE;
    private volatile double target = Double.POSITIVE_INFINITY;
    private volatile boolean targetChanged;
    private volatile double spaceAmplification;
    private long pagesRead;

    SpaceReclaim(TreeStorage storage, Trunk trunk) {
        this.storage = storage;
        this.trunk = trunk;
    }

    /** Sets the space to be taken at most for each byte of live entries; filters that know groups of keys do not tell what is live. */
    void target(double spaceAmplification) {
        boolean isKnown = spaceAmplification < LEFT_TO_POLICY && !storage.hasGroups();
        target = isKnown ? spaceAmplification : Double.POSITIVE_INFINITY;
        targetChanged = true;
    }

    /** Space taken for each byte of live entries when it was estimated last; 0 before. */
    double spaceAmplification() {
        return spaceAmplification;
    }

    /** Pages of maplets read so far; for the thread that plans. */
    long pagesRead() {
        return pagesRead;
    }

    /**
     * Whether the last plan left something markedly large for the sake of the oldest view; then there is more to plan when that sees {@link
     * #enoughToSee}, or when there is none.
     */
    boolean isHeldBack() {
        return enough != OldestView.NONE;
    }

    long enoughToSee() {
        return enough;
    }

    /**
     * The merge that frees most, with references to its input held; null when the tree is within its target as far as is known.
     *
     * @param oldestView the sequence number that the oldest view sees, {@link OldestView#NONE} when none is older than the tree
     */
    CompactionPlan plan(long oldestView) {
        while (true) {
            Node worst = isBeyondGoal() ? heap.poll() : null;
            if (worst == null) {
                if (!isDue(oldestView)) {
                    return null;
                }
                estimate(oldestView);
                if (heap.isEmpty()) {
                    return null;
                }
                continue;
            }
            boolean flush = worst.above() >= FLUSHED_SHARE_MIN * worst.redundantBytes();
            CompactionPlan plan = trunk.planWhole(worst, flush);
            if (plan != null) {
                expectedBytes -= worst.redundantBytes();
                again = true;
                return plan;
            }
        }
    }

    private double goal() {
        return 1 + GOAL_SHARE * (target - 1);
    }

    /** Where open views see more than is live, a merge moves much for each byte that it frees: so much more may be redundant then. */
    private boolean isBeyondGoal() {
        double slack = (goal() - 1) * Math.max(0, seenBytes - liveBytes);
        return expectedBytes - seenBytes > goal() * liveBytes + slack;
    }

    private boolean isDue(long oldestView) {
        if (target == Double.POSITIVE_INFINITY) {
            forget();
            return false;
        }
        long added = trunk.events().entriesAdded() - addedThen;
        return again
                || targetChanged
                || isHeldBack() && oldestView >= enough
                || added > 0 && added >= unseenShare() * entriesThen
                || hasGrown();
    }

    /** Without a target nothing is known. */
    private void forget() {
        enough = OldestView.NONE;
        spaceAmplification = 0;
        liveBytes = 0;
        expectedBytes = 0;
        seenBytes = 0;
        heap.clear();
        slices.clear();
    }

    /** Whether merges have left more than may be packed between two estimates: what some children were given and others still need. */
    private boolean hasGrown() {
        long changes = trunk.changes();
        if (changes < changesDue) {
            return false;
        }
        TreeSummary tree = TreeSummary.of(trunk);
        // Each changes a node or a few: of many nodes that is hardly anything, and to look takes as long as there are many.
        changesDue = changes + 1 + tree.nodes() / NODES_PER_LOOK;
        return tree.entries() > (1 + unseenShare()) * entriesThen;
    }

    private double unseenShare() {
        return UNSEEN_SHARE * Math.min(1, target - 1);
    }

    private void estimate(long oldestView) {
        again = false;
        targetChanged = false;
        addedThen = trunk.events().entriesAdded();
        heap.clear();
        TrunkVersion version = trunk.pin();
        Map<Long, MapletSlice> used = new HashMap<>();
        Set<Long> unread = new HashSet<>();
        try {
            chooseSample();
            Map<Long, MapletSlice> known = slices;
            Function<Maplet, MapletSlice> sliceOf = maplet -> {
                MapletSlice slice = known.containsKey(maplet.id()) ? known.get(maplet.id()) : used.get(maplet.id());
                slice = slice == null ? read(maplet, unread) : slice;
                used.put(maplet.id(), slice);
                return slice;
            };
            RedundancyEstimate estimate = RedundancyEstimate.of(version.root(), sliceOf, oldestView);
            slices = used;
            take(estimate, oldestView);
        } catch (RuntimeException | Error e) {
            again = true;
            slices.putAll(used);
            throw e;
        } finally {
            slices.keySet().removeAll(unread);
            version.release();
        }
    }

    /** So few keys that the sample takes little memory, and so many that the estimate of a tree and of a leaf is good enough. */
    private void chooseSample() {
        TreeSummary tree = TreeSummary.of(trunk);
        entriesThen = tree.entries();
        long wanted = Math.max(SAMPLED_MIN, SAMPLED_OF_LEAF * trunk.nodesAt(0));
        int bits = Long.SIZE - Long.numberOfLeadingZeros(entriesThen / wanted);
        bits = Math.max(0, bits - 1);
        if (bits != zeroBits) {
            zeroBits = bits;
            slices = new HashMap<>();
        }
    }

    /** Adds the maplet to {@code unread} where the system refused to read it, which may pass. */
    private MapletSlice read(Maplet maplet, Set<Long> unread) {
        try {
            MapletSlice slice = MapletSlice.read(storage.file(), maplet, storage.mergeBuffers(), zeroBits);
            pagesRead += slice.pages();
            return slice;
        } catch (CorruptionException damaged) {
            // Reads and merges that meet the page report it; what this maplet would tell is not known.
            return MapletSlice.NONE;
        } catch (ReadFailedException refused) {
            unread.add(maplet.id());
            return MapletSlice.NONE;
        }
    }

    private void take(RedundancyEstimate estimate, long oldestView) {
        spaceAmplification = estimate.spaceAmplification();
        liveBytes = estimate.liveBytes();
        expectedBytes = estimate.bytes();
        see(estimate.keptBytes(), oldestView);
        if (isBeyondGoal()) {
            double share = NODE_SHARE_MIN * (goal() - 1);
            fill(estimate, share, INNER_SHARE_MIN);
            if (heap.isEmpty()) {
                fill(estimate, share, share);
            }
        }
    }

    private void see(double keptBytes, long oldestView) {
        seenBytes = 0;
        enough = OldestView.NONE;
        if (oldestView != OldestView.NONE) {
            double newerBytes = (trunk.sequenceMax() - oldestView) * expectedBytes / Math.max(1, entriesThen);
            seenBytes = Math.max(keptBytes, Math.min(newerBytes, liveBytes));
            if (seenBytes >= unseenShare() * liveBytes) {
                enough = oldestView + Math.max(1, (long) (unseenShare() * entriesThen));
            }
        }
    }

    /** Takes the nodes of which more is redundant than these shares of what is live in them. */
    private void fill(RedundancyEstimate estimate, double leafShareMin, double innerShareMin) {
        for (Node node : estimate.nodes()) {
            double share = node.height() == 0 ? leafShareMin : innerShareMin;
            if (node.redundantBytes() > share * node.liveBytes()) {
                heap.add(node);
            }
        }
    }
}
