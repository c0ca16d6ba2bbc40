package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.os.Memory;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A node of the trunk: pivots, and bundles from oldest to youngest that all its children share. Immutable but for its reference
 * count and its place on disk; readers walk it without locks.
 */
public final class TrunkNode {
    /*
     * References. A node is made floating, with count 0 and no claim on anything. The first reference, taken when the tree that
     * holds it is published, makes it claim its children and bundles; the last one given back releases them. So an
     * abandoned edit leaves nothing behind. A node whose count has returned to 0 is dead and is never used again.
     *
     * Shared field   read          written                         guarded by
     * references     -             getAndIncrement/decrement       first one: the trunk's structure lock
     * place          volatile      volatile                        the checkpointer
     * scans, reads,
     * looks          plain         plain                           hints; losing counts is harmless
     * memo           -             -                               the trunk's structure lock
     */
    private final int height;
    private final TrunkPolicies ownPolicy;
    private final Pivot[] pivots;
    private final Bundle[] bundles;

    /** Where the runs of each bundle begin among all runs of the node, and where the last one's end. */
    private final int[] runStarts;

    /** How many positions of runs before each one, and before the end, are not empty. */
    private final int[] liveBefore;

    private final AtomicInteger references = new AtomicInteger();
    private volatile NodePlace place;
    private long scans;
    private long scanReads;
    private long largeReads;
    private long looksAbove;
    private NodeMemo memo;

    /** A node whose policy is its tree's. */
    public TrunkNode(int height, List<Pivot> pivots, List<Bundle> bundles) {
        this(height, null, pivots, bundles);
    }

    /** A node; {@code ownPolicy} is null when its policy is its tree's. */
    public TrunkNode(int height, TrunkPolicies ownPolicy, List<Pivot> pivots, List<Bundle> bundles) {
        this.height = height;
        this.ownPolicy = ownPolicy;
        this.pivots = pivots.toArray(Pivot[]::new);
        this.bundles = bundles.toArray(Bundle[]::new);
        this.runStarts = new int[bundles.size() + 1];
        for (int b = 0; b < this.bundles.length; b++) {
            runStarts[b + 1] = runStarts[b] + this.bundles[b].runs().length;
        }
        this.liveBefore = new int[runCount() + 1];
        int position = 0;
        for (Bundle bundle : this.bundles) {
            for (Run run : bundle.runs()) {
                liveBefore[position + 1] = liveBefore[position] + (run == null ? 0 : 1);
                position++;
            }
        }
        assert !pivots.isEmpty() && (height > 0 || pivots.size() == 1);
    }

    /** A leaf without data whose least key is {@code key}. */
    public static TrunkNode emptyLeaf(byte[] key) {
        return new TrunkNode(0, List.of(new Pivot(key, null, 0)), List.of());
    }

    /** A node with other pivots and bundles in place of this one. */
    public TrunkNode with(List<Pivot> otherPivots, List<Bundle> otherBundles) {
        return new TrunkNode(height, ownPolicy, otherPivots, otherBundles);
    }

    /** This node with other children, each for the same keys and owed the same. */
    public TrunkNode withChildren(List<Pivot> otherPivots) {
        TrunkNode copy = with(otherPivots, bundles());
        copy.memo = memo;
        return copy;
    }

    /** This node under a policy of its own, or under its tree's for null. */
    public TrunkNode withPolicy(TrunkPolicies policy) {
        return new TrunkNode(height, policy, pivots(), bundles());
    }

    public int height() {
        return height;
    }

    /** The policy of this node alone; null when it goes with its tree. */
    public TrunkPolicies ownPolicy() {
        return ownPolicy;
    }

    public boolean isLeaf() {
        return height == 0;
    }

    public int pivotCount() {
        return pivots.length;
    }

    public Pivot pivot(int index) {
        return pivots[index];
    }

    public List<Pivot> pivots() {
        return List.of(pivots);
    }

    public int bundleCount() {
        return bundles.length;
    }

