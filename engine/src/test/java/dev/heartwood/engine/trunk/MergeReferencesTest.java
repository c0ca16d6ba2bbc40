package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.filter.MapletStorage;
import dev.heartwood.engine.filter.WriteMode;
import dev.heartwood.engine.merge.Compactions;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A merge gave the references to its input back, where the last one found no room on the Java heap to have what it freed wait for readers;
 * then it was taken for a merge that had failed, which gave them back once more. What a neighbour shared since a split by reference was
 * free, though the tree still had it.
 */
class MergeReferencesTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 1 << 20, 1 << 22, 1 << 22);
    private static final Span LEFT = new Span(null, History.bytes("m"));

    private static Bundle packed(TrunkFixture tree, String... keys) {
        for (String key : keys) {
            tree.put(key, "value");
        }
        tree.pack();
        return tree.trunk.version().root().bundles().getLast();
    }

    /** The bundle over a maplet whose last reference cannot be given back; the caller owns a reference to everything in it. */
    private static Bundle refusing(TrunkFixture tree, Bundle bundle) {
        MapletStorage storage = new MapletStorage(
                tree.storage.file(), tree.extents, tree.pool, TrunkFixture.STORE_ID, freed -> () -> {
                    throw new OutOfMemoryError("nothing can wait for readers");
                });
        Maplet maplet = new MapletBuilder(storage, tree.trunk.newId(), WriteMode.CACHED)
                .add(bundle.maplet(), new int[] {0})
                .build();
        bundle.runs()[0].branch().retain();
        return new Bundle(tree.trunk.newId(), maplet, bundle.runs(), Span.ALL, true);
    }

    private static TrunkNode leaf(byte[] key, Bundle... bundles) {
        return new TrunkNode(0, List.of(new Pivot(key, null, 0)), List.of(bundles));
    }

    private static Trunk trunk(TrunkFixture tree, TrunkNode root) {
        return new Trunk(root, 0, 1000, SHAPE, TrunkPolicies.SIZE_TIERED, tree.epochs, tree.extents);
    }

    private static boolean isAllocated(TrunkFixture tree, Branch branch) {
        for (int extent : branch.extents()) {
            if (!tree.extents.isAllocated(extent)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void whatANeighbourSharesStaysWhereAMergeCannotGiveItsInputBack() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            Bundle shared = packed(tree, "a", "z");
            Bundle refusing = refusing(tree, packed(tree, "b"));
            byte[] bound = LEFT.to();
            List<Pivot> pivots = List.of(
                    new Pivot(Keys.EMPTY, leaf(Keys.EMPTY, shared, refusing), 0), new Pivot(bound, leaf(bound, shared), 0));
            Trunk trunk = trunk(tree, new TrunkNode(1, pivots, List.of()));
            refusing.release();
            tree.releaseAll();
            Compactions compactions = new Compactions(
                    tree.storage,
                    trunk,
                    new MergeAdmission(tree.pool),
                    // Asked in the midst of a merge: all that is left of the leaf is what the merge holds.
                    () -> {
                        assertTrue(trunk.discard(LEFT));
                        tree.epochs.reclaim();
                        return 0;
                    },
                    () -> new long[0],
                    null,
                    null);
            compactions.rest(Span.ALL);
            assertThrows(OutOfMemoryError.class, compactions::runOne);
            tree.epochs.reclaim();
            Branch branch = shared.runs()[0].branch();
            assertTrue(isAllocated(tree, branch), "the tree has it");
            trunk.close();
            tree.epochs.reclaim();
            assertFalse(isAllocated(tree, branch));
        }
    }

    /** What a merge made goes with it, also where its input cannot be given back. */
    @Test
    void aResultIsGivenBackWhereItsInputCannotBe() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            Bundle refusing = refusing(tree, packed(tree, "a"));
            CompactionPlan plan = new CompactionPlan(0, Span.ALL, leaf(Keys.EMPTY, refusing), 0, 1, 0, 1);
            Compactor.Result result = tree.run(plan);
            Branch made = result.bundle().runs()[0].branch();
            assertThrows(
                    OutOfMemoryError.class, () -> tree.trunk.install(plan, result.bundle(), result.mergedPosition()));
            tree.epochs.reclaim();
            assertFalse(isAllocated(tree, made));
            refusing.runs()[0].branch().release();
            tree.releaseAll();
            assertEquals(1, tree.extents.allocatedCount(), "the maplet that could not be given back");
        }
    }
}
