package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.MergeOutput;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Two leaves merged into one keep the bundles of both, each counting for its own keys only. Merges of such a leaf were given the
 * span of the first bundle, so that they could never be installed and were done again for ever; and a merge planned for one of the
 * leaves before they were merged also took the place of the other's bundles with the same ids, whose keys it had not read.
 */
class MergedNeighboursTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 1 << 20, 1 << 22, 1 << 22);
    private static final Span LEFT = new Span(null, History.bytes("m"));
    private static final Span RIGHT = new Span(History.bytes("m"), null);

    @Test
    void aMergeOfBundlesOfDifferentSpansIsInstalledAndShowsNoKeyTwice() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            Bundle older = packed(tree, "old");
            Bundle younger = packed(tree, "new");
            TrunkNode leaf = leaf(older.slice(LEFT), younger.slice(RIGHT));
            Trunk merged = trunk(tree, leaf);
            CompactionPlan plan = merged.plan(Urge.IDLE);
            assertTrue(plan != null && plan.runFrom() == 0, "the whole leaf becomes one run");
            MergeOutput output = new MergeOutput(tree.storage, merged, () -> 0);
            Compactor.Result result = new Compactor(tree.storage, merged, output, null, null)
                    .run(plan, new long[0], MergeMemory.of(plan, tree.storage), 32);
            merged.install(plan, result.bundle(), result.mergedPosition());
            assertEquals(1, merged.version().root().bundleCount());
            assertEquals(
                    new TreeMap<>(java.util.Map.of("a", "old", "k", "old", "m", "new", "z", "new")),
                    tree.scan(merged.version(), Entries.NEWEST, null, true));
            merged.close();
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount());
        }
    }

    @Test
    void aMergePlannedForOneNeighbourLeavesTheOthersBundlesAlone() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            Bundle shared = packed(tree, "value");
            CompactionPlan plan = new CompactionPlan(0, LEFT, leaf(shared), 0, 1, 0, 1);
            Compactor.Result result = tree.run(plan);
            TrunkNode merged = leaf(shared.slice(LEFT), shared.slice(RIGHT));
            TrunkNode installed = Installer.replace(merged, Span.ALL, plan, result.bundle(), result.mergedPosition());
            assertEquals(result.bundle().id(), installed.bundle(0).id());
            assertEquals(shared.id(), installed.bundle(1).id());
            Trunk after = trunk(tree, installed);
            assertEquals(
                    tree.history.at(Entries.NEWEST), tree.scan(after.version(), Entries.NEWEST, null, true));
            after.close();
            result.bundle().release();
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount());
        }
    }

    private static Bundle packed(TrunkFixture tree, String value) {
        for (String key : List.of("a", "k", "m", "z")) {
            tree.put(key, value);
        }
        tree.pack();
        return tree.trunk.version().root().bundles().getLast();
    }

    private static TrunkNode leaf(Bundle... bundles) {
        return new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), List.of(bundles));
    }

    private static Trunk trunk(TrunkFixture tree, TrunkNode root) {
        return new Trunk(root, 0, 1000, SHAPE, TrunkPolicies.SIZE_TIERED, tree.epochs, tree.storage.extents());
    }
}