    public Bundle bundle(int index) {
        return bundles[index];
    }

    public List<Bundle> bundles() {
        return List.of(bundles);
    }

    /** Positions of runs, empty ones included: the bound of {@link Pivot#firstActive}. */
    public int runCount() {
        return runStarts[bundles.length];
    }

    /** The position of the first run of a bundle among all runs of the node. */
    public int runStart(int bundle) {
        return runStarts[bundle];
    }

    /** The bundle that holds a position among all runs. */
    int bundleOf(int position) {
        int low = 0;
        int high = bundles.length - 1;
        while (low < high) {
            int middle = low + high >>> 1;
            if (position >= runStarts[middle + 1]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The run at a position among all runs; null where that is empty. */
    Run run(int position) {
        int bundle = bundleOf(position);
        return bundles[bundle].runs()[position - runStarts[bundle]];
    }

    /** Runs at the positions from one to before another. */
    public int liveRuns(int from, int to) {
        assert from <= to;
        return liveBefore[to] - liveBefore[from];
    }

    /** The index of the pivot whose child a key belongs to. */
    public int pivotOf(long keyAddress, int keyLength) {
        int low = 1;
        int high = pivots.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (Memory.compare(keyAddress, keyLength, pivots[middle].key()) >= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    /** As the other; with {@code before}, of the keys just before it. A null key is past the last. */
    public int pivotOf(byte[] key, boolean before) {
        if (key == null) {
            return pivots.length - 1;
        }
        int low = 1;
        int high = pivots.length;
        while (low < high) {
            int middle = low + high >>> 1;
            int order = Keys.compare(pivots[middle].key(), key);
            if (order < 0 || order == 0 && !before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    /** The keys of a pivot's child, where {@code span} are the keys of this node. */
    public Span pivotSpan(int pivot, Span span) {
        byte[] from = pivot == 0 ? span.from() : pivots[pivot].key();
        byte[] to = pivot + 1 == pivots.length ? span.to() : pivots[pivot + 1].key();
        return new Span(from, to);
    }

    public NodePlace place() {
        return place;
    }

    public void place(NodePlace written) {
        place = written;
    }

    /** What is known of this node, whose keys are {@code span}. */
    NodeMemo memo(Span span) {
        if (memo == null || !memo.isOf(span)) {
            memo = new NodeMemo(span);
        }
        return memo;
    }

    /** Counts a cursor that read this node, as a hint to the policy. */
    public void countScan() {
        scans++;
    }

    public long scans() {
        return scans;
    }

    /** Counts the runs of nodes above that a cursor over this leaf looked into, for the same purpose. */
    public void countLooksAbove(int runs) {
        looksAbove += runs;
    }

    public long looksAbove() {
        return looksAbove;
    }

    /** Counts what a cursor read from the device below this node, for the same purpose. */
    public void countScanReads(int reads) {
        scanReads += reads;
    }

    public long scanReads() {
        return scanReads;
    }

    /** Counts reads of large values by a cursor over this leaf, for the same purpose. */
    public void countLargeReads(int reads) {
        largeReads += reads;
    }

    long largeReads() {
        return largeReads;
    }

    /** Whether no published tree holds this node yet. */
    public boolean isFloating() {
        return references.get() == 0;
    }

    /** Takes a reference; the first one claims everything below. */
    void retain() {
        if (references.getAndIncrement() == 0) {
            for (Pivot pivot : pivots) {
                if (pivot.child() != null) {
                    pivot.child().retain();
                }
            }
            for (Bundle bundle : bundles) {
                bundle.retain();
            }
        }
    }

    /** Gives a reference back; the last one releases everything below and the node's place on disk. */
    void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "trunk node released too often";
        if (left == 0) {
            for (Pivot pivot : pivots) {
                if (pivot.child() != null) {
                    pivot.child().release();
                }
            }
            for (Bundle bundle : bundles) {
                bundle.release();
            }
            if (place != null) {
                place.release();
            }
        }
    }
}
