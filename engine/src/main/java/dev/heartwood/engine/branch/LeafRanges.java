package dev.heartwood.engine.branch;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageType;
import java.util.List;

/**
 * Disjoint ranges of keys in ascending order, and the leaves of one branch in which each lies, looked for when first asked.
 * Belongs to one thread.
 */
final class LeafRanges {
    /** No bound. */
    private static final int NONE = -1;

    private static final int UNKNOWN = -1;

    private final Branch branch;
    private final CursorMemory pools;
    private final boolean exact;
    private final int count;
    private final long[] from;
    private final int[] fromLength;
    private final long[] to;
    private final int[] toLength;
    private final int[] firstLeaf;
    private final int[] lastLeaf;
    private long memory;
    private long memoryBytes;

    /**
     * Ranges whose bounds are copied to native memory.
     *
     * @param exact whether entries outside must not be shown; else they may be, and the bounds say only how far to read
     * @param pools where memory for the bounds comes from if need be
     * @param space memory for the bounds if they fit into its {@code spaceBytes}, which stays the caller's
     */
    LeafRanges(Branch branch, List<Span> ranges, boolean exact, CursorMemory pools, long space, long spaceBytes) {
        this.branch = branch;
        this.pools = pools;
        this.exact = exact;
        this.count = ranges.size();
        this.from = new long[count];
        this.fromLength = new int[count];
        this.to = new long[count];
        this.toLength = new int[count];
        this.firstLeaf = new int[count];
        this.lastLeaf = new int[count];
        requireAscending(ranges);
        long bytes = 0;
        for (Span range : ranges) {
            bytes += lengthOf(range.from()) + lengthOf(range.to());
        }
        if (bytes > spaceBytes) {
            memoryBytes = Long.highestOneBit(2 * bytes - 1);
            memory = pools.allocate(memoryBytes);
        }
        long at = memory != 0 ? memory : space;
        for (int i = 0; i < count; i++) {
            byte[] bound = ranges.get(i).from();
            from[i] = at;
            fromLength[i] = copy(bound, at);
            at += lengthOf(bound);
            bound = ranges.get(i).to();
            to[i] = at;
            toLength[i] = copy(bound, at);
            at += lengthOf(bound);
            firstLeaf[i] = UNKNOWN;
            lastLeaf[i] = UNKNOWN;
        }
    }

    private static void requireAscending(List<Span> ranges) {
        for (int i = 1; i < ranges.size(); i++) {
            byte[] end = ranges.get(i - 1).to();
            byte[] begin = ranges.get(i).from();
            if (end == null || begin == null || java.util.Arrays.compareUnsigned(end, begin) > 0) {
                throw new IllegalArgumentException("ranges that are not disjoint and ascending: " + ranges);
            }
        }
    }

    private static int lengthOf(byte[] bound) {
        return bound == null ? 0 : bound.length;
    }

    private static int copy(byte[] bound, long at) {
        if (bound == null) {
            return NONE;
        }
        if (bound.length > 0) {
            Memory.copyFrom(bound, 0, at, bound.length);
        }
        return bound.length;
    }

    /** The leaf that has the first entry at or after a key, or ends right before it. */
    static int leafFor(Branch branch, long key, int keyLength) {
        return leaf(branch, key, keyLength, true);
    }

    /** The last leaf that may have an entry before a key. */
    static int leafBelow(Branch branch, long key, int keyLength) {
        return leaf(branch, key, keyLength, false);
    }

    private static int leaf(Branch branch, long key, int keyLength, boolean atOrAfter) {
        int number = branch.root();
        for (int level = branch.shape.levels(); level > 0; level--) {
            number = child(branch, number, level, key, keyLength, atOrAfter);
        }
        return number;
    }

    private static int child(Branch branch, int number, int level, long key, int keyLength, boolean atOrAfter) {
        CachedFile file = branch.storage.file();
        for (int attempt = 1; ; attempt++) {
            try {
                long page = file.lockShared(branch.devicePage(number), PageType.BRANCH_INDEX, branch.id);
                try {
                    int child = atOrAfter
                            ? KeyedPage.childFor(page, branch, key, keyLength, Long.MAX_VALUE)
                            : KeyedPage.childBelow(page, branch, key, keyLength);
                    return BranchReader.child(page, branch, level, child);
                } finally {
                    file.unlockShared(page);
                }
            } catch (InsufficientMemoryException e) {
                file.awaitMemory(attempt, e);
            }
        }
    }

