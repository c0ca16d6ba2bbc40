package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a leaf is merged, and with what that which a flush has brought. */
class TieredPolicyTest {
    private static final int RUNS_MAX = 8;
    private static final int MANY = RUNS_MAX / 2 + 1;
    private static final TreeShape SHAPE = new TreeShape(8, RUNS_MAX / 2, 1 << 14, 1 << 30, 1 << 30);

    private final CompactionPolicy policy = new TieredPolicy(SHAPE, RUNS_MAX);
    private final TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null);
    private final List<Bundle> bundles = new ArrayList<>();

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    /** Adds runs whose keys lie among those of all others, and are those of others with the same last digits. */
    private void add(int runs, int records, boolean isSettled, int lastDigits) {
        for (int run = 0; run < runs; run++) {
            for (int i = 0; i < records; i++) {
                tree.put(String.format("%08d", 1000 * i + lastDigits + run), "v".repeat(100));
            }
            tree.pack();
            Bundle packed = tree.trunk.version().root().bundles().getLast();
            bundles.add(new Bundle(packed.id(), packed.maplet(), packed.runs(), Span.ALL, isSettled));
        }
    }

    /** Adds a run of keys that follow each other, as a flush has brought it. */
    private void addInOrder(int from, int records) {
        for (int i = from; i < from + records; i++) {
            tree.put(String.format("%08d", i), "v".repeat(100));
        }
        tree.pack();
        Bundle packed = tree.trunk.version().root().bundles().getLast();
        bundles.add(new Bundle(packed.id(), packed.maplet(), packed.runs(), Span.ALL, false));
    }

    private void flush(int records) {
        add(2, records, false, 500);
    }

    private static TrunkNode leaf(List<Bundle> bundles) {
        return new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), bundles);
    }

    private CompactionPlan plan() {
        return planOf(Span.ALL);
    }

    private CompactionPlan planOf(Span keys) {
        return policy.plan(leaf(bundles), 0, keys, Urge.NEEDED, null);
    }

    /** Has all runs named by one filter, which tells how many of their keys are the same. */
    private Bundle join() {
        int runs = bundles.size();
        Bundle joined = tree.run(new CompactionPlan(0, Span.ALL, leaf(bundles), 0, runs, runs - 1, runs - 1))
                .bundle();
        bundles.clear();
        bundles.add(joined);
        return joined;
    }

    private boolean isMerged(CompactionPolicy by, Urge urge) {
        CompactionPlan plan = by.plan(leaf(bundles), 0, Span.ALL, urge, urge.reclaims() ? RunUsage.of(leaf(bundles)) : null);
        return plan != null && plan.runFrom() < plan.runTo();
    }

    /** As writers leave them who go through keys in order together. */
    @Test
    void runsThatFollowEachOtherMayOverlapALittle() {
        for (int run = 0; run < RUNS_MAX + 2; run++) {
            addInOrder(1500 * run, 1600);
        }
        assertFalse(isMerged(policy, Urge.NEEDED));
        assertEquals(2, policy.tiers(leaf(bundles), Span.ALL));
        assertFalse(isMerged(policy, Urge.SETTLING));
        // Where filters know groups nobody can tell what of it is superseded.
        assertTrue(isMerged(new TieredPolicy(SHAPE.withGroups(), RUNS_MAX), Urge.SETTLING));
    }

    @Test
    void runsThatHaveMoreInCommonAreMerged() {
        addInOrder(0, 1600);
        addInOrder(1000, 1600);
        assertTrue(isMerged(policy, Urge.NEEDED));
    }

    /** Others that lie there too would be kept with it. */
    @Test
    void aRunThatLiesInAnotherIsMerged() {
        addInOrder(0, 8000);
        addInOrder(3000, 1600);
        assertTrue(isMerged(policy, Urge.NEEDED));
    }

    @Test
    void runsOfWhichSamplesTellLittleAreMerged() {
        addInOrder(0, 200);
        addInOrder(195, 200);
        assertTrue(isMerged(policy, Urge.NEEDED));
    }

    /** All of it was merged some flushes later, for the sake of memtables that had been in it when it split. */
    @Test
    void manyOlderOnesThatAreNoMoreAreTakenAlong() {
        add(MANY, 20, true, 1);
        flush(60);
        assertEquals(0, plan().runFrom());
        assertEquals(MANY + 2, plan().runTo());
        assertTrue(plan().reachesBottom());
    }

    @Test
    void fewAreLeft() {
        add(MANY - 1, 20, true, 1);
        flush(60);
        assertEquals(MANY - 1, plan().runFrom());
    }

    @Test
    void thoseThatAreMoreAreLeft() {
        add(MANY, 40, true, 1);
        flush(60);
        assertEquals(MANY, plan().runFrom());
    }

    /** What only one flush brought, in one run, is merged with none. */
    @Test
    void aSingleRunIsMergedWithNone() {
        add(MANY, 1, true, 1);
        add(1, 60, true, 500);
        assertEquals(MANY + 1, plan().runFrom());
    }

    /** They are merged when enough of a leaf is superseded, which is later, and then with all of it. */
    @Test
    void thoseThatSupersedeOthersAreLeft() {
        for (int run = 0; run < MANY; run++) {
            add(1, 20, true, 1);
        }
        Bundle joined = join();
        add(1, 200, true, 200);
        flush(200);
        assertEquals(MANY + 1, plan().runFrom());
        joined.release();
    }

    /** Keys of other leaves, named by the same filters, had what was superseded in a leaf seem less and less. */
    @Test
    void aLeafThatSharesRunsIsMergedWhenLessIsSuperseded() {
        add(1, 20, true, 1);
        add(1, 20, true, 1);
        Bundle joined = join();
        assertNull(plan());
        Span quarter = new Span(null, History.bytes("00005000"));
        assertEquals(0, planOf(quarter).runFrom());
        assertEquals(2, planOf(quarter).runTo());
        joined.release();
    }

    @Test
    void aLeafThatSharesRunsOfDifferentKeysIsLeft() {
        add(2, 20, true, 1);
        Bundle joined = join();
        assertNull(planOf(new Span(null, History.bytes("00005000"))));
        joined.release();
    }
}
