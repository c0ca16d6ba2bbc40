package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a merge writes waits in the cache when it is likely to be merged again before the next checkpoint. */
class MergeOutputTest {
    private static final int RUNS_MAX = 8;

    @Test
    void smallMergesAreWrittenLateAndThoseThatOutliveTheDistanceBeforeTheOthers() {
        try (TrunkFixture tree = tree(1 << 20)) {
            CompactionPlan all = plan(tree, 0);
            assertEquals(WriteMode.LASTING, mode(tree, all, all.inputBytes() - 1));
            assertEquals(WriteMode.MERGED, mode(tree, all, all.inputBytes()));
            CompactionPlan some = plan(tree, 1);
            long life = some.inputBytes() * RUNS_MAX / 2;
            assertEquals(WriteMode.LASTING, mode(tree, some, life - 1));
            assertEquals(WriteMode.MERGED, mode(tree, some, life));
        }
    }

    @Test
    void bigMergesAreWrittenAtOnceUnlessTheyDieWithinTheDistance() {
        try (TrunkFixture tree = tree(1)) {
            CompactionPlan all = plan(tree, 0);
            assertEquals(WriteMode.KEPT, mode(tree, all, all.inputBytes() - 1));
            assertEquals(WriteMode.MERGED, mode(tree, all, all.inputBytes()));
        }
    }

    /** The place of a run that a split by reference left no keys of is no older run. */
    @Test
    void aMergeOfAllThatIsLeftOfALeafLivesAsLongAsOneOfAll() {
        try (TrunkFixture tree = tree(1)) {
            List<Bundle> bundles = tree.trunk.version().root().bundles();
            Bundle partly = bundles.get(1).withRuns(new Run[] {null, bundles.get(1).runs()[0]});
            TrunkNode leaf = new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), List.of(partly, bundles.get(2)));
            CompactionPlan left = new CompactionPlan(0, Span.ALL, leaf, 0, 2, 1, 3);
            assertEquals(WriteMode.KEPT, mode(tree, left, left.inputBytes() - 1));
            assertEquals(WriteMode.MERGED, mode(tree, left, left.inputBytes()));
        }
    }

    @Test
    void aFilterLivesAsLongAsItsRun() {
        assertEquals(dev.heartwood.engine.filter.WriteMode.MERGED, MergeOutput.filterMode(WriteMode.MERGED));
        assertEquals(dev.heartwood.engine.filter.WriteMode.LASTING, MergeOutput.filterMode(WriteMode.LASTING));
        assertEquals(dev.heartwood.engine.filter.WriteMode.LASTING, MergeOutput.filterMode(WriteMode.KEPT));
    }

    /** A leaf of three runs. */
    private static TrunkFixture tree(long memtableBytes) {
        TreeShape shape = new TreeShape(8, RUNS_MAX, memtableBytes, 1 << 22, 1 << 22);
        TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null);
        for (int run = 0; run < 3; run++) {
            for (int i = 0; i < 100; i++) {
                tree.put("key" + i, "value" + run);
            }
            tree.pack();
        }
        return tree;
    }

    private static CompactionPlan plan(TrunkFixture tree, int runFrom) {
        TrunkNode leaf = tree.trunk.version().root();
        return new CompactionPlan(0, Span.ALL, leaf, 0, leaf.bundleCount(), runFrom, leaf.runCount());
    }

    private static WriteMode mode(TrunkFixture tree, CompactionPlan plan, long distanceBytes) {
        return new MergeOutput(tree.storage, tree.trunk, () -> distanceBytes).mode(plan);
    }
}
