package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.KeyRange;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * About how much of a branch lies in a range of keys, by its index pages alone.
 *
 * @param entries entries, all versions
 * @param dataBytes bytes of their keys and values, large values included
 * @param leafPages leaves that the range touches
 */
public record RangeEstimate(long entries, long dataBytes, int leafPages) {
    /**
     * A key at which the branch could be cut.
     *
     * @param key a key or the beginning of one; at most 256 bytes
     * @param dataBytes about how many bytes of keys and values lie between the sample before, or the beginning of the range, and
     *     this key
     */
    public record Sample(byte[] key, long dataBytes) {}

    /** Estimates how much of {@code branch} lies in {@code range}; exact to about a leaf on either side. */
    public static RangeEstimate of(Branch branch, KeyRange range) {
        LeafRanges leaves = new LeafRanges(branch, List.of(range), 0, 0);
        int first;
        int last;
        try {
            first = leaves.firstLeaf(0);
            last = leaves.lastLeaf(0);
        } finally {
            leaves.close();
        }
        if (last < first || isOutside(branch, range)) {
            return new RangeEstimate(0, 0, 0);
        }
        int pages = last - first + 1;
        // Half of each leaf that a bound cuts.
        int halves = 2 * pages - (range.from() == null ? 0 : 1) - (range.to() == null ? 0 : 1);
        double share = Math.max(halves, 1) / (2.0 * branch.leafPages());
        return new RangeEstimate(
                (long) Math.ceil(branch.entries() * share), (long) Math.ceil(branch.dataBytes() * share), pages);
    }

    private static boolean isOutside(Branch branch, KeyRange range) {
        byte[] from = range.from();
        byte[] to = range.to();
        return to != null && Arrays.compareUnsigned(branch.firstKey(), to) >= 0
                || from != null && Arrays.compareUnsigned(branch.lastKey(), from) < 0
                || from != null && to != null && Arrays.compareUnsigned(from, to) >= 0;
    }

    /**
     * Keys of {@code branch} within {@code range}, ascending, with about equal amounts of data between them: at least {@code
     * countMin} where the index of the branch has so many, and not much more than are needed.
     */
    public static List<Sample> sample(Branch branch, KeyRange range, int countMin) {
        int levels = branch.levels();
        if (levels == 0) {
            return List.of();
        }
        // levelStart[l] is the first page of level l, found down the left edge.
        int[] levelStart = new int[levels + 2];
        levelStart[levels + 1] = branch.pageCount();
        int number = branch.root();
        for (int level = levels; level > 0; level--) {
            levelStart[level] = number;
            int below = number;
            int at = level;
            number = read(branch, below, page -> BranchReader.child(page, branch, at, 0));
        }
        int level = levels;
        while (level > 1 && childrenOf(branch, levelStart, level) < 2L * countMin) {
            level--;
        }
        return sampleLevel(branch, range, level, levelStart);
    }

    private static long childrenOf(Branch branch, int[] levelStart, int level) {
        return level == 1 ? branch.leafPages() : levelStart[level] - levelStart[level - 1];
    }

    private static List<Sample> sampleLevel(Branch branch, KeyRange range, int level, int[] levelStart) {
        long childBytes = branch.dataBytes() / childrenOf(branch, levelStart, level);
        List<Sample> samples = new ArrayList<>();
        long[] pending = new long[1];
        for (int number = levelStart[level]; number < levelStart[level + 1]; number++) {
            read(branch, number, page -> {
                int count = KeyedPage.count(page);
                for (int i = 0; i < count; i++) {
                    pending[0] += childBytes;
                    byte[] key = separator(page, count, i);
                    if (range.contains(key)) {
                        samples.add(new Sample(key, pending[0]));
                        pending[0] = 0;
                    } else if (samples.isEmpty()) {
                        pending[0] = 0;
                    }
                }
                // The first child of the page behind has its separator a level above.
                pending[0] += childBytes;
                return 0;
            });
        }
        return samples;
    }

    /** The inline part of a separator. */
    static byte[] separator(long page, int count, int index) {
        int prefixLength = KeyedPage.prefixLength(page, count);
        int keyField = KeyedPage.keyField(page, KeyedPage.bounds(page, count, index));
        int remainder = keyField & 0xffff;
        byte[] key = new byte[prefixLength + remainder];
        Memory.copyTo(page + KeyedPage.prefixOffset(count), key, 0, prefixLength);
        int head = KeyedPage.head(page, index);
        for (int i = 0; i < Math.min(remainder, HEAD_BYTES); i++) {
            key[prefixLength + i] = (byte) (head >>> 24 - 8 * i);
        }
        if (remainder > HEAD_BYTES) {
            Memory.copyTo(page + (keyField >>> 16), key, prefixLength + HEAD_BYTES, remainder - HEAD_BYTES);
        }
        return key;
    }

    private interface PageFunction {
        int apply(long page);
    }

    private static int read(Branch branch, int number, PageFunction function) {
        CachedFile file = branch.storage.file();
        long page = file.lockShared(branch.devicePage(number), PageType.BRANCH_INDEX, branch.id);
        try {
            return function.apply(page);
        } finally {
            file.unlockShared(page);
        }
    }

    /** Bytes of the file that the leaves of the range take. */
    public long fileBytes() {
        return (long) leafPages * PageLayout.PAGE_BYTES;
    }
}
