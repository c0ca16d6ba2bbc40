package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TreePathTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);

    /** From the empty key over every bound between leaves, and what lies just before and behind, to past the last. */
    @Test
    void leadsToTheLeafOfAKeyOrOfTheKeysBeforeIt() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.LAZY_LEVELING, null)) {
            for (int i = 0; i < 4000; i++) {
                tree.put(Integer.toString(i * 7919 % 4000), "v".repeat(i % 100));
                if (i % 50 == 49) {
                    tree.pack();
                    tree.compactOne(Urge.NEEDED);
                }
            }
            tree.settle(Urge.NEEDED);
            TrunkNode root = tree.trunk.version().root();
            List<byte[]> bounds = new ArrayList<>();
            addBounds(root, bounds);
            assertTrue(root.height() > 1 && bounds.size() > 20, bounds.size() + " bounds");
            for (byte[] bound : bounds) {
                byte[] behind = Arrays.copyOf(bound, bound.length + 1);
                check(root, bound);
                check(root, behind);
                if (bound.length > 0) {
                    check(root, Arrays.copyOf(bound, bound.length - 1));
                }
            }
            assertNull(TreePath.to(root, null, true).leafSpan().to());
            assertNull(TreePath.to(root, null, false).leafSpan().to());
            tree.releaseAll();
        }
    }

    private static void addBounds(TrunkNode node, List<byte[]> bounds) {
        for (int i = 0; i < node.pivotCount(); i++) {
            bounds.add(node.pivot(i).key());
            if (!node.isLeaf()) {
                addBounds(node.pivot(i).child(), bounds);
            }
        }
    }

    private static void check(TrunkNode root, byte[] key) {
        Span at = TreePath.to(root, key, false).leafSpan();
        assertTrue(isAtMost(at.from(), key) && (at.to() == null || Keys.compare(key, at.to()) < 0), () -> at + " for " + History.string(key));
        Span before = TreePath.to(root, key, true).leafSpan();
        boolean isFirst = before.from() == null;
        assertTrue(
                (isFirst || Keys.compare(before.from(), key) < 0) && (before.to() == null || Keys.compare(key, before.to()) <= 0),
                () -> before + " before " + History.string(key));
    }

    private static boolean isAtMost(byte[] from, byte[] key) {
        return from == null || Keys.compare(from, key) <= 0;
    }
}
