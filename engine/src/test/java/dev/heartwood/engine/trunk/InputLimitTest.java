package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes of more runs than there is memory to read at once, as when merges fell behind. */
class InputLimitTest {
    private static final int RUNS = 90;
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
        return MergingPolicy.liveRuns(root, 0, root.runCount());
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
}
