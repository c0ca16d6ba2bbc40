package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.trunk.CompactionPolicy.Urge;
import org.junit.jupiter.api.Test;

/** What merges owe when their input was set aside for damage. */
class SetAsideTest {
    private static final TreeShape SHAPE = new TreeShape(8, 3, 1 << 20, 4 << 20, 8 << 20);
    private static final int KEYS = 3000;

    private static void pack(TrunkFixture tree, int round) {
        for (int i = 0; i < KEYS; i++) {
            tree.put("key" + (i * 7919 + round) % (10 * KEYS), "value".repeat(60));
        }
        tree.pack();
    }

    /** Packs and merges until a merge is wanted of what a flush brought. */
    private static CompactionPlan owing(TrunkFixture tree) {
        for (int round = 0; round < 200; round++) {
            pack(tree, round);
            CompactionPlan plan = tree.trunk.plan(Urge.NEEDED);
            while (plan != null) {
                if (!plan.bundles().stream().allMatch(Bundle::settled)) {
                    return plan;
                }
                Compactor.Result result = tree.run(plan);
                tree.trunk.install(plan, result.bundle(), result.mergedPosition());
                plan = tree.trunk.plan(Urge.NEEDED);
            }
        }
        throw new AssertionError("nothing was flushed");
    }

    @Test
    void whatIsSetAsideIsOwedNoLonger() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            CompactionPlan plan = owing(tree);
            long owed = tree.trunk.debtBytes();
            tree.trunk.abandon(plan);
            assertEquals(owed, tree.trunk.debtBytes());
            for (CompactionPlan next = tree.trunk.plan(Urge.NEEDED); next != null; next = tree.trunk.plan(Urge.NEEDED)) {
                long before = tree.trunk.debtBytes();
                boolean isOwed = !next.bundles().stream().allMatch(Bundle::settled);
                tree.trunk.setAside(next);
                assertEquals(isOwed, tree.trunk.debtBytes() < before, before + " bytes owed before");
            }
            assertTrue(owed > 0 && tree.trunk.debtBytes() < owed, owed + " bytes owed at first");
            // What is younger is owed as ever.
            long least = tree.trunk.debtBytes();
            tree.trunk.abandon(owing(tree));
            assertTrue(tree.trunk.debtBytes() > least);
        }
    }
}
