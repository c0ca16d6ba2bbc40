package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leaves whose parts could not be merged for want of space do not split, and growth leaves space for splits that can be done. */
class SplitSpaceTest {
    private static final int MEMTABLE_BYTES = 1 << 18;
    private static final int VALUE_BYTES = 500;
    private static final TreeShape SHAPE = new TreeShape(8, 4, MEMTABLE_BYTES, MEMTABLE_BYTES, 4 * MEMTABLE_BYTES);
    /** Those that packing takes. */
    private static final int FOR_MEMTABLES = 30;

    private final TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.LEVEL_TIERED, null);
    private final Deque<Integer> taken = new ArrayDeque<>();
    private final SplittableRandom random = new SplittableRandom(7);

    @AfterEach
    void close() {
        tree.close();
    }

    private void load(int memtables) {
        for (int memtable = 0; memtable < memtables; memtable++) {
            for (int i = 0; i < MEMTABLE_BYTES / VALUE_BYTES; i++) {
                tree.put(String.format("%08d", random.nextInt(100_000)), "v".repeat(VALUE_BYTES));
            }
            tree.pack();
        }
    }

    private int leaves() {
        return MergeSpace.of(tree.trunk.version().root()).leaves();
    }

    private long largestLeaf() {
        return MergeSpace.of(tree.trunk.version().root()).leafBytes();
    }

    private void takeAllBut(int extents) {
        try {
            while (true) {
                taken.push(tree.extents.allocate(Purpose.PACKING));
            }
        } catch (NoSpaceException full) {
            for (int i = 0; i < extents; i++) {
                tree.extents.free(taken.pop());
            }
        }
    }

    /** Makes the leaves so large that they would split, on a device without space for that. */
    private void fill() {
        load(9);
        takeAllBut(FOR_MEMTABLES);
        int before = leaves();
        load(4);
        tree.trunk.balanceQuiet(Urge.SETTLING);
        assertTrue(largestLeaf() > SHAPE.leafBytesMax(), largestLeaf() + " bytes");
        assertEquals(before, leaves());
    }

    @Test
    void leavesSplitOnceThereIsSpace() {
        fill();
        int before = leaves();
        assertFalse(tree.trunk.balanceQuiet(Urge.SETTLING));
        taken.forEach(tree.extents::free);
        assertTrue(tree.trunk.balanceQuiet(Urge.SETTLING));
        assertTrue(leaves() > before, leaves() + " leaves");
        assertTrue(largestLeaf() <= SHAPE.leafBytesMax(), largestLeaf() + " bytes");
        assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
    }

    @Test
    void growthLeavesSpaceForASplitUntilItIsGivenUp() {
        fill();
        MergeSpace now = MergeSpace.of(tree.trunk.version().root());
        long withSplit = now.split(now.leafBytes(), now.leafBytes(), SHAPE.leafParts(now.leafBytes(), SHAPE.leafBytesMax(), false)).extents();
        assertTrue(withSplit > now.extents());
        assertEquals(withSplit, tree.trunk.mergeExtents());
        assertTrue(tree.trunk.giveUpSplits());
        assertEquals(now.extents(), tree.trunk.mergeExtents());
        assertFalse(tree.trunk.giveUpSplits());
        tree.trunk.spaceIsShort(false);
        assertEquals(withSplit, tree.trunk.mergeExtents());
    }

    /** What was given up is waited for again when it takes less. */
    @Test
    void growthLeavesSpaceForASplitAgainOnceItTakesLess() {
        takeAllBut(2 * FOR_MEMTABLES);
        load(6);
        TrunkNode smaller = tree.trunk.version().root();
        load(6);
        TrunkNode larger = tree.trunk.version().root();
        SplitSpace splits = ofFile(1 << 13);
        long withSplit = splits.mergeExtents(larger);
        assertTrue(withSplit > MergeSpace.of(larger).extents());
        assertTrue(splits.giveUp());
        assertEquals(MergeSpace.of(larger).extents(), splits.mergeExtents(larger));
        assertFalse(splits.giveUp());
        assertTrue(splits.mergeExtents(smaller) > MergeSpace.of(smaller).extents());
        assertEquals(MergeSpace.of(larger).extents(), splits.mergeExtents(larger));
        splits.hopeAgain();
        assertEquals(2, splits.decisions());
        splits.hopeAgain();
        assertEquals(2, splits.decisions());
        assertEquals(withSplit, splits.mergeExtents(larger));
    }

    @Test
    void noSpaceIsLeftForASplitThatCannotBe() {
        fill();
        MergeSpace now = MergeSpace.of(tree.trunk.version().root());
        long withSplit = now.split(now.leafBytes(), now.leafBytes(), SHAPE.leafParts(now.leafBytes(), SHAPE.leafBytesMax(), false)).extents();
        assertEquals(now.extents(), ofFile(now.extentsAtRest() + withSplit).mergeExtents(tree.trunk.version().root()));
        assertEquals(withSplit, ofFile(2 * (now.extentsAtRest() + withSplit)).mergeExtents(tree.trunk.version().root()));
    }

    /** Where there is three times as much as any merges take, of a tree that is work to walk. */
    @Test
    void whatMergesTakeAtMostIsKnownWhereSpaceIsPlenty() {
        assertEquals(0, used(63, 1 << 20).mergeExtentsAtMost());
        assertEquals(6 * 64, used(64, 1 << 20).mergeExtentsAtMost());
        assertEquals(0, used(64, 18 * 64).mergeExtentsAtMost());
        assertEquals(6 * 1000, used(1000, 20 * 1000).mergeExtentsAtMost());
    }

    /** Beside so many extents in use of a file that may have so many. */
    private static SplitSpace used(int inUse, long fileExtents) {
        ExtentAllocator extents = new ExtentAllocator(new ArrayDevice(), fileExtents << 17, 0);
        for (int i = 0; i < inUse; i++) {
            extents.allocate(Purpose.PACKING);
        }
        return new SplitSpace(SHAPE, extents);
    }

    private static SplitSpace ofFile(long extents) {
        return ofFile(SHAPE, extents << 17);
    }

    private static SplitSpace ofFile(TreeShape shape, long bytes) {
        return new SplitSpace(shape, new ExtentAllocator(new ArrayDevice(), bytes, 0));
    }

    /** Else it stays one for ever, and the store takes a quarter less: memtables that come before it can split are more than there is room for. */
    @ParameterizedTest
    @ValueSource(ints = {12, 16, 20, 32})
    void theFirstLeafIsDueToSplitLongBeforeItCannotBe(int fileMebibytes) {
        long fileBytes = ByteSize.mib(fileMebibytes).bytes();
        TreeShape shape = TreeShape.of(8, fileBytes / 32).within(fileBytes);
        try (TrunkFixture whole = new TrunkFixture(
                new TreeShape(8, 8, MEMTABLE_BYTES, 1 << 30, 1 << 30), TrunkPolicies.SIZE_TIERED, null)) {
            long bytes = shape.firstLeafBytesMax() + 2 * shape.memtableBytes();
            for (int i = 0; i < bytes / VALUE_BYTES; i++) {
                whole.put(String.format("%08d", i), "v".repeat(VALUE_BYTES));
            }
            whole.pack();
            TrunkNode root = whole.trunk.version().root();
            assertTrue(ofFile(shape, fileBytes).mergeExtents(root) > MergeSpace.of(root).extents());
            whole.releaseAll();
        }
    }

    @Test
    void theFirstLeafSplitsThere() {
        TreeShape shape = TreeShape.of(8, ByteSize.kib(384).bytes()).within(ByteSize.mib(12).bytes());
        try (TrunkFixture whole = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            long bytes = shape.firstLeafBytesMax() * 6 / 5;
            assertTrue(bytes < shape.leafBytesMax());
            for (int i = 0; i < bytes / VALUE_BYTES; i++) {
                whole.put(String.format("%08d", i), "v".repeat(VALUE_BYTES));
            }
            whole.pack();
            whole.trunk.balanceQuiet(Urge.SETTLING);
            assertTrue(MergeSpace.of(whole.trunk.version().root()).leaves() > 1);
            whole.releaseAll();
        }
    }

    /** What came from above is shared as it is: merges of the parts take less than that of a leaf which has it all. */
    @Test
    void aLeafThatHasWhatItHasFromAboveSplitsAtOnce() {
        fill();
        TrunkNode root = tree.trunk.version().root();
        Span first = root.pivotSpan(0, Span.ALL);
        long own = NodeMeasure.bytes(root.pivot(0).child(), first);
        SplitSpace splits = fullFile();
        splits.begin(root);
        assertFalse(splits.take(first, 3 * own / 2, 2));
        assertTrue(splits.take(first, 5 * own, 4));
    }

    private static SplitSpace fullFile() {
        ExtentAllocator file = new ExtentAllocator(new ArrayDevice(), 40L << 17, 0);
        for (int i = 0; i < 30; i++) {
            file.allocate(Purpose.PACKING);
        }
        return new SplitSpace(SHAPE, file);
    }

    /** Parts that have one run each want no merge but for what they share, which is not free until then. */
    @Test
    void whatASplitLeavesSharedIsMergedWhileSpaceIsShort() {
        load(3);
        takeAllBut(FOR_MEMTABLES);
        load(2);
        long leafExtents = MergeSpace.packedExtents(largestLeaf());
        while (!tree.extents.hasForMerges(leafExtents)) {
            tree.extents.free(taken.pop());
        }
        settle();
        assertEquals(1, leaves());
        assertTrue(largestLeaf() > SHAPE.leafBytesMax(), largestLeaf() + " bytes");
        taken.forEach(tree.extents::free);
        tree.trunk.spaceIsShort(true);
        assertTrue(tree.trunk.balanceQuiet(Urge.SETTLING));
        long moving = MergeSpace.of(tree.trunk.version().root()).movingBytes();
        assertTrue(moving > SHAPE.leafBytesMax() / 2, moving + " bytes");
        settle();
        assertEquals(0, MergeSpace.of(tree.trunk.version().root()).movingBytes());
        assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
    }

    /** Merges all that is wanted as the tree is. */
    private void settle() {
        for (CompactionPlan plan = tree.trunk.plan(Urge.SETTLING); plan != null; plan = tree.trunk.plan(Urge.SETTLING)) {
            Compactor.Result result = tree.run(plan);
            tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            tree.epochs.reclaim();
        }
    }

    /** Of several leaves as many may split as all can be merged of. */
    @Test
    void eachSplitCounts() {
        fill();
        TrunkNode root = tree.trunk.version().root();
        MergeSpace now = MergeSpace.of(root);
        Span first = root.pivotSpan(0, Span.ALL);
        Span second = root.pivotSpan(1, Span.ALL);
        long one = NodeMeasure.bytes(root.pivot(0).child(), first);
        long other = NodeMeasure.bytes(root.pivot(1).child(), second);
        MergeSpace afterOne = now.split(one, one, 2);
        MergeSpace afterBoth = afterOne.split(other, other, 2);
        LongPredicate takesBoth = extents -> {
            int used = (int) extents;
            ExtentAllocator file = new ExtentAllocator(new ArrayDevice(), used + extents << 17, 0);
            for (int i = 0; i < used; i++) {
                file.allocate(Purpose.PACKING);
            }
            SplitSpace splits = new SplitSpace(SHAPE, file);
            splits.begin(root);
            return splits.take(first, one, 2) && splits.take(second, other, 2);
        };
        // With the reserve, of a file of some 150 extents.
        long forEither = Math.max(afterOne.extents(), now.split(other, other, 2).extents()) + 6;
        assertTrue(forEither < afterBoth.extents());
        assertFalse(takesBoth.test(forEither));
        assertTrue(takesBoth.test(afterBoth.extents() + 6));
    }
}
