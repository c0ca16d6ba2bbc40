package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.node.TrunkVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The trunk: the current tree and the changes to it. Thread-safe.
 *
 * <p>Readers take {@link #version} inside an epoch and need no lock. A change makes new nodes on the path it touches and then
 * swings the current version; changes are serialised by the structure lock, which is held for work on metadata only, never for
 * I/O. Merges run outside it: {@link #plan} hands out their input, {@link #install} puts their result in place.
 */
public final class Trunk {
    /*
     * Shared field   read                    written                  guarded by
     * version        volatile                volatile                 structure lock
     * changes        volatile                volatile                 structure lock
     * mergeSpace     volatile                volatile                 none: any of a few is as good
     * nextId         -                       -                        structure lock
     * planner        -, some volatile        -                        structure lock
     * policies, pace -                       -                        structure lock
     *
     * Lock order: structure lock, then that of the extents, to ask whether a leaf may split. Old versions are released
     * through the epochs, so a reader that took the version without a reference is safe until its epoch ends.
     */
    private final ReentrantLock structure = new ReentrantLock();
    private final Epochs epochs;
    private final TreeShape shape;
    private final NodePolicies policies;
    private final Balancer balancer;
    private final SplitSpace splitSpace;
    private final MergePlanner planner;
    private final MergePace pace = new MergePace();
    private final TrunkEvents events;
    private volatile TrunkVersion version;
    private volatile long changes;
    private volatile MeasuredSpace mergeSpace;
    private volatile long debtBytes;
    private volatile long sequenceMax;
    private volatile long overdueBytes;
    private long nextId;

    /**
     * A trunk that begins with {@code initial}; ids of new objects start at {@code nextId}, and nodes without a policy of their own have
     * {@code policy}.
     *
     * @param extents those of the tree, whose leaves split while there are enough
     */
    Trunk(TrunkNode initial, long generation, long nextId, TreeShape shape, TrunkPolicies policy, Epochs epochs, ExtentAllocator extents) {
        this.shape = shape;
        this.policies = new NodePolicies(shape, policy);
        this.epochs = epochs;
        this.nextId = nextId;
        this.planner = new MergePlanner(shape, policies);
        this.events = new TrunkEvents();
        this.splitSpace = new SplitSpace(shape, extents);
        this.balancer = new Balancer(shape, policies, events, splitSpace);
        this.version = new TrunkVersion(initial, generation);
        owes(planner.debt(initial, Span.ALL));
    }

    /** The current tree; valid within the caller's epoch, or as long as it holds a reference. */
    public TrunkVersion version() {
        return version;
    }

    /** The current tree with a reference that the caller gives back. */
    public TrunkVersion pin() {
        structure.lock();
        try {
            version.retain();
            return version;
        } finally {
            structure.unlock();
        }
    }

    /**
     * Extents that have to be free so that everything can be merged that there is, see {@link MergeSpace}, and a leaf that is too large can split.
     * Walks the tree when it has changed.
     */
    public long mergeExtents() {
        MeasuredSpace last = mergeSpace;
        // Read before the version, which is put in place first, and before it is decided anew.
        long change = changes;
        long decisions = splitSpace.decisions();
        if (last != null && last.change() == change && last.decisions() == decisions) {
            return last.extents();
        }
        TrunkVersion pinned = pin();
        try {
            long extents = splitSpace.mergeExtents(pinned.root());
            mergeSpace = new MeasuredSpace(change, decisions, extents);
            return extents;
        } finally {
            pinned.release();
        }
    }

    /** As {@link #mergeExtents}, or more, without a walk; 0 where space is not so plenty that this will do, or the walk is short. */
    public long mergeExtentsAtMost() {
        return splitSpace.mergeExtentsAtMost();
    }

    /** Bytes of keys in the images of nodes, about, when a merge was planned last; 0 while space is not short. */
    public long imageBytes() {
        return planner.imageBytes();
    }

    /** Extents for merges, as of a change of the tree and a decision on splits, or of later ones. */
    private record MeasuredSpace(long change, long decisions, long extents) {}

    /** Extents that a memtable of so many bytes takes once it is packed, as a rule no more. */
    public static long packedExtents(long bytes) {
        return MergeSpace.packedExtents(bytes);
    }

    /** How often another version became the current one. */
    public long changes() {
        return changes;
    }

    /** What happened so far. */
    public TrunkEvents events() {
        return events;
    }

    public TreeShape shape() {
        return shape;
    }

    /** Bytes that flushes brought to nodes and merges have not dealt with. */
    public long debtBytes() {
        return debtBytes;
    }

    /** Of {@link #debtBytes}, what merges should have dealt with by now, because the next flushes are near. */
    public long overdueBytes() {
        return overdueBytes;
    }

    /** Has all that merges owe be due from now on, as if it had just been flushed: before, as while a log was replayed, none could be done. */
    public void beginPace() {
        structure.lock();
        try {
            pace.restart(debtBytes);
            owes(debtBytes);
        } finally {
            structure.unlock();
        }
    }

    /** A number that no branch, maplet or bundle of this store has had, and no checkpoint's nodes as their generation. */
    public long newId() {
        structure.lock();
        try {
            return nextId++;
        } finally {
            structure.unlock();
        }
    }

    /** The next number {@link #newId} returns. */
    public long nextId() {
        structure.lock();
        try {
            return nextId;
        } finally {
            structure.unlock();
        }
    }

    /**
     * Adds a packed memtable as the youngest run of the root and flushes what is due. Takes over the caller's references to the
     * run's branch and maplet; null adds nothing but the generation.
     */
    public void incorporate(Bundle memtable, long generation) {
        structure.lock();
        try {
            TrunkNode root = version.root();
            if (memtable == null) {
                publish(root, generation);
            } else {
                List<Bundle> bundles = new ArrayList<>(root.bundles());
                bundles.add(memtable);
                Run run = memtable.runs()[0];
                events.added(run.branch().entries());
                sequenceMax = Math.max(sequenceMax, run.branch().sequenceMax());
                pace.arrived(run.sample().bytes());
                publishBalanced(root.with(root.pivots(), bundles), generation);
            }
        } finally {
            structure.unlock();
            if (memtable != null) {
                memtable.release();
            }
        }
    }

    /**
     * The greatest sequence number that was kept of what was added: a snapshot or cursor that sees it holds nothing back in the tree. 0 at
     * first, since whatever is opened later sees what a tree began with.
     */
    public long sequenceMax() {
        return sequenceMax;
    }

    /** How many nodes there are at a height, leaves at 0. */
    public int nodesAt(int height) {
        structure.lock();
        try {
            return nodesAt(version.root(), height);
        } finally {
            structure.unlock();
        }
    }

    private static int nodesAt(TrunkNode node, int height) {
        if (node.height() <= height) {
            return node.height() == height ? 1 : 0;
        }
        int nodes = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            nodes += node.pivot(p).child() == null ? 0 : nodesAt(node.pivot(p).child(), height);
        }
        return nodes;
    }

    /** Flushes and reshapes what only pays when there is nothing else to do; returns whether anything changed. */
    public boolean balanceQuiet(Urge urge) {
        structure.lock();
        try {
            TrunkNode root = balancer.balanceRoot(version.root(), urge);
            if (root == version.root()) {
                return false;
            }
            flushed(version.root(), root);
            publish(root, version.generation());
            return true;
        } finally {
            structure.unlock();
        }
    }

    /** Lets go of the leaves that lie wholly in {@code span}, and of what is held for them; returns whether there was anything. */
    public boolean discard(Span span) {
        structure.lock();
        try {
            TrunkNode root = RangeDiscard.discard(version.root(), span);
            if (root == version.root()) {
                return false;
            }
            publishBalanced(root, version.generation());
            return true;
        } finally {
            structure.unlock();
        }
    }

    /**
     * Puts all nodes that have no policy of their own under another one, from the next change of the tree on. Nothing is rewritten: what
     * the policy wants changed is merged when it is planned.
     */
    public void usePolicy(TrunkPolicies policy) {
        structure.lock();
        try {
            policies.use(policy);
        } finally {
            structure.unlock();
        }
    }

    /** The policy of the nodes that have none of their own. */
    public TrunkPolicies policy() {
        structure.lock();
        try {
            return policies.common();
        } finally {
            structure.unlock();
        }
    }

    /**
     * Gives the nodes of some heights that have keys in a span a policy of their own, which stays with them when they split and in the
     * stored tree; null takes it from them. Copies the paths to them and rewrites nothing. Returns whether any node changed.
     */
    public boolean changePolicy(Span span, Heights heights, TrunkPolicies policy) {
        structure.lock();
        try {
            TrunkNode root = NodePolicies.change(version.root(), Span.ALL, span, heights, policy);
            if (root == version.root()) {
                return false;
            }
            publish(root, version.generation());
            return true;
        } finally {
            structure.unlock();
        }
    }

    /** What lies where now, and which leaves cursors open. */
    public TreeGauge gauge() {
        TrunkVersion pinned = pin();
        try {
            return TreeGauge.of(pinned.root());
        } finally {
            pinned.release();
        }
    }

    /** Heights of nodes, both included; leaves have height 0. */
    public record Heights(int least, int greatest) {
        public static final Heights ALL = new Heights(0, Integer.MAX_VALUE);

        boolean contains(int height) {
            return height >= least && height <= greatest;
        }
    }

    /**
     * The merge that is most wanted, not under way and not passed over, with references to its input held; null when there is none, and
     * then nothing is passed over any more, if those that are needed were asked for.
     */
    public CompactionPlan plan(Urge urge) {
        structure.lock();
        try {
            CompactionPlan best = planner.mostWanted(version.root(), urge);
            return best == null ? null : planner.begin(best);
        } finally {
            structure.unlock();
        }
    }

    /**
     * A merge of everything that a node holds, or of the part that there is memory for ({@code InputLimit}), with references to its input
     * held; null when the node is no more as it was estimated, is being merged, was passed over, or has something that was set aside.
     *
     * @param withAbove whether what the nodes above hold for it is moved to it first
     */
    public CompactionPlan planWhole(RedundancyEstimate.Node estimated, boolean withAbove) {
        return planWhole(estimated.height(), estimated.span(), estimated.oldestBundle(), withAbove);
    }

    /** A merge of a leaf with all that nodes above hold for it, if scans have paid for one; as {@link #planWhole}. */
    public CompactionPlan planScanned() {
        structure.lock();
        try {
            return planLeaf(ScannedPaths.mostPaid(version.root(), shape, planner::mayMergeQuietly));
        } finally {
            structure.unlock();
        }
    }

    /** A merge of a leaf with keys in a span, and of all that nodes above hold for it, if that is several runs; as {@link #planWhole}. */
    public CompactionPlan planResting(Span keys) {
        structure.lock();
        try {
            return planLeaf(ScannedPaths.mostScattered(version.root(), keys, shape, planner::mayMergeQuietly));
        } finally {
            structure.unlock();
        }
    }

    private CompactionPlan planLeaf(ScannedPaths.Leaf leaf) {
        return leaf == null ? null : planWhole(0, leaf.span(), leaf.oldestBundle(), true);
    }

    private CompactionPlan planWhole(int height, Span span, long oldestBundle, boolean withAbove) {
        structure.lock();
        try {
            TrunkNode now = PathFlush.find(version.root(), height, span);
            if (now == null || now.bundleCount() == 0 || now.bundle(0).id() != oldestBundle) {
                return null;
            }
            TrunkNode root = withAbove ? PathFlush.flush(version.root(), Span.ALL, height, span) : version.root();
            TrunkNode node = PathFlush.find(root, height, span);
            if (!planner.mayMergeQuietly(node, span)) {
                return null;
            }
            CompactionPlan plan =
                    planner.begin(new CompactionPlan(height, span, node, 0, node.bundleCount(), 0, node.runCount()));
            if (root != version.root()) {
                publish(root, version.generation());
            }
            return plan;
        } finally {
            structure.unlock();
        }
    }

    /** Has others planned before a merge that was needed and could not be done now. */
    public void passOver(CompactionPlan plan) {
        structure.lock();
        try {
            planner.passedOver().addNeeded(plan);
        } finally {
            structure.unlock();
        }
    }

    /** Has others planned in quiet moments before one that could not be done in one, until {@link #retryQuiet}. */
    public void passOverQuiet(CompactionPlan plan) {
        structure.lock();
        try {
            planner.passedOver().addQuiet(plan);
        } finally {
            structure.unlock();
        }
    }

    /** Quiet moments have nothing else to do: the next ones begin with what was passed over. */
    public void retryQuiet() {
        structure.lock();
        try {
            planner.passedOver().retryQuiet();
        } finally {
            structure.unlock();
        }
    }

    /** Has others planned in quiet moments before a merge that found no space, until {@link #retryWithoutSpace}. */
    public void passOverWithoutSpace(CompactionPlan plan) {
        structure.lock();
        try {
            planner.passedOver().addWithoutSpace(plan);
        } finally {
            structure.unlock();
        }
    }

    /** Says whether merges that free most come first. */
    public void spaceIsShort(boolean isShort) {
        structure.lock();
        try {
            planner.spaceIsShort(isShort);
            if (!isShort) {
                splitSpace.hopeAgain();
            }
        } finally {
            structure.unlock();
        }
    }

    /** No space is kept for a split any more, since all was done for it that can be, until one takes less or space is ample. Returns whether any was. */
    public boolean giveUpSplits() {
        structure.lock();
        try {
            return splitSpace.giveUp();
        } finally {
            structure.unlock();
        }
    }

    /** There may be space now for merges that found none. */
    public void retryWithoutSpace() {
        structure.lock();
        try {
            planner.passedOver().retryWithoutSpace();
        } finally {
            structure.unlock();
        }
    }

    public boolean isSpaceShort() {
        return planner.isSpaceShort();
    }

    public boolean isAnyMergeFailing() {
        return planner.passedOver().isAnyFailing();
    }

    /** Whether merges wait for {@link #retryWithoutSpace}. */
    public boolean isAnyWithoutSpace() {
        structure.lock();
        try {
            return planner.passedOver().isAnyWithoutSpace();
        } finally {
            structure.unlock();
        }
    }

    /**
     * Puts the result of a merge where its input still is, and gives the references of {@link #plan} back, whatever happens. Takes over the
     * caller's references to {@code output}; null means that nothing was left.
     */
    public void install(CompactionPlan plan, Bundle output, int mergedPosition) {
        try {
            replace(plan, output, mergedPosition);
        } finally {
            releaseAll(plan, output);
        }
    }

    private void replace(CompactionPlan plan, Bundle output, int mergedPosition) {
        structure.lock();
        try {
            planner.end(plan);
            planner.passedOver().done(plan);
            TrunkNode root = Installer.replace(version.root(), Span.ALL, plan, output, mergedPosition);
            if (root != version.root()) {
                publishBalanced(root, version.generation());
            }
        } finally {
            structure.unlock();
        }
    }

    private static void releaseAll(CompactionPlan plan, Bundle output) {
        try {
            release(plan);
        } finally {
            if (output != null) {
                output.release();
            }
        }
    }

    /** Gives the references of {@link #plan} back without a result. */
    public void abandon(CompactionPlan plan) {
        structure.lock();
        try {
            planner.end(plan);
        } finally {
            structure.unlock();
        }
        release(plan);
    }

    /** As {@link #abandon} for input that cannot be read: it is set aside, never to be planned again while the store is open. */
    public void setAside(CompactionPlan plan) {
        structure.lock();
        try {
            planner.end(plan);
            planner.setAside(plan);
            owes(planner.debt(version.root(), Span.ALL));
        } finally {
            structure.unlock();
        }
        release(plan);
    }

    private static void release(CompactionPlan plan) {
        plan.bundles().forEach(Bundle::release);
    }

    /** Flushes and reshapes what is due, and publishes the outcome. */
    private void publishBalanced(TrunkNode root, long generation) {
        TrunkNode balanced = balancer.balanceRoot(root, Urge.NEEDED);
        if (balanced != root) {
            flushed(root, balanced);
        }
        publish(balanced, generation);
    }

    private void flushed(TrunkNode before, TrunkNode after) {
        pace.flushed(planner.debt(after, Span.ALL) - planner.debt(before, Span.ALL));
    }

    private void publish(TrunkNode root, long generation) {
        TrunkVersion old = version;
        // Before: a full Java heap must not keep the old version from being released.
        long debt = planner.debt(root, Span.ALL);
        version = new TrunkVersion(root, generation);
        changes = changes + 1;
        owes(debt);
        old.releaseLater(epochs);
    }

    private void owes(long debt) {
        debtBytes = debt;
        if (debt == 0) {
            // What was merged early is no reason to let what comes next wait.
            pace.restart(0);
            planner.passedOver().nothingIsOwed();
        }
        overdueBytes = Math.max(0, debtBytes - pace.notDueBytes());
    }

    /** Releases the current version; only when no operation can come any more. */
    public void close() {
        version.release();
    }
}
