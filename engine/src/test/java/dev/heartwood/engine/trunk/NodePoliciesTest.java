package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.NodeCodec;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A policy of a node's own: changed without rewriting anything, inherited by what the node splits into, and stored with it. */
class NodePoliciesTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x6f776eL);
    private static final int MEMTABLE_BYTES = 4096;
    private static final int KEYS = 4000;
    private static final TreeShape SHAPE = TreeShape.of(4, MEMTABLE_BYTES);
    private static final Heights LEAVES = new Heights(0, 0);
    private static final int VERSION_AT = 0;
    private static final int POLICY_AT = 2;

    private static void load(TrunkFixture tree, int memtables, SplittableRandom random) {
        for (int i = 0; i < memtables; i++) {
            for (int bytes = 0; bytes < MEMTABLE_BYTES; bytes += 60) {
                tree.put(String.format("%08d", random.nextInt(KEYS)), "v".repeat(52));
            }
            tree.pack();
            tree.settle(Urge.NEEDED);
        }
    }

    private static List<TrunkNode> nodes(TrunkNode root) {
        List<TrunkNode> nodes = new ArrayList<>(List.of(root));
        for (Pivot pivot : root.pivots()) {
            if (pivot.child() != null) {
                nodes.addAll(nodes(pivot.child()));
            }
        }
        return nodes;
    }

    @Test
    void aChangeReachesTheNodesOfItsHeightsAndKeysAndSharesTheirBundles() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 60, new SplittableRandom(SEED));
            TrunkNode before = tree.trunk.version().root();
            assertTrue(before.height() >= 1 && before.pivotCount() > 2);
            long written = tree.trunk.events().bytesWritten();
            Span first = new Span(null, before.pivot(1).key());
            assertTrue(tree.trunk.changePolicy(first, LEAVES, TrunkPolicies.LEVEL_TIERED));
            TrunkNode after = tree.trunk.version().root();
            List<TrunkNode> olds = nodes(before);
            List<TrunkNode> news = nodes(after);
            for (int i = 0; i < olds.size(); i++) {
                TrunkNode node = news.get(i);
                assertEquals(olds.get(i).bundles(), node.bundles());
                boolean isMeant = node.isLeaf() && first.contains(node.pivot(0).key());
                assertSame(isMeant ? TrunkPolicies.LEVEL_TIERED : null, node.ownPolicy());
            }
            assertEquals(written, tree.trunk.events().bytesWritten());
            assertFalse(tree.trunk.changePolicy(first, LEAVES, TrunkPolicies.LEVEL_TIERED), "they are so already");
            assertTrue(tree.trunk.changePolicy(Span.ALL, Heights.ALL, null));
            nodes(tree.trunk.version().root()).forEach(node -> assertNull(node.ownPolicy()));
            assertEquals(
                    tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
            tree.releaseAll();
        }
    }

    /** Leaves under another policy than the nodes above them are merged as theirs wants it. */
    @Test
    void eachNodeIsMergedAsItsOwnPolicyWants() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 60, new SplittableRandom(SEED));
            TrunkNode root = tree.trunk.version().root();
            Span half = new Span(null, root.pivot(root.pivotCount() / 2).key());
            tree.trunk.changePolicy(half, LEAVES, TrunkPolicies.LEVEL_TIERED);
            load(tree, 60, new SplittableRandom(SEED + 1));
            int own = 0;
            int most = 0;
            for (TrunkNode leaf : nodes(tree.trunk.version().root())) {
                if (leaf.isLeaf() && leaf.ownPolicy() == TrunkPolicies.LEVEL_TIERED) {
                    own++;
                    assertTrue(leaf.runCount() <= 2, () -> TreeText.of(leaf));
                } else if (leaf.isLeaf()) {
                    most = Math.max(most, leaf.runCount());
                }
            }
            assertTrue(own > 0, "leaves under a policy of their own split into such leaves");
            assertTrue(most > 2, "the others gather runs as before");
            tree.releaseAll();
        }
    }

    @Test
    void leavesSplitIntoLeavesUnderTheirPolicy() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 20, new SplittableRandom(SEED));
            long splits = tree.trunk.events().splits();
            tree.trunk.changePolicy(Span.ALL, LEAVES, TrunkPolicies.LAZY_LEVELING);
            load(tree, 60, new SplittableRandom(SEED + 1));
            assertTrue(tree.trunk.events().splits() > splits);
            for (TrunkNode node : nodes(tree.trunk.version().root())) {
                assertSame(node.isLeaf() ? TrunkPolicies.LAZY_LEVELING : null, node.ownPolicy());
            }
            tree.releaseAll();
        }
    }

    @Test
    void nodesWithoutAPolicyGoWithTheTreeWhenItChanges() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 60, new SplittableRandom(SEED));
            assertNull(tree.trunk.plan(Urge.NEEDED));
            tree.trunk.usePolicy(TrunkPolicies.LEVEL_TIERED);
            assertSame(TrunkPolicies.LEVEL_TIERED, tree.trunk.policy());
            CompactionPlan plan = tree.trunk.plan(Urge.NEEDED);
            assertNotNull(plan, "a tree of many runs is out of shape");
            tree.trunk.abandon(plan);
            tree.settle(Urge.NEEDED);
            for (TrunkNode node : nodes(tree.trunk.version().root())) {
                assertTrue(!node.isLeaf() || node.runCount() <= 2, () -> TreeText.of(node));
            }
            assertEquals(
                    tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
            tree.releaseAll();
        }
    }

    @Test
    void thePolicyIsStoredWithTheNode() {
        for (TrunkPolicies policy : TrunkPolicies.values()) {
            TrunkNode node = TrunkNode.emptyLeaf(new byte[0]).withPolicy(policy);
            assertSame(policy, decode(NodeCodec.encode(node)).ownPolicy());
        }
        assertNull(decode(NodeCodec.encode(TrunkNode.emptyLeaf(new byte[0]))).ownPolicy());
    }

    @Test
    void anImageOfTheFirstVersionHasNoPolicyAndAnUnknownOneIsRefused() {
        byte[] image = NodeCodec.encode(TrunkNode.emptyLeaf(new byte[0]));
        byte[] first = new byte[image.length - 1];
        System.arraycopy(image, 0, first, 0, POLICY_AT);
        System.arraycopy(image, POLICY_AT + 1, first, POLICY_AT, first.length - POLICY_AT);
        first[VERSION_AT] = 1;
        assertNull(decode(first).ownPolicy());
        image[POLICY_AT] = 99;
        assertThrows(MalformedImageException.class, () -> decode(image));
    }

    private static TrunkNode decode(byte[] image) {
        return NodeCodec.decode(image, 0, new NodeCodec.Objects() {
            @Override
            public Run run(int position, long id, byte[] branchDescriptor, KeySample sample) {
                throw new AssertionError("an empty leaf has no runs");
            }

            @Override
            public Maplet maplet(long id, byte[] descriptor) {
                throw new AssertionError("an empty leaf has no maplets");
            }

            @Override
            public TrunkNode child(NodePlace place, int height) {
                throw new AssertionError("a leaf has no children");
            }

            @Override
            public NodePlace place(long[] pages, long generation) {
                throw new AssertionError("a leaf has no children");
            }
        });
    }
}
