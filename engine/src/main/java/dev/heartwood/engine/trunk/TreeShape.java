package dev.heartwood.engine.trunk;

/**
 * The limits that give the trunk its shape.
 *
 * @param fanoutMax the most children of a node before it splits
 * @param runsMax the most runs a node keeps for one child before they move on or are merged
 * @param memtableBytes the size of a full memtable
 * @param flushBytes what a node keeps for one child before it moves on, in bytes
 * @param leafBytesMax the size at which a leaf splits
 */
public record TreeShape(int fanoutMax, int runsMax, long memtableBytes, long flushBytes, long leafBytesMax) {
    /**
     * The shape for memtables of a size. Four times the fanout in children keeps the trunk low, and twice the fanout in runs makes
     * most data move from the root to its leaf in one merge.
     */
    public static TreeShape of(int fanout, long memtableBytes) {
        return new TreeShape(4 * fanout, 2 * fanout, memtableBytes, 4 * memtableBytes, 8 * memtableBytes);
    }

    /** Leaves smaller than this are merged with a neighbour. */
    long leafBytesMin() {
        return leafBytesMax / 8;
    }
}
