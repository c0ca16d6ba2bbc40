package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class InstallerTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 1 << 20, 1 << 22, 1 << 22);

    /** A merge planned in the root of a tree that shrank to a leaf meanwhile looked for the root's children in the leaf. */
    @Test
    void aMergePlannedForARootThatIsGoneIsDropped() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            tree.put("key", "value");
            tree.pack();
            TrunkNode leaf = tree.trunk.version().root();
            TrunkNode index = new TrunkNode(1, List.of(new Pivot(Keys.EMPTY, leaf, 0)), leaf.bundles());
            CompactionPlan plan = new CompactionPlan(1, Span.ALL, index, 0, 1, 0, 1);
            Compactor.Result result = tree.run(plan);
            leaf.bundle(0).retain();
            tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            assertSame(leaf, tree.trunk.version().root());
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount());
        }
    }

    /**
     * A flush gave two leaves the same bundle, each for its own keys, and then the leaves were joined. A merge of what the one brought
     * took the place of what the other did, too, whose keys it had not read: they were lost.
     */
    @Test
    void aMergeOfOneOfTwoBundlesWithTheSameIdLeavesTheOther() {
        for (int merged = 0; merged < 2; merged++) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                tree.put("a", "in the left leaf");
                tree.put("z", "in the right leaf");
                tree.pack();
                Bundle flushed = tree.trunk.version().root().bundle(0);
                byte[] bound = "m".getBytes(StandardCharsets.US_ASCII);
                Bundle left = flushed.slice(new Span(null, bound));
                Bundle right = flushed.slice(new Span(bound, null));
                TrunkNode joined = new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), List.of(left, right));
                CompactionPlan plan = new CompactionPlan(0, Span.ALL, joined, merged, merged + 1, merged, merged + 1);
                Compactor.Result result = tree.run(plan);
                TrunkNode installed = Installer.replace(joined, Span.ALL, plan, result.bundle(), result.mergedPosition());
                assertEquals(2, installed.bundleCount());
                assertSame(joined.bundle(1 - merged).runs()[0], installed.bundle(1 - merged).runs()[0]);
                assertEquals(joined.bundle(1 - merged).span(), installed.bundle(1 - merged).span());
                assertSame(result.bundle().runs()[0], installed.bundle(merged).runs()[0]);
                assertEquals(joined.bundle(merged).span(), installed.bundle(merged).span());
                result.bundle().release();
                tree.releaseAll();
                assertEquals(0, tree.extents.allocatedCount());
            }
        }
    }
}
