package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
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
            Compactor.Result result = tree.compactor.run(plan, new long[0], 32);
            leaf.bundle(0).retain();
            tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            assertSame(leaf, tree.trunk.version().root());
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount());
        }
    }
}
