package dev.heartwood.engine.os;

/**
 * The bookkeeping of a buddy allocator: which blocks of a power-of-two number of units are free. Not thread-safe.
 * Touches no memory but its own.
 */
final class BuddyTree {
    /*
     * A complete binary tree in an array: node 1 is the whole, the children of node i are 2i and 2i + 1, the leaves
     * are units. A node of order k stands for 2^k units and holds
     *
     *   k + 1         its block is wholly free,
     *   1..k          the largest free block within it has order value - 1,
     *   0             nothing is free within it,
     *   ALLOCATED     it was allocated as one block.
     *
     * Values under a wholly free or an allocated block are stale, and none is ALLOCATED: a block becomes wholly free by being given back,
     * when both its parts are, or as a part of one that is, and only such a block is allocated.
     *
     * Units past the end of the memory are 0 for ever, so that any number of units is served.
     */
    private static final byte ALLOCATED = -1;

    private final byte[] largest;
    private final int rootOrder;

    BuddyTree(int units) {
        rootOrder = order(units);
        largest = new byte[2 << rootOrder];
        int leaves = 1 << rootOrder;
        for (int unit = 0; unit < units; unit++) {
            largest[leaves + unit] = 1;
        }
        for (int node = leaves - 1; node > 0; node--) {
            largest[node] = combined(node, orderOf(node));
        }
    }

    /** The smallest order whose blocks hold {@code units} units. */
    static int order(int units) {
        return units <= 1 ? 0 : 32 - Integer.numberOfLeadingZeros(units - 1);
    }

    /** Takes a block of {@code order}; the number of its first unit, or -1 when there is none. */
    int allocate(int order) {
        int wanted = order + 1;
        if (order > rootOrder || largest[1] < wanted) {
            return -1;
        }
        int node = 1;
        for (int at = rootOrder; at > order; at--) {
            if (largest[node] == at + 1) {
                // Split: the parts of a wholly free block may hold stale values.
                largest[2 * node] = (byte) at;
                largest[2 * node + 1] = (byte) at;
            }
            int left = largest[2 * node];
            int right = largest[2 * node + 1];
            // The tighter side that is large enough, to keep large blocks whole.
            boolean goLeft = left >= wanted && (right < wanted || left <= right);
            node = goLeft ? 2 * node : 2 * node + 1;
        }
        largest[node] = ALLOCATED;
        updateAbove(node, order);
        return (node << order) - (1 << rootOrder);
    }

    /**
     * Gives a block back.
     *
     * @throws IllegalStateException when no such block is allocated
     */
    void free(int unit, int order) {
        requireAllocated(unit, order);
        int node = unit + (1 << rootOrder) >>> order;
        largest[node] = (byte) (order + 1);
        updateAbove(node, order);
    }

    /** Throws what {@link #free} would. */
    void requireAllocated(int unit, int order) {
        int node = order > rootOrder || unit < 0 || unit >= 1 << rootOrder ? 0 : unit + (1 << rootOrder) >>> order;
        if (node == 0 || (unit & (1 << order) - 1) != 0 || largest[node] != ALLOCATED) {
            throw new IllegalStateException("no block of 2^" + order + " units is allocated at unit " + unit);
        }
    }

    /** The order of the largest free block, or -1. */
    int largestFree() {
        return largest[1] <= 0 ? -1 : largest[1] - 1;
    }

    private void updateAbove(int node, int order) {
        int at = order;
        for (int above = node >>> 1; above > 0; above >>>= 1) {
            largest[above] = combined(above, ++at);
        }
    }

    private byte combined(int node, int order) {
        int left = largest[2 * node];
        int right = largest[2 * node + 1];
        if (left == order && right == order) {
            return (byte) (order + 1);
        }
        return (byte) Math.max(0, Math.max(left, right));
    }

    private int orderOf(int node) {
        return rootOrder - (31 - Integer.numberOfLeadingZeros(node));
    }
}
