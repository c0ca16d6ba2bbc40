package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;

/**
 * Says which leaves may split for the space on the device. The parts of a leaf share its runs, and their groups of large values, until each
 * part was merged: all that a leaf holds has then to be copied before any of it is free. Where there is no space for that, it stays one leaf,
 * which is free when it is merged, and splits when it changes next or the store settles and there is. What nodes above held for it others share as
 * it is: a leaf that has most of what it has from there splits at once, since to merge the whole would take more.
 *
 * <p>So that there is space, growth leaves what the split of the largest leaf takes, as long as that may be waited for.
 *
 * <p>Guarded by the trunk's structure lock, but for what is said to be thread-safe.
 */
final class SplitSpace {
    /** With so many times what is in use no tree has to be walked to see that it is enough: to move all of it takes fewer. */
    private static final int PLENTY_TIMES = 6;

    /** A tree of fewer extents is walked in no time. */
    private static final int WALKED_EXTENTS = 64;

    /** What was given up is waited for again when it takes fewer by one part of 2^n. */
    private static final int FEWER_SHIFT = 3;

    private final TreeShape shape;
    private final ExtentAllocator extents;
    private TrunkNode root;
    /** What merges take after the splits that were allowed so far; null while nobody asked, or space is plenty. */
    private MergeSpace needed;
    /** What the tree at rest and merges after a split take, for which growth waits; 0 when it waits for none. What any thread found last is as good. */
    private volatile long awaited;

    // Written under the structure lock.
    /** So many were waited for in vain. */
    private volatile long tooMany = Long.MAX_VALUE;
    /** How often that changed. */
    private volatile long decisions;

    SplitSpace(TreeShape shape, ExtentAllocator extents) {
        this.shape = shape;
        this.extents = extents;
    }

    /** Begins anew with a tree. */
    void begin(TrunkNode tree) {
        root = tree;
    }

    /** Whether a leaf with these keys, of so many bytes by now, may become so many leaves; if so, it is taken to be done. */
    boolean take(Span span, long leafBytes, int parts) {
        if (needed == null && extents.hasForMerges((long) PLENTY_TIMES * extents.allocatedCount())) {
            return true;
        }
        needed = needed == null ? MergeSpace.of(root) : needed;
        TrunkNode before = PathFlush.find(root, 0, span);
        MergeSpace after = needed.split(before == null ? leafBytes : NodeMeasure.bytes(before, span), leafBytes, parts);
        MergeSpace unsplit = needed.grown(leafBytes);
        boolean isTaken = after.extents() <= unsplit.extents() || extents.hasForMerges(after.extents());
        needed = isTaken ? after : unsplit;
        return isTaken;
    }

    /**
     * More extents than merges and a split can take, where there are three times as many and finding out how many they take is work; else 0. Thread-safe.
     */
    long mergeExtentsAtMost() {
        long inUse = extents.allocatedCount();
        long most = PLENTY_TIMES * inUse;
        return inUse < WALKED_EXTENTS || !extents.hasForMerges(3 * most) ? 0 : most;
    }

    /** Lets go of the tree. */
    void end() {
        root = null;
        needed = null;
    }

    /** The extents that growth has to leave for merges in a tree, and for a split that is due, if that may be waited for. Thread-safe. */
    long mergeExtents(TrunkNode tree) {
        MergeSpace now = MergeSpace.of(tree);
        long bytesMax = shape.leafBytesMax(now.leafEntryBytes(), now.leaves() == 1);
        if (now.leafBytes() <= bytesMax) {
            awaited = 0;
            return now.extents();
        }
        int parts = shape.leafParts(now.leafBytes(), bytesMax, now.leaves() == 1);
        MergeSpace after = now.split(now.leafBytes(), now.leafBytes(), parts);
        long all = now.extentsAtRest() + after.extents();
        boolean isAwaited = after.extents() > now.extents() && all <= tooMany - (tooMany >>> FEWER_SHIFT) && extents.mayHave(all);
        awaited = isAwaited ? all : 0;
        return isAwaited ? after.extents() : now.extents();
    }

    /** How often it was decided anew which splits may be waited for; each time {@link #mergeExtents} may say something else. Thread-safe. */
    long decisions() {
        return decisions;
    }

    /** Waits for no split any more before it takes an eighth less. Returns whether one was waited for. */
    boolean giveUp() {
        long all = awaited;
        if (all == 0) {
            return false;
        }
        decide(all);
        awaited = 0;
        return true;
    }

    /** There is more space by now: waits for any split. */
    void hopeAgain() {
        if (tooMany != Long.MAX_VALUE) {
            decide(Long.MAX_VALUE);
        }
    }

    private void decide(long givenUp) {
        tooMany = givenUp;
        decisions = decisions + 1;
    }
}
