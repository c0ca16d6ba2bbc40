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
 * @param leaves leaves, each of which may split
 * @param hasGroups whether there are large values, or long keys, in groups
 * @param imageBytes bytes of keys in the images of nodes, which long keys make as large as what they stand for
 */
record MergeSpace(long movingBytes, long leafBytes, int leaves, boolean hasGroups, long imageBytes) {
    /** The last extents of a branch and of a maplet. */
    private static final int EXTENTS_BEGUN = 2;

    /** Those that packing begins: with that of large values and the ends of long keys. */
    private static final int EXTENTS_PACKED_BEGUN = 3;

    static MergeSpace of(TrunkNode root) {
        RunUsage usage = RunUsage.withGroups(root);
        return new MergeSpace(usage.movingBytes(), largestLeaf(root, Span.ALL), leaves(root), usage.hasGroups(), usage.imageBytes());
    }

    private static long largestLeaf(TrunkNode node, Span span) {
        if (node.isLeaf()) {
            return NodeMeasure.bytes(node, span);
        }
        long bytes = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            bytes = Math.max(bytes, largestLeaf(node.pivot(p).child(), node.pivotSpan(p, span)));
        }
        return bytes;
    }

    private static int leaves(TrunkNode node) {
        int leaves = node.isLeaf() ? 1 : 0;
        for (int p = 0; p < node.pivotCount() && !node.isLeaf(); p++) {
            leaves += leaves(node.pivot(p).child());
        }
        return leaves;
    }

    /** All of it in extents, with what pages and maplets add to entries, and what is begun anew where leaves split. */
    long extents() {
        long bytes = movingBytes + leafBytes;
        return bytes == 0 ? 0 : extents(bytes) + (EXTENTS_BEGUN + (hasGroups ? 1L : 0)) * (leaves + 1)
                        + imageBytes / PageLayout.EXTENT_BYTES;
    }

    /** The extents that a memtable of so many bytes takes, as a rule no more. */
    static long packedExtents(long bytes) {
        return extents(bytes) + EXTENTS_PACKED_BEGUN;
    }

    private static long extents(long bytes) {
        return bytes * 5 / 4 / PageLayout.EXTENT_BYTES;
    }
}
