package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.image.NodePages;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** Packs and merges with ever one extent more to spare until they pass: whatever failed has left nothing behind. */
class TrunkFullFileTest {
    private static final TreeShape SHAPE = new TreeShape(8, 3, 1 << 20, 4 << 20, 8 << 20);
    private static final int KEYS = 3000;

    private static void fill(TrunkFixture tree, Deque<Integer> taken) {
        try {
            while (true) {
                taken.push(tree.extents.allocate(Purpose.PACKING));
            }
        } catch (NoSpaceException full) {
            // What the test is after.
        }
    }

    private static void write(TrunkFixture tree, int round) {
        for (int i = 0; i < KEYS; i++) {
            switch (i % 5) {
                case 0 -> tree.merge("key" + i, "+" + round);
                case 1 -> tree.put("key" + i, round + "large".repeat(300));
                case 2 -> tree.delete("key" + i);
                default -> tree.put("key" + i, "value " + round);
            }
        }
    }

    @Test
    void aMergeThatFindsNoSpaceLeavesNothingBehind() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(false))) {
            for (int round = 0; round < 4; round++) {
                write(tree, round);
                tree.pack();
            }
            Deque<Integer> taken = new ArrayDeque<>();
            fill(tree, taken);
            int full = tree.extents.allocatedCount();
            int failures = 0;
            for (int spare = 0; ; spare++) {
                CompactionPlan plan = tree.trunk.plan(Urge.NEEDED);
                assertTrue(plan != null && plan.runFrom() < plan.runTo(), "a merge is wanted");
                try {
                    Compactor.Result result = tree.run(plan);
                    tree.trunk.install(plan, result.bundle(), result.mergedPosition());
                    break;
                } catch (NoSpaceException e) {
                    failures++;
                    tree.trunk.abandon(plan);
                    tree.epochs.reclaim();
                    assertEquals(full - spare, tree.extents.allocatedCount(), "extents after failure " + failures);
                }
                tree.extents.free(taken.pop());
            }
            assertTrue(failures >= 2, failures + " failures");
            finish(tree, taken);
        }
    }

    @Test
    void aMemtableThatFindsNoSpaceIsPackedLater() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(false))) {
            write(tree, 0);
            Deque<Integer> taken = new ArrayDeque<>();
            fill(tree, taken);
            int full = tree.extents.allocatedCount();
            int failures = 0;
            for (int spare = 0; ; spare++) {
                try {
                    tree.pack();
                    break;
                } catch (NoSpaceException e) {
                    failures++;
                    tree.epochs.reclaim();
                    assertEquals(full - spare, tree.extents.allocatedCount(), "extents after failure " + failures);
                    assertThrows(
                            NoSpaceException.class,
                            () -> tree.extents.promise(1, Promised.DELETES, 0),
                            "what it has taken is promised to it again");
                }
                tree.extents.free(taken.pop());
                tree.extents.promise(1, Promised.DELETES, 0);
            }
            assertTrue(failures > 5, failures + " failures");
            finish(tree, taken);
        }
    }

    @Test
    void aNodeImageThatFindsNoSpaceLeavesNothingBehind() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            Deque<Integer> taken = new ArrayDeque<>();
            fill(tree, taken);
            NodePages pages = new NodePages(tree.storage);
            byte[] image = new byte[100 * NodePages.PART_BYTES];
            int failures = 0;
            for (NodePlace place = null; place == null; ) {
                try {
                    place = pages.write(image, 1, tree.page);
                    place.release();
                } catch (NoSpaceException e) {
                    failures++;
                    assertTrue(pages.extentCount() <= 1, "only the extent that is being filled");
                    tree.extents.free(taken.pop());
                }
            }
            assertTrue(failures >= 3, failures + " failures");
            finish(tree, taken);
        }
    }

    private static void finish(TrunkFixture tree, Deque<Integer> taken) {
        taken.forEach(tree.extents::free);
        assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        tree.releaseAll();
        assertTrue(tree.extents.allocatedCount() <= 1, "extents left behind, but for one of node images");
    }
}
