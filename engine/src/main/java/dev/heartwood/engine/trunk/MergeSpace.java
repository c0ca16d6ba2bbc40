package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.page.PageLayout;

/**
 * The space that it takes to merge everything in a tree into its leaves, one leaf after the other, with a checkpoint after each: what a store
 * has to keep free so that its merges, and with them deletes, can always free more. Immutable.
 *
 * <p>A run that lies in one leaf alone is free once that leaf is merged. One that several nodes refer to, or a node above the leaves, is
 * free only when the last of them is: until then what has been merged of it lies there and in a leaf. So it is with groups of large values,
 * which merges copy while space is short, each leaf to one of its own; before, leaves share them.
 *
 * @param movingBytes bytes of entries that nodes use of runs and groups that do not lie in one leaf alone: still to be copied
 * @param leafBytes bytes of the entries of the largest leaf
 * @param nextLeafBytes and of the one that is the largest without it
 * @param leaves leaves, each of which may split
 * @param hasGroups whether there are large values, or long keys, in groups
 * @param imageBytes bytes of keys in the images of nodes, which long keys make as large as what they stand for
 * @param bytes bytes of all entries
 */
record MergeSpace(
        long movingBytes, long leafBytes, long nextLeafBytes, int leaves, boolean hasGroups, long imageBytes, long bytes) {
    /** The last extents of a branch and of a maplet. */
    private static final int EXTENTS_BEGUN = 2;

    /** Those that packing begins: with that of large values and the ends of long keys. */
    private static final int EXTENTS_PACKED_BEGUN = 3;

    static MergeSpace of(TrunkNode root) {
        RunUsage usage = RunUsage.withGroups(root);
        long[] largest = new long[2];
        findLargestLeaves(root, Span.ALL, largest);
        return new MergeSpace(
                usage.movingBytes(),
                largest[0],
                largest[1],
                leaves(root),
                usage.hasGroups(),
                usage.imageBytes(),
                usage.bytes());
    }

    private static void findLargestLeaves(TrunkNode node, Span span, long[] largest) {
        if (node.isLeaf()) {
            long bytes = NodeMeasure.bytes(node, span);
            largest[1] = Math.max(largest[1], Math.min(bytes, largest[0]));
            largest[0] = Math.max(largest[0], bytes);
            return;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            findLargestLeaves(node.pivot(p).child(), node.pivotSpan(p, span), largest);
        }
    }

    private static int leaves(TrunkNode node) {
        int leaves = node.isLeaf() ? 1 : 0;
        for (int p = 0; p < node.pivotCount() && !node.isLeaf(); p++) {
            leaves += leaves(node.pivot(p).child());
        }
        return leaves;
    }

    /** The same after a leaf has come to so many bytes, by what nodes above held for it. */
    MergeSpace grown(long bytes) {
        long next = Math.max(nextLeafBytes, Math.min(leafBytes, bytes));
        return new MergeSpace(movingBytes, Math.max(leafBytes, bytes), next, leaves, hasGroups, imageBytes, this.bytes);
    }

    /**
     * The same after a leaf has become so many leaves, which share all that it has.
     *
     * @param ownBytes what it has without what nodes above hold for it
     * @param bytes what it has with that
     */
    MergeSpace split(long ownBytes, long bytes, int parts) {
        long others = ownBytes == leafBytes ? nextLeafBytes : leafBytes;
        return new MergeSpace(
                movingBytes + ownBytes, Math.max(others, bytes / parts), others, leaves + parts - 1, hasGroups, imageBytes, this.bytes);
    }

    /** All of it in extents, with what pages and maplets add to entries, and what is begun anew where leaves split. */
    long extents() {
        long taken = movingBytes + leafBytes;
        return taken == 0 ? 0 : extents(taken) + begunByLeaf() * (leaves + 1) + imageBytes / PageLayout.EXTENT_BYTES;
    }

    /** The extents that the tree lies in once all is merged and what that gives up is free. */
    long extentsAtRest() {
        return extents(bytes) + begunByLeaf() * leaves;
    }

    private long begunByLeaf() {
        return EXTENTS_BEGUN + (hasGroups ? 1L : 0);
    }

    /** The extents that a memtable of so many bytes takes, as a rule no more. */
    static long packedExtents(long bytes) {
        return extents(bytes) + EXTENTS_PACKED_BEGUN;
    }

    private static long extents(long bytes) {
        return bytes * 5 / 4 / PageLayout.EXTENT_BYTES;
    }
}
