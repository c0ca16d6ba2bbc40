package dev.heartwood.engine.branch;

import dev.heartwood.KeyRange;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageType;
import java.util.List;

/** Disjoint ranges of keys in ascending order, and the leaves of one branch in which each lies. Belongs to one thread. */
final class LeafRanges {
    /** No bound. */
    private static final int NONE = -1;

    private final BranchStorage storage;
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
     * @param space memory for the bounds if they fit into its {@code spaceBytes}, which stays the caller's
     */
    LeafRanges(Branch branch, List<KeyRange> ranges, long space, long spaceBytes) {
        this.storage = branch.storage;
        this.count = ranges.size();
        this.from = new long[count];
        this.fromLength = new int[count];
        this.to = new long[count];
        this.toLength = new int[count];
        this.firstLeaf = new int[count];
        this.lastLeaf = new int[count];
        requireAscending(ranges);
        long bytes = 0;
        for (KeyRange range : ranges) {
            bytes += lengthOf(range.from()) + lengthOf(range.to());
        }
        if (bytes > spaceBytes) {
            memoryBytes = Long.highestOneBit(2 * bytes - 1);
            memory = PageStream.allocate(storage.pool(), memoryBytes);
        }
        try {
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
                locate(branch, i);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static void requireAscending(List<KeyRange> ranges) {
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

    private void locate(Branch branch, int range) {
        firstLeaf[range] = hasFrom(range) ? leafFor(branch, from[range], fromLength[range]) : 0;
        lastLeaf[range] =
                hasTo(range) ? leafBelow(branch, to[range], toLength[range]) : branch.shape.leafPages() - 1;
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
        CachedFile file = branch.storage.file();
        int number = branch.root();
        for (int level = branch.shape.levels(); level > 0; level--) {
            long page = file.lockSharedPatiently(branch.devicePage(number), PageType.BRANCH_INDEX, branch.id);
            try {
                int child = atOrAfter
                        ? KeyedPage.childFor(page, branch, key, keyLength, Long.MAX_VALUE)
                        : KeyedPage.childBelow(page, branch, key, keyLength);
                number = BranchReader.child(page, branch, level, child);
            } finally {
                file.unlockShared(page);
            }
        }
        return number;
    }

    int count() {
        return count;
    }

    /** How many leaves all ranges take at most. */
    int leaves() {
        long leaves = 0;
        for (int i = 0; i < count; i++) {
            leaves += Math.max(0, lastLeaf[i] - firstLeaf[i] + 1);
        }
        return (int) Math.min(leaves, Integer.MAX_VALUE);
    }

    int firstLeaf(int range) {
        return firstLeaf[range];
    }

    int lastLeaf(int range) {
        return lastLeaf[range];
    }

    boolean hasFrom(int range) {
        return fromLength[range] != NONE;
    }

    boolean hasTo(int range) {
        return toLength[range] != NONE;
    }

    /** The first entry of a leaf that lies in the range. */
    int begin(int range, long page, Branch branch) {
        return KeyedPage.lowerBound(page, branch, from[range], fromLength[range], Long.MAX_VALUE);
    }

    /** The first entry of a leaf that lies behind the range. */
    int end(int range, long page, Branch branch) {
        return KeyedPage.lowerBound(page, branch, to[range], toLength[range], Long.MAX_VALUE);
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
            storage.pool().free(memory, memoryBytes);
            memory = 0;
        }
    }
}
