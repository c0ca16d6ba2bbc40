package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A filter has so many entries at most: what would come to more once stopped the store. */
class FilterLimitTest {
    private static final int MEMTABLES = 60;
    private static final int KEYS_OF_MEMTABLE = 50;
    private static final int KEYS = 3000;
    private static final int ENTRIES_MAX = 170;

    private final SplittableRandom random = new SplittableRandom(5);
    private TrunkFixture tree;

    private void open(TreeShape shape, TrunkPolicies policy) {
        tree = new TrunkFixture(shape.withFiltersOf(ENTRIES_MAX), policy, new History.Append(true));
    }

    @AfterEach
    void close() {
        tree.snapshots.clear();
        tree.storage.close();
        tree.releaseAll();
        tree.close();
    }

    private void write(int keys) {
        for (int i = 0; i < KEYS_OF_MEMTABLE; i++) {
            tree.put("key" + random.nextInt(keys), "value " + i);
        }
        tree.pack();
    }

    private void check() {
        assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        check(tree.trunk.version().root());
    }

    private static void check(TrunkNode node) {
        for (Bundle bundle : node.bundles()) {
            assertTrue(bundle.maplet().entries() <= ENTRIES_MAX, () -> TreeText.of(node));
            assertTrue(bundle.settled(), () -> TreeText.of(node));
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            if (node.pivot(p).child() != null) {
                check(node.pivot(p).child());
            }
        }
    }

    /** Merges go as far as they may, and then there is nothing to merge, nor anything owed. */
    @ParameterizedTest
    @EnumSource(TrunkPolicies.class)
    void whatIsTooMuchForAFilterStaysApart(TrunkPolicies policy) {
        open(new TreeShape(8, 4, 1024, 2048, 4096), policy);
        for (int i = 0; i < MEMTABLES; i++) {
            write(KEYS);
            tree.settle(Urge.NEEDED);
            check();
        }
        assertEquals(0, tree.trunk.debtBytes());
        tree.settle(Urge.SETTLING);
        check();
    }

    /** In a tree of one leaf, which holds more than a filter may have. */
    @ParameterizedTest
    @EnumSource(TrunkPolicies.class)
    void aLeafThatIsTooLargeForAFilterKeepsSeveral(TrunkPolicies policy) {
        open(new TreeShape(8, 4, 1024, 1 << 20, 1 << 20), policy);
        for (int i = 0; i < MEMTABLES / 2; i++) {
            write(KEYS);
            tree.settle(Urge.NEEDED);
            check();
        }
        TrunkNode root = tree.trunk.version().root();
        assertTrue(root.isLeaf() && root.bundleCount() > 1);
        // Its runs are more than the policy allows, which no verification is to report; nor is all of it merged for the sake of space.
        assertTrue(new NodePolicies(tree.shape, policy).of(root).tiers(root, Span.ALL) > 1);
        TreeWalk.Node view = new TreeWalk.Node(0, 1, 0, 0, null, Span.ALL, List.of(), List.of(), 0, root);
        assertNull(new PolicyRules(tree.shape, policy).breach(view));
        for (RedundancyEstimate.Node node : RedundancyEstimateTest.estimate(tree, 0).nodes()) {
            assertNull(tree.trunk.planWhole(node, false));
        }
        tree.settle(Urge.SETTLING);
        check();
    }

    /** Snapshots keep so many versions of few keys that their fingerprints are more than a filter may have, though the keys are not. */
    @Test
    void versionsOfFewKeysAreMerged() {
        open(new TreeShape(8, 4, 1024, 1 << 20, 1 << 20), TrunkPolicies.LAZY_LEVELING);
        for (int i = 0; i < MEMTABLES / 2; i++) {
            write(20);
            tree.snapshots.add(tree.history.lastSequence());
            tree.settle(Urge.NEEDED);
        }
        check();
        assertTrue(tree.trunk.version().root().runCount() <= 2);
    }

    /** What was packed last, alone in a bundle of the tree's. */
    private Bundle packed(String prefix, int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put(prefix + i, "value");
        }
        tree.pack();
        return tree.trunk.version().root().bundles().getLast();
    }

    private static TrunkNode scannedLeaf(byte[] from, Bundle bundle, int looksAbove) {
        TrunkNode leaf = new TrunkNode(0, List.of(new Pivot(from, null, 0)), List.of(bundle));
        leaf.countLooksAbove(looksAbove);
        return leaf;
    }

    /** A leaf that is worth a merge most, with what the root holds for it more than a filter may have, was looked at for ever, and no other. */
    @Test
    void aLeafThatIsTooMuchWithWhatIsAboveKeepsNoOtherOneFromItsMerge() {
        open(new TreeShape(8, 4, 1 << 20, 1 << 22, 1 << 22), TrunkPolicies.SIZE_TIERED);
        byte[] bound = History.bytes("m");
        TrunkNode left = scannedLeaf(Keys.EMPTY, packed("a", 80), 10_000);
        TrunkNode right = scannedLeaf(bound, packed("z", 80), 1_000);
        List<Bundle> above = List.of(packed("b", 40), packed("c", 40), packed("d", 40), packed("y", 40));
        TrunkNode root = new TrunkNode(1, List.of(new Pivot(Keys.EMPTY, left, 0), new Pivot(bound, right, 0)), above);
        Trunk trunk = new Trunk(root, 0, 1000, tree.shape, TrunkPolicies.SIZE_TIERED, tree.epochs, tree.extents);
        CompactionPlan scanned = trunk.planScanned();
        assertEquals(new Span(bound, null), scanned.span());
        trunk.abandon(scanned);
        CompactionPlan resting = trunk.planResting(Span.ALL);
        assertEquals(new Span(bound, null), resting.span());
        trunk.abandon(resting);
        trunk.close();
    }
}
