package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a big merge writes past a full cache is in there afterwards as far as what it read was. */
class MergePlacesTest {
    /** Of 560 leaves each; the cache holds about seven. */
    private static final int RUNS = 16;

    private static final int KEYS = 20_000;
    private static final String VALUE = "v".repeat(100);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aMergeLeavesAsMuchInTheCacheAsItFound(boolean youngest) {
        TreeShape shape = new TreeShape(8, 2 * RUNS, 1, 1 << 26, 1 << 26);
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            for (int run = 0; run < RUNS; run++) {
                for (int i = 0; i < KEYS; i++) {
                    tree.put(String.format("%08d", i), VALUE);
                }
                tree.pack();
            }
            tree.storage.file().writeBackAll();
            TrunkNode leaf = tree.trunk.version().root();
            int from = youngest ? RUNS - 3 : 0;
            CompactionPlan plan = new CompactionPlan(0, Span.ALL, leaf, 0, leaf.bundleCount(), from, from + 3);
            assertEquals(WriteMode.KEPT, new MergeOutput(tree.storage, tree.trunk, () -> 0).mode(plan));

            Compactor.Result result = tree.run(plan);
            Branch merged = result.bundle().runs()[result.mergedPosition()].branch();
            int cached = 0;
            for (int page = 0; page < merged.leafPages(); page++) {
                cached += tree.storage.file().isCached(merged.devicePage(page)) ? 1 : 0;
            }
            double share = (double) cached / merged.leafPages();
            assertTrue(youngest ? share > 0.9 : share < 0.1, () -> "share in the cache " + share);

            result.bundle().release();
            tree.releaseAll();
        }
    }
}
