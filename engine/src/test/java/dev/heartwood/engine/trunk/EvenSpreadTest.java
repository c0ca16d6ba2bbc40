package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.KeySpread;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The tree of evenly spread keys, as hashes are. With {@code -Dheartwood.sweep=true} also what fan-out, leaf size and the ratio of
 * splits by reference to rewrites do to the cost of a load, in a table.
 */
class EvenSpreadTest {
    private static final int MEMTABLE_BYTES = 256 << 10;
    private static final int VALUE_BYTES = 40;
    private static final int KEY_BYTES = 16;
    private static final int MEMTABLES = 40;
    private static final int SWEPT_MEMTABLES = 120;

    private static TreeShape shape(int fanoutMax, double leafMemtables, long reachMax) {
        return new TreeShape(
                fanoutMax,
                16,
                MEMTABLE_BYTES,
                4 * MEMTABLE_BYTES,
                (long) (leafMemtables * MEMTABLE_BYTES),
                (long) (leafMemtables * MEMTABLE_BYTES),
                KeySpread.EVEN,
                reachMax,
                fanoutMax / 2,
                0,
                MapletBuilder.ENTRIES_MAX,
                Integer.MAX_VALUE);
    }

    /** Loads memtables of random keys; returns their bytes. */
    private static long load(TrunkFixture tree, int memtables) {
        return load(tree, memtables, VALUE_BYTES);
    }

    private static long load(TrunkFixture tree, int memtables, int valueBytes) {
        SplittableRandom random = new SplittableRandom(7);
        long packed = 0;
        for (int i = 0; i < memtables; i++) {
            for (int bytes = 0; bytes < MEMTABLE_BYTES; bytes += KEY_BYTES + valueBytes) {
                tree.put(String.format("%016x", random.nextLong()), "v".repeat(valueBytes));
                packed += KEY_BYTES + valueBytes;
            }
            tree.pack();
            tree.settle(Urge.NEEDED);
        }
        return packed;
    }

    /** The most bytes of settled runs that some leaf refers to, for each that lies in the leaf. */
    private static double reach(TrunkNode node, Span span) {
        double most = 0;
        if (node.isLeaf()) {
            double within = 0;
            double all = 0;
            for (Bundle bundle : node.bundles()) {
                for (Run run : bundle.runs()) {
                    if (run != null && bundle.settled()) {
                        within += run.sample().bytesWithin(span.intersect(bundle.span()));
                        all += run.sample().bytes();
                    }
                }
            }
            return within == 0 ? 0 : all / within;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            most = Math.max(most, reach(node.pivot(p).child(), node.pivotSpan(p, span)));
        }
        return most;
    }

    @Test
    void filtersOfALeafNameFewKeysOfOthers() {
        TreeShape shape = shape(256, 1, 4);
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            long packed = load(tree, MEMTABLES);
            TrunkNode root = tree.trunk.version().root();
            double reach = reach(root, Span.ALL);
            assertTrue(reach <= shape.reachMax(), "a leaf refers to " + reach + " times its bytes");
            assertEquals(1, root.height());
            double amplification = tree.writeAmplification(packed);
            assertTrue(amplification < 4, "write amplification " + amplification);
            tree.releaseAll();
        }
    }

    @Test
    void theFirstLeafBecomesManyAtOnce() {
        try (TrunkFixture tree = new TrunkFixture(shape(256, 1, 8), TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 4);
            int leaves = tree.trunk.version().root().pivotCount();
            // Of more than one memtable, in parts of 64 KiB and more; one that is split in halves would have become eight at most.
            assertTrue(leaves >= 2 * MEMTABLE_BYTES / (64 << 10) - 4 && leaves <= 64, leaves + " leaves");
            tree.releaseAll();
        }
    }

    private static long largestLeaf(TrunkFixture tree) {
        return MergeSpace.of(tree.trunk.version().root()).leafBytes();
    }

    @Test
    void aLeafOfFewEntriesSplitsLater() {
        TreeShape shape = TreeShape.ofHashed(1, MEMTABLE_BYTES);
        int entryBytes = 128;
        assertEquals(4 * MEMTABLE_BYTES, shape.leafBytesMax(entryBytes, false));
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, MEMTABLES, entryBytes - KEY_BYTES);
            long largest = largestLeaf(tree);
            assertTrue(largest > 3 * MEMTABLE_BYTES / 2 && largest < 5 * MEMTABLE_BYTES, largest + " bytes");
            tree.releaseAll();
        }
    }

    @Test
    void aLeafOfManyEntriesSplitsAtAMemtable() {
        TreeShape shape = TreeShape.ofHashed(1, MEMTABLE_BYTES);
        assertEquals(MEMTABLE_BYTES, shape.leafBytesMax(16, false));
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, MEMTABLES, 2);
            long largest = largestLeaf(tree);
            assertTrue(largest <= MEMTABLE_BYTES, largest + " bytes");
            tree.releaseAll();
        }
    }

    @Test
    void theFirstLeafAndThoseOfAFileWithALimitSplitEarly() {
        TreeShape shape = TreeShape.ofHashed(8, MEMTABLE_BYTES);
        assertEquals(MEMTABLE_BYTES, shape.leafBytesMax(1000, true));
        assertEquals(8 * MEMTABLE_BYTES, shape.leafBytesMax(1000, false));
        TreeShape limited = shape.within(1L << 30);
        assertEquals(limited.leafBytesMax(), limited.leafBytesMax(1000, false));
        TreeShape sorted = TreeShape.of(8, MEMTABLE_BYTES);
        assertEquals(sorted.leafBytesMax(), sorted.leafBytesMax(1000, false));
    }

    @Test
    void sweep() {
        if (!Boolean.getBoolean("heartwood.sweep")) {
            return;
        }
        System.out.println("fan-out  leaf/memtable  splits/rewrite  write amplification  filter entries/key  nodes  ns/record");
        for (int fanout : new int[] {8, 16, 32, 64, 256}) {
            sweep(fanout, 1, 8);
        }
        for (double leaf : new double[] {0.25, 0.5, 1, 2, 4, 8}) {
            sweep(256, leaf, 8);
        }
        for (int splits = 0; splits <= 6; splits++) {
            sweep(256, 1, 1L << splits);
        }
    }

    private static void sweep(int fanout, double leaf, long reach) {
        try (TrunkFixture tree = new TrunkFixture(shape(fanout, leaf, reach), TrunkPolicies.SIZE_TIERED, null)) {
            long began = System.nanoTime();
            long packed = load(tree, SWEPT_MEMTABLES);
            long took = System.nanoTime() - began;
            long records = packed / (KEY_BYTES + VALUE_BYTES);
            TreeSummary summary = TreeSummary.of(tree.trunk);
            System.out.printf(
                    Locale.ROOT,
                    "%7d  %13.2f  %14d  %19.2f  %18.2f  %5d  %9d%n",
                    fanout,
                    leaf,
                    Long.numberOfTrailingZeros(reach),
                    tree.writeAmplification(packed),
                    (double) summary.filterEntries() / records,
                    summary.nodes(),
                    took / records);
            tree.releaseAll();
        }
    }
}
