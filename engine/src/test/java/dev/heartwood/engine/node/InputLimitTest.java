package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactions;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.trunk.TreeSummary;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes of more runs than there is memory to read at once, as when merges fell behind. */
class InputLimitTest {
    private static final int RUNS = 90;
    private static final int BUNDLE_RUNS = 60;
    private static final int RUN_KEYS = 500;
    private static final long MERGE_BYTES = 2 << 20;

    private final TrunkFixture tree = new TrunkFixture(
            new TreeShape(8, RUNS, 1 << 16, 1 << 26, 1 << 26), TrunkPolicies.SIZE_TIERED, MERGE_BYTES);
    private final Compactions compactions = new Compactions(
            tree.storage, tree.trunk, new MergeAdmission(tree.mergePool), () -> 0, tree::liveSnapshots, null, null);

    @AfterEach
    void close() {
        tree.storage.close();
        tree.releaseAll();
        tree.close();
    }

    private void pack(int run) {
        for (int i = 0; i < RUN_KEYS; i++) {
            tree.put("key" + (i * RUNS + run), "value of " + run);
        }
        tree.pack();
    }

    private int runs() {
        TrunkNode root = tree.trunk.version().root();
        return root.liveRuns(0, root.runCount());
    }

    @Test
    void theyAreMergedAFewAtATime() {
        for (int run = 0; run < RUNS; run++) {
            pack(run);
        }
        assertEquals(RUNS, runs());
        compactions.wantSettled();
        int steps = 0;
        while (compactions.runOne()) {
            steps++;
        }
        assertEquals(1, runs());
        assertTrue(steps > 2, steps + " merges");
        assertFalse(compactions.isNeeded());
        assertEquals(
                tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        // Packed once and merged twice: those of the fewest bytes first.
        double amplification = tree.writeAmplification(TreeSummary.of(tree.trunk).dataBytes());
        assertTrue(amplification < 3.1, () -> amplification + " bytes written for each one");
    }

    /** As a flush of many runs that came as one bundle leaves one: what is not merged yet is still owed. */
    @Test
    void someRunsOfABundleAreMergedAndTheOthersOwed() {
        for (int run = 0; run < BUNDLE_RUNS; run++) {
            pack(run);
        }
        TrunkNode root = tree.trunk.version().root();
        CompactionPlan bundled = new CompactionPlan(0, Span.ALL, root, 0, BUNDLE_RUNS, 0, 0);
        Bundle all = tree.run(bundled).bundle();
        Bundle unsettled = new Bundle(all.id(), all.maplet(), all.runs(), all.span(), false);
        TrunkNode node = root.with(root.pivots(), List.of(unsettled));
        int runsMax = tree.shape.mergedRunsMax();
        Bundle merged = merge(node);
        assertEquals(BUNDLE_RUNS - runsMax + 1, merged.runs().length);
        assertFalse(merged.settled());
        while (merged.runs().length > 1) {
            assertFalse(merged.settled());
            Bundle next = merge(root.with(root.pivots(), List.of(merged)));
            merged.release();
            merged = next;
        }
        assertTrue(merged.settled());
        assertEquals(BUNDLE_RUNS * RUN_KEYS, merged.runs()[0].branch().entries());
        merged.release();
        all.release();
    }

    /** As much of a merge of all runs as there is memory for. */
    private Bundle merge(TrunkNode node) {
        CompactionPlan all = new CompactionPlan(0, Span.ALL, node, 0, 1, 0, node.runCount());
        CompactionPlan part = InputLimit.within(all, tree.shape);
        MergeMemory memory = MergeMemory.of(part, tree.storage);
        return tree.compactor
                .run(part, tree.liveSnapshots(), memory, MergeMemory.CHUNK_PAGES_MIN)
                .bundle();
    }
}
