package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the level-tiered policy wants of nodes, and what trees under it look like. */
class LevelTieredPolicyTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x6c6576656cL);
    private static final String RERUN = "; rerun: -Dtest=LevelTieredPolicyTest -Dheartwood.seed=" + SEED;
    private static final int MEMTABLE_BYTES = 1 << 14;
    private static final int VALUE_BYTES = 100;
    private static final TreeShape SHAPE = TreeShape.of(8, MEMTABLE_BYTES);

    /** Of a tree that only makes runs. */
    private static final TreeShape NEVER_SPLIT = new TreeShape(32, 16, MEMTABLE_BYTES, 1 << 30, 1 << 30);

    private final CompactionPolicy policy = TrunkPolicies.LEVEL_TIERED.policy(SHAPE);
    private TrunkFixture tree;

    @BeforeEach
    void open() {
        tree = new TrunkFixture(NEVER_SPLIT, TrunkPolicies.SIZE_TIERED, null);
    }

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    /** A run of some records whose keys are {@code step} apart. */
    private Bundle run(int from, int step, int records) {
        for (int i = 0; i < records; i++) {
            tree.put(String.format("%08d", from + i * step), "v".repeat(VALUE_BYTES));
        }
        tree.pack();
        return tree.trunk.version().root().bundles().getLast();
    }

    /** A run over all keys, {@code size} times as large as the smallest. */
    private Bundle spread(int size) {
        return run(0, 1000 / size, 10 * size);
    }

    /** A node of height 1 with children at some keys. */
    private static TrunkNode index(List<Bundle> bundles, int... keys) {
        List<Pivot> pivots = new ArrayList<>();
        for (int key : keys) {
            byte[] pivot = key == 0 ? Keys.EMPTY : History.bytes(String.format("%08d", key));
            pivots.add(new Pivot(pivot, TrunkNode.emptyLeaf(pivot), 0));
        }
        return new TrunkNode(1, pivots, bundles);
    }

    private CompactionPlan plan(TrunkNode node, Urge urge) {
        return policy.plan(node, 0, Span.ALL, urge, null);
    }

    @Test
    void runsAreMergedAsABinaryCounterCarries() {
        TrunkNode carries = index(List.of(spread(4), spread(2), spread(1), spread(1)), 0, 2000, 4000, 6000);
        assertEquals(0, plan(carries, Urge.IDLE).runFrom());
        TrunkNode staysBelow = index(List.of(spread(8), spread(1), spread(1)), 0, 2000, 4000, 6000);
        assertEquals(1, plan(staysBelow, Urge.SCANNED).runFrom());
        assertEquals(3, plan(staysBelow, Urge.SCANNED).runTo());
        assertNull(plan(index(List.of(spread(8), spread(2)), 0, 2000, 4000, 6000), Urge.SCANNED));
    }

    private static TrunkNode leaf(Bundle... bundles) {
        return new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), List.of(bundles));
    }

    /**
     * A split by reference leaves places of runs empty that a part has no keys in. A merge of all runs that a leaf has left was taken for one
     * of its younger runs where the first place was empty: tombstones stayed, and operands were not applied.
     */
    @Test
    void aMergeOfAllThatIsLeftOfALeafReachesTheBottom() {
        Bundle oldest = run(0, 10, 10);
        Bundle older = run(0, 10, 10);
        for (int i = 0; i < 100; i += 10) {
            tree.delete(String.format("%08d", i));
        }
        tree.pack();
        Run deletes = tree.trunk.version().root().bundles().getLast().runs()[0];
        Run[] left = {null, older.runs()[0], deletes};
        Bundle partly = new Bundle(older.id(), older.maplet(), left, Span.ALL, false);
        CompactionPlan all = plan(leaf(partly), Urge.NEEDED);
        assertEquals(2, all.node().liveRuns(all.runFrom(), all.runTo()));
        assertTrue(all.reachesBottom());
        assertNull(tree.run(all).bundle(), "nothing is left of what was deleted");
        // What was set aside for damage is older than all that is merged.
        CompactionPlan above = policy.plan(leaf(oldest, partly), 1, Span.ALL, Urge.NEEDED, null);
        assertEquals(2, above.node().liveRuns(above.runFrom(), above.runTo()));
        assertFalse(above.reachesBottom());
    }

    @Test
    void whileThereAreWritesAFewRunsWaitAndAreMergedTogether() {
        List<Bundle> bundles = new ArrayList<>(List.of(spread(32)));
        int most = 2 + 4;
        while (bundles.size() < most) {
            bundles.add(spread(1));
            CompactionPlan plan = plan(index(bundles, 0, 2000, 4000, 6000), Urge.NEEDED);
            assertTrue(plan == null || plan.runFrom() == plan.runTo(), "no more than maplets are merged");
        }
        bundles.add(spread(1));
        CompactionPlan plan = plan(index(bundles, 0, 2000, 4000, 6000), Urge.NEEDED);
        assertEquals(1, plan.runFrom());
        assertEquals(bundles.size(), plan.runTo());
    }

    @Test
    void aNodeOfFewPivotsHasFewLevels() {
        List<Bundle> bundles = List.of(spread(64), spread(16), spread(8), spread(4), spread(1), spread(1));
        assertEquals(4, policy.tiersMax(index(bundles, 0)));
        assertEquals(5, policy.tiersMax(index(bundles, 0, 5000)));
        assertEquals(6, policy.tiersMax(index(bundles, 0, 2000, 4000)));
        CompactionPlan needed = plan(index(bundles, 0, 5000), Urge.NEEDED);
        assertEquals(4, needed.runFrom());
        assertEquals(0, plan(index(bundles, 0, 5000), Urge.SCANNED).runFrom());
        assertEquals(1, plan(index(bundles, 0, 5000, 6000), Urge.SCANNED).runFrom());
    }

    /** A level of many segments is one level: no key is in two of them. */
    @Test
    void runsThatShareNoKeyAreOneLevel() {
        List<Bundle> bundles = List.of(run(0, 1, 10), run(100, 1, 10), run(200, 1, 10), run(300, 1, 10));
        TrunkNode node = index(bundles, 0, 5000);
        assertEquals(1, policy.tiers(node, Span.ALL));
        assertNull(plan(node, Urge.NEEDED));
    }

    @Test
    void onlyTheFullestPivotIsFlushedAndOnlyAWholeBatch() {
        int batch = (int) (SHAPE.leafBytesMax() / 8 / (8 + VALUE_BYTES)) + 2;
        TrunkNode node = index(List.of(run(0, 1, batch), run(2000, 1, batch + 10), run(4000, 1, 10)), 0, 2000, 4000);
        assertEquals(BitSet.valueOf(new long[] {0b010}), policy.flushes(node, Span.ALL, Urge.NEEDED));
        TrunkNode little = index(List.of(run(0, 1, 10), run(2000, 1, 20)), 0, 2000, 4000);
        assertTrue(policy.flushes(little, Span.ALL, Urge.NEEDED).isEmpty());
    }

    /** Leaves of few hashed keys are larger, and so is what moves on to one: with a memtable's eighth they were written again for little. */
    @Test
    void aBatchIsAnEighthOfALargeLeafToo() {
        TreeShape hashed = TreeShape.ofHashed(8, MEMTABLE_BYTES);
        int entryBytes = 8 + VALUE_BYTES;
        int batch = (int) (hashed.leafBytesMax(entryBytes, false) / 8 / entryBytes);
        assertTrue(batch > 2 * MEMTABLE_BYTES / 8 / entryBytes, batch + " entries");
        CompactionPolicy ofHashed = TrunkPolicies.LEVEL_TIERED.policy(hashed);
        TrunkNode node = index(List.of(run(0, 1, batch + 2), run(2000, 1, 10)), 0, 2000);
        assertEquals(BitSet.valueOf(new long[] {0b01}), ofHashed.flushes(node, Span.ALL, Urge.NEEDED));
        TrunkNode little = index(List.of(run(0, 1, batch * 3 / 4), run(2000, 1, 10)), 0, 2000);
        assertTrue(ofHashed.flushes(little, Span.ALL, Urge.NEEDED).isEmpty());
    }

    @Test
    void everyNodeHasAsManyLevelsAsTheLogarithmOfItsPivots() {
        try (TrunkFixture grown = new TrunkFixture(SHAPE, TrunkPolicies.LEVEL_TIERED, null)) {
            SplittableRandom random = new SplittableRandom(SEED);
            int height = 0;
            for (int i = 0; i < 400; i++) {
                for (int bytes = 0; bytes < MEMTABLE_BYTES; bytes += 12 + VALUE_BYTES) {
                    grown.put(String.format("%012d", random.nextInt(1 << 20)), "v".repeat(VALUE_BYTES));
                }
                grown.pack();
                grown.settle(Urge.NEEDED);
                assertFewLevels(grown.trunk.version().root(), Span.ALL, 4, 2);
                height = Math.max(height, grown.trunk.version().root().height());
            }
            assertEquals(2, height, "the tree is to have nodes that are neither root nor leaf" + RERUN);
            grown.settle(Urge.SETTLING);
            assertFewLevels(grown.trunk.version().root(), Span.ALL, 0, 1);
            grown.releaseAll();
        }
    }

    /** Counts for every key range between two ends of runs how many runs hold it. */
    private static void assertFewLevels(TrunkNode node, Span span, int beside, int inLeaves) {
        int logarithm = (int) Math.ceil(Math.log(node.pivotCount()) / Math.log(2));
        int most = node.isLeaf() ? inLeaves : inLeaves == 1 ? 1 : logarithm + beside;
        for (int p = 0; p < node.pivotCount(); p++) {
            Span pivotSpan = node.pivotSpan(p, span);
            int runs = NodeMeasure.activeRuns(node, p, pivotSpan);
            assertTrue(
                    runs <= most,
                    () -> runs + " runs of " + most + " at height " + node.height() + RERUN + "\n" + TreeText.of(node));
            if (node.pivot(p).child() != null) {
                assertFewLevels(node.pivot(p).child(), pivotSpan, beside, inLeaves);
            }
        }
    }
}
