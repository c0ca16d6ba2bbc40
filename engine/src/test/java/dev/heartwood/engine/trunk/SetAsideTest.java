package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What merges owe, and what is merged, when input was set aside for damage. */
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

    /** What a merge of a leaf brought from above to it, as it does to nodes on the way, may lie behind what a flush has brought. */
    @Test
    void whatIsOwedIsMergedAlsoBehindWhatIsNot() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            CompactionPlan owed = owing(tree);
            TrunkNode node = owed.node();
            Bundle youngest = node.bundle(node.bundleCount() - 1);
            assertFalse(youngest.settled());
            TrunkNode behind = node.with(node.pivots(), List.of(youngest, youngest.asSettled()));
            CompactionPlan plan = new NodePolicies(SHAPE, TrunkPolicies.SIZE_TIERED)
                    .of(behind)
                    .plan(behind, 0, owed.span(), Urge.NEEDED, null);
            assertTrue(plan != null && plan.bundles().contains(youngest), "planned: " + plan);
            tree.trunk.abandon(owed);
        }
    }

    /** Leaves that were one share their bundles, as those to which one flush went. */
    @Test
    void whatIsSetAsideForOneLeafIsMergedForTheOthers() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            CompactionPlan plan = owing(tree);
            while (sharing(tree, plan).isEmpty()) {
                Compactor.Result result = tree.run(plan);
                tree.trunk.install(plan, result.bundle(), result.mergedPosition());
                plan = owing(tree);
            }
            List<Span> others = sharing(tree, plan);
            tree.trunk.setAside(plan);
            List<Span> merged = new ArrayList<>();
            for (CompactionPlan next = tree.trunk.plan(Urge.NEEDED); next != null; next = tree.trunk.plan(Urge.NEEDED)) {
                if (next.height() == plan.height() && !Collections.disjoint(ids(next.bundles()), ids(plan.bundles()))) {
                    merged.add(next.span());
                }
                Compactor.Result result = tree.run(next);
                tree.trunk.install(next, result.bundle(), result.mergedPosition());
            }
            assertTrue(merged.containsAll(others), merged + " instead of " + others);
            assertFalse(merged.contains(plan.span()));
        }
    }

    /** The keys of nodes beside that of a plan for which something is owed of the same bundles. */
    private static List<Span> sharing(TrunkFixture tree, CompactionPlan plan) {
        List<Span> found = new ArrayList<>();
        findSharing(tree.trunk.version().root(), Span.ALL, plan, found);
        return found;
    }

    private static void findSharing(TrunkNode node, Span span, CompactionPlan plan, List<Span> found) {
        boolean owes = node.bundles().stream()
                .anyMatch(bundle -> !bundle.settled() && ids(plan.bundles()).contains(bundle.id()));
        if (node.height() == plan.height() && owes && !span.equals(plan.span())) {
            found.add(span);
        }
        for (int p = 0; p < node.pivotCount() && !node.isLeaf(); p++) {
            findSharing(node.pivot(p).child(), node.pivotSpan(p, span), plan, found);
        }
    }

    private static Set<Long> ids(List<Bundle> bundles) {
        return bundles.stream().map(Bundle::id).collect(Collectors.toSet());
    }
}
