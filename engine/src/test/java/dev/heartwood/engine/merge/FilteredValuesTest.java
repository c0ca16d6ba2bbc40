package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CompactionFilter;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.page.PageLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a compaction filter is shown of large values is read ahead, several pages at once; it was read a page at a time. */
class FilteredValuesTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 1 << 20, 1 << 22, 1 << 22);
    private static final int VALUES = 150;
    private static final int VALUE_BYTES = 20_000;

    @Test
    void largeValuesTakeFewReads() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            for (int i = 0; i < VALUES; i++) {
                tree.put("key%05d".formatted(i), Character.toString('a' + i % 26).repeat(VALUE_BYTES));
            }
            tree.pack();
            Bundle bundle = tree.trunk.version().root().bundles().getLast();
            forget(tree, bundle.runs()[0].branch().overflowGroups()[0]);
            int[] seen = {0};
            CompactionFilter filter = new CompactionFilter() {
                @Override
                public String name() {
                    return "keeps all";
                }

                @Override
                public Decision filter(MemorySegment key, MemorySegment value) {
                    assertEquals(VALUE_BYTES, value.byteSize());
                    assertEquals('a' + seen[0] % 26, value.get(ValueLayout.JAVA_BYTE, VALUE_BYTES - 1));
                    seen[0]++;
                    return Decision.KEEP;
                }
            };
            TrunkNode leaf = new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), List.of(bundle));
            CompactionPlan plan = new CompactionPlan(0, Span.ALL, leaf, 0, 1, 0, 1);
            long before = tree.device.reads();
            Compactor.Result result = new Compactor(
                            tree.storage, tree.trunk, new MergeOutput(tree.storage, tree.trunk, () -> 0), null, filter)
                    .run(plan, new long[0], MergeMemory.of(plan, tree.storage), PageLayout.EXTENT_PAGES);
            long reads = tree.device.reads() - before;
            assertEquals(VALUES, seen[0]);
            assertTrue(reads < VALUES / 2, reads + " reads of " + VALUES + " values");
            result.bundle().release();
            tree.releaseAll();
        }
    }

    /** Has the pages of a group be on the device only. */
    private static void forget(TrunkFixture tree, OverflowGroup group) {
        tree.storage.file().writeBackAll();
        for (int extent : group.extents()) {
            tree.storage.file().discard((long) extent << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
        }
    }
}
