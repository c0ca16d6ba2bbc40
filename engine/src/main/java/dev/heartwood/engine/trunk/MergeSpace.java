package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.RunUsage;
import dev.heartwood.engine.node.TrunkNode;
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
 * @param leafEntryBytes those of one of them on average
 * @param nextLeafBytes and of the one that is the largest without it
 * @param leaves leaves, each of which may split
 * @param hasGroups whether there are large values, or long keys, in groups
 * @param imageBytes bytes of keys in the images of nodes, which long keys make as large as what they stand for
 * @param bytes bytes of all entries
 */
record MergeSpace(
        long movingBytes,
        long leafBytes,
        double leafEntryBytes,
        long nextLeafBytes,
        int leaves,
        boolean hasGroups,
        long imageBytes,
        long bytes) {
    /** The last extents of a branch and of a maplet. */
    private static final int EXTENTS_BEGUN = 2;

    /** Those that packing begins: with that of large values and the ends of long keys. */
    private static final int EXTENTS_PACKED_BEGUN = 3;

    static MergeSpace of(TrunkNode root) {
        RunUsage usage = RunUsage.withGroups(root);
        LargestLeaves largest = new LargestLeaves();
        largest.find(root, Span.ALL);
        return new MergeSpace(
                usage.movingBytes(),
                largest.bytes,
                largest.leaf == null ? 0 : NodeMeasure.entryBytes(largest.leaf),
                largest.nextBytes,
                leaves(root),
                usage.hasGroups(),
                usage.imageBytes(),
                usage.bytes());
    }

    /** The two largest leaves of a tree. */
    private static final class LargestLeaves {
        private TrunkNode leaf;
        private long bytes;
        private long nextBytes;

        private void find(TrunkNode node, Span span) {
            if (node.isLeaf()) {
                take(node, NodeMeasure.bytes(node, span));
                return;
            }
            for (int p = 0; p < node.pivotCount(); p++) {
                find(node.pivot(p).child(), node.pivotSpan(p, span));
            }
        }

        private void take(TrunkNode node, long nodeBytes) {
            if (nodeBytes <= bytes) {
                nextBytes = Math.max(nextBytes, nodeBytes);
                return;
            }
            nextBytes = bytes;
            bytes = nodeBytes;
            leaf = node;
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
        long largest = Math.max(leafBytes, bytes);
        return new MergeSpace(movingBytes, largest, leafEntryBytes, next, leaves, hasGroups, imageBytes, this.bytes);
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
                movingBytes + ownBytes,
                Math.max(others, bytes / parts),
                leafEntryBytes,
                others,
                leaves + parts - 1,
                hasGroups,
                imageBytes,
                this.bytes);
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
