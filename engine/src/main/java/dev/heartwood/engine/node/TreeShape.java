package dev.heartwood.engine.node;

import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.os.MemoryPool;

/**
 * The limits that give the trunk its shape.
 *
 * @param fanoutMax the most children of a node before it splits
 * @param runsMax the most runs a node keeps for one child before they move on or are merged
 * @param memtableBytes the size of a full memtable
 * @param flushBytes what a node keeps for one child before it moves on, in bytes
 * @param leafBytesMax the size at which a leaf splits, unless it has few entries
 * @param firstLeafBytesMax that of the leaf that is the whole tree
 * @param spread where keys lie
 * @param reachMax bytes of all runs that a leaf refers to, for each that lies in the leaf, that are left alone: as many keys its
 *     filters name for each of its own. With 2^n, n splits into halves by reference are followed by a rewrite
 * @param leavesAhead the most leaves that the first one becomes ahead of its data, where keys are spread evenly
 * @param leafEntries as many entries a leaf may have beyond {@code leafBytesMax}, up to eight times those bytes
 * @param filterEntriesMax the most entries of a filter
 * @param mergedRunsMax the most runs that a merge reads
 */
public record TreeShape(
        int fanoutMax,
        int runsMax,
        long memtableBytes,
        long flushBytes,
        long leafBytesMax,
        long firstLeafBytesMax,
        KeySpread spread,
        long reachMax,
        int leavesAhead,
        long leafEntries,
        long filterEntriesMax,
        int mergedRunsMax) {
    private static final long REACH_MAX_EVEN = 8;

    /** A leaf is not parted into smaller ones than this ahead of its data: a page or two of each memtable is read in merges. */
    private static final long PART_BYTES_MIN = 64 << 10;

    private static final int LEAVES_AHEAD_OF_FANOUT = 8;
    private static final int LEAF_GROWTH_MAX = 8;

    /**
     * Of a leaf with one entry for so many bytes of a memtable a merge has the fingerprints within its share of memory, which is 19 of
     * them at the least, also once as much as half of it has come to it.
     */
    private static final int MEMTABLE_BYTES_PER_LEAF_ENTRY = 32;

    /** A leaf begins two extents: those of leaves ahead of their data take a sixteenth of a file that has a limit. */
    private static final long FILE_BYTES_PER_LEAF_AHEAD = 4 << 20;

    private static final int LEAVES_OF_FULL_FILE = 16;
    private static final int FIRST_LEAVES_OF_FILE = 8;
    private static final int LEAF_MEMTABLES_MIN = 2;
    /** In leaves that are much smaller, extents that are begun take much of the file. */
    private static final long LEAF_BYTES_LEAST = 3 << 20;

    /** Bundles a node may have, each with a maplet to be asked, before their maplets are merged into one. */
    private static final int BUNDLES_MAX = 4;

    private static final int BUNDLES_MAX_ABOVE_EVEN_LEAVES = 8;

    /** A shape for keys of which nothing is known. */
    public TreeShape(int fanoutMax, int runsMax, long memtableBytes, long flushBytes, long leafBytesMax) {
        this(
                fanoutMax,
                runsMax,
                memtableBytes,
                flushBytes,
                leafBytesMax,
                leafBytesMax,
                KeySpread.ANY,
                Long.MAX_VALUE,
                0,
                0,
                MapletBuilder.ENTRIES_MAX,
                Integer.MAX_VALUE);
    }

    /**
     * The shape for memtables of a size. Four times the fanout in children keeps the trunk low, and twice the fanout in runs makes
     * most data move from the root to its leaf in one merge.
     */
    public static TreeShape of(int fanout, long memtableBytes) {
        return new TreeShape(4 * fanout, 2 * fanout, memtableBytes, 4 * memtableBytes, 8 * memtableBytes);
    }

    /**
     * The shape for memtables of hashed keys. Every memtable reaches all leaves: many children (32 times the fanout) keep the trunk at
     * one level below the root, and leaves of few entries, of one memtable if these are small and up to eight if not, keep the fingerprints
     * of what is merged for one at once within the memory for merges.
     */
    public static TreeShape ofHashed(int fanout, long memtableBytes) {
        return new TreeShape(
                32 * fanout,
                2 * fanout,
                memtableBytes,
                4 * memtableBytes,
                memtableBytes,
                memtableBytes,
                KeySpread.EVEN,
                REACH_MAX_EVEN,
                LEAVES_AHEAD_OF_FANOUT * fanout,
                memtableBytes / MEMTABLE_BYTES_PER_LEAF_ENTRY,
                MapletBuilder.ENTRIES_MAX,
                Integer.MAX_VALUE);
    }

    /** This shape for a tree whose filters know groups of keys. */
    public TreeShape withGroups() {
        return with(KeySpread.GROUPED, leafBytesMax, firstLeafBytesMax, leavesAhead, leafEntries, filterEntriesMax, mergedRunsMax);
    }

    /** This shape with filters of so many entries at most. */
    public TreeShape withFiltersOf(long entriesMax) {
        return with(spread, leafBytesMax, firstLeafBytesMax, leavesAhead, leafEntries, entriesMax, mergedRunsMax);
    }

    /** This shape where merges have no more memory than a pool's. */
    public TreeShape withMergesIn(MemoryPool pool) {
        return withMergesOf(InputLimit.runsMax(pool));
    }

    /** This shape with merges of so many runs at most. */
    public TreeShape withMergesOf(int runs) {
        return with(spread, leafBytesMax, firstLeafBytesMax, leavesAhead, leafEntries, filterEntriesMax, runs);
    }

    private TreeShape with(
            KeySpread keys,
            long leafBytes,
            long firstLeafBytes,
            int leaves,
            long entriesOfLeaf,
            long entriesOfFilter,
            int runsOfMerge) {
        return new TreeShape(
                fanoutMax,
                runsMax,
                memtableBytes,
                flushBytes,
                leafBytes,
                firstLeafBytes,
                keys,
                reachMax,
                leaves,
                entriesOfLeaf,
                entriesOfFilter,
                runsOfMerge);
    }

    /**
     * This shape for a file of so many bytes at most: to merge a leaf takes as much as it holds, which the file has to have free, and each
     * leaf begins extents, so that leaves are neither small nor many ahead of their data. The first leaf splits while the file has room for all
     * of it three times over, which that takes, and for the memtables that come meanwhile; not into leaves so small that they are merged again.
     */
    public TreeShape within(long fileBytesMax) {
        long least = Math.max(LEAF_BYTES_LEAST, LEAF_MEMTABLES_MIN * memtableBytes);
        boolean isLimited = fileBytesMax < Long.MAX_VALUE;
        long most = isLimited && spread == KeySpread.EVEN ? Math.max(leafBytesMax, LEAF_BYTES_LEAST) : leafBytesMax;
        long leafBytes = Math.min(most, Math.max(least, fileBytesMax / LEAVES_OF_FULL_FILE));
        int leaves = (int) Math.min(leavesAhead, fileBytesMax / FILE_BYTES_PER_LEAF_AHEAD);
        long firstLeafBytes = Math.min(leafBytes, Math.max(leafBytes / 2, fileBytesMax / FIRST_LEAVES_OF_FILE));
        return with(spread, leafBytes, firstLeafBytes, leaves, isLimited ? 0 : leafEntries, filterEntriesMax, mergedRunsMax);
    }

    /**
     * The size at which a leaf splits whose entries are of so many bytes on average. The first leaf splits early, so that few runs ever
     * belong to several leaves, whose filters then name the keys of all.
     *
     * @param isWhole whether the leaf is the whole tree
     */
    public long leafBytesMax(double entryBytes, boolean isWhole) {
        if (isWhole) {
            return firstLeafBytesMax;
        }
        return Math.max(leafBytesMax, (long) Math.min(LEAF_GROWTH_MAX * leafBytesMax, leafEntries * entryBytes));
    }

    /** Leaves smaller than this are merged with a neighbour. */
    public long leafBytesMin() {
        return spread == KeySpread.EVEN ? Math.min(PART_BYTES_MIN / 2, leafBytesMax / 8) : leafBytesMax / 8;
    }

    /**
     * How many leaves a leaf of so many bytes becomes. The first leaf of evenly spread keys becomes as many as a quarter of a node can
     * have, fewer in a file with a limit, because each of them will fill.
     *
     * @param bytesMax the size at which it splits
     * @param isWhole whether the leaf is the whole tree
     */
    public int leafParts(long bytes, long bytesMax, boolean isWhole) {
        long parts = (2 * bytes + bytesMax - 1) / bytesMax;
        if (isWhole && spread == KeySpread.EVEN) {
            parts = Math.max(parts, Math.min(leavesAhead, bytes / PART_BYTES_MIN));
        }
        return (int) Math.min(fanoutMax, parts);
    }

    /**
     * Bundles that a node may have before their maplets are merged. Above evenly spread leaves all bundles move on together soon,
     * and merging their maplets is the larger part of what a load of small records costs.
     */
    int bundlesMax(boolean isLeaf) {
        return spread == KeySpread.EVEN && !isLeaf ? BUNDLES_MAX_ABOVE_EVEN_LEAVES : BUNDLES_MAX;
    }
}
