package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.CompactionPolicy.Urge;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a leaf merges that comes to the most runs it may have. */
class TieredPolicyTest {
    private static final int RUNS_MAX = 8;
    private static final TreeShape SHAPE = new TreeShape(8, RUNS_MAX / 2, 1 << 14, 1 << 30, 1 << 30);

    private final CompactionPolicy policy = new TieredPolicy(SHAPE, RUNS_MAX);
    private final TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null);
    private final List<Bundle> bundles = new ArrayList<>();
    private int runs;

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    /** Adds a run whose keys lie among those of all others. */
    private void add(int records, boolean isSettled) {
        add(records, isSettled, runs + 1);
    }

    private void add(int records, boolean isSettled, int lastDigits) {
        for (int i = 0; i < records; i++) {
            tree.put(String.format("%08d", 1000 * i + lastDigits), "v".repeat(100));
        }
        tree.pack();
        Bundle packed = tree.trunk.version().root().bundles().getLast();
        bundles.add(new Bundle(packed.id(), packed.maplet(), packed.runs(), Span.ALL, isSettled));
        runs++;
    }

    private CompactionPlan plan() {
        TrunkNode leaf = new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), bundles);
        return policy.plan(leaf, 0, Span.ALL, Urge.NEEDED, null);
    }

    private void addOldAndLarge(int old) {
        for (int i = 0; i < old; i++) {
            add(4, true);
        }
        for (int i = old; i < RUNS_MAX; i++) {
            add(100, true);
        }
    }

    /** All of it was merged, for the sake of a few runs that hold next to nothing. */
    @Test
    void theOldestBecomeOneIfTheyAreSmall() {
        addOldAndLarge(6);
        add(50, false);
        add(50, false);
        CompactionPlan plan = plan();
        assertEquals(0, plan.runFrom());
        assertEquals(RUNS_MAX + 1 - RUNS_MAX / 2, plan.runTo());
        assertEquals(plan.runTo(), plan.bundleTo());
        assertTrue(plan.reachesBottom());
    }

    @Test
    void whatAFlushHasBroughtIsMergedBelowTheLimit() {
        addOldAndLarge(6);
        bundles.removeFirst();
        add(50, false);
        add(50, false);
        CompactionPlan plan = plan();
        assertEquals(RUNS_MAX - 1, plan.runFrom());
        assertEquals(RUNS_MAX + 1, plan.runTo());
    }

    @Test
    void mostBecomeOneIfNoFewAreSmall() {
        addOldAndLarge(0);
        add(100, false);
        add(100, false);
        assertEquals(RUNS_MAX + 2, plan().runTo());
        assertTrue(plan().runFrom() < RUNS_MAX / 2, plan() + "");
    }

    /** What is superseded goes only where its successors are merged with it. */
    @Test
    void mostBecomeOneIfKeysAreOverwritten() {
        for (int i = 0; i < 6; i++) {
            add(4, true, 1);
        }
        Bundle joined = tree.run(new CompactionPlan(
                        0,
                        Span.ALL,
                        new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), bundles),
                        0,
                        bundles.size(),
                        6,
                        6))
                .bundle();
        bundles.clear();
        bundles.add(joined);
        add(100, true);
        add(100, true);
        add(50, false);
        add(50, false);
        CompactionPlan plan = plan();
        assertEquals(RUNS_MAX + 2, plan.runTo());
        joined.release();
    }
}