    /**
     * As {@link KeyedPage#lowerBound} for all versions of a key, outside of any epoch: where ends of long keys find no memory, it waits for
     * operations that hold all of it.
     */
    static int lowerBound(long page, Branch branch, long key, int keyLength) {
        for (int attempt = 1; ; attempt++) {
            try {
                return KeyedPage.lowerBound(page, branch, key, keyLength, Long.MAX_VALUE);
            } catch (InsufficientMemoryException e) {
                branch.storage.file().awaitMemory(attempt, e);
            }
        }
    }

    int count() {
        return count;
    }

    /** How many leaves all ranges take at most. */
    int leaves() {
        long leaves = 0;
        for (int i = 0; i < count; i++) {
            requireOrder(firstLeaf(i), lastLeaf(i));
            leaves += lastLeaf(i) - firstLeaf(i) + 1;
        }
        return (int) Math.min(leaves, Integer.MAX_VALUE);
    }

    /** Index pages that contradict each other lead to leaves the wrong way round. */
    private void requireOrder(int first, int last) {
        if (last < first - 1) {
            throw new CorruptionException(
                    branch.storage.file().device().name(),
                    branch.devicePage(branch.root()),
                    PageType.BRANCH_INDEX.name(),
                    "leaves of a range in order",
                    first + " to " + last);
        }
    }

    int firstLeaf(int range) {
        if (firstLeaf[range] == UNKNOWN) {
            firstLeaf[range] = fromLength[range] == NONE ? 0 : leafFor(branch, from[range], fromLength[range]);
        }
        return firstLeaf[range];
    }

    int lastLeaf(int range) {
        if (lastLeaf[range] == UNKNOWN) {
            lastLeaf[range] = toLength[range] == NONE
                    ? branch.shape.leafPages() - 1
                    : leafBelow(branch, to[range], toLength[range]);
        }
        return lastLeaf[range];
    }

    /** The last leaf that is known to lie in the range with {@code leaf}. */
    int lastLeafKnown(int range, int leaf) {
        return lastLeaf[range] == UNKNOWN ? leaf : lastLeaf[range];
    }

    private boolean hasFrom(int range) {
        return exact && fromLength[range] != NONE;
    }

    private boolean hasTo(int range) {
        return exact && toLength[range] != NONE;
    }

    /** The first entry that is in the range, of a leaf, its number and its page; behind the last one when none is. */
    int begin(int range, int leaf, long page) {
        return hasFrom(range) && (firstLeaf[range] == UNKNOWN || firstLeaf[range] == leaf)
                ? lowerBound(page, branch, from[range], fromLength[range])
                : 0;
    }

    /** The first entry behind the range, of a leaf, its number and its page. */
    int end(int range, int leaf, long page) {
        return hasTo(range) && (lastLeaf[range] == UNKNOWN || lastLeaf[range] == leaf)
                ? lowerBound(page, branch, to[range], toLength[range])
                : KeyedPage.count(page);
    }

    /** The first range that ends after a key, or {@link #count}. */
    int endingAfter(long key, int keyLength) {
        int range = 0;
        while (range < count && hasTo(range) && Memory.compare(to[range], toLength[range], key, keyLength) <= 0) {
            range++;
        }
        return range;
    }

    /** The last range that begins before a key, or -1. */
    int beginningBefore(long key, int keyLength) {
        int range = count - 1;
        while (range >= 0 && hasFrom(range) && Memory.compare(from[range], fromLength[range], key, keyLength) >= 0) {
            range--;
        }
        return range;
    }

    boolean beginsAfter(int range, long key, int keyLength) {
        return hasFrom(range) && Memory.compare(from[range], fromLength[range], key, keyLength) > 0;
    }

    boolean endsAtOrBefore(int range, long key, int keyLength) {
        return hasTo(range) && Memory.compare(to[range], toLength[range], key, keyLength) <= 0;
    }

    /** Gives the memory back. Idempotent. */
    void close() {
        if (memory != 0) {
            pools.free(memory, memoryBytes);
            memory = 0;
        }
    }
}
