package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RunningMergesTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 4 * 4096, 4 * 4096);

    private record Running(CompactionPlan plan, Compactor.Result result) {}

    /** A flush hands one bundle to several leaves: only one of them was merged at a time. */
    @Test
    void leavesThatShareABundleAreMergedBesideEachOther() {
        SplittableRandom random = new SplittableRandom(1);
        int mostShared = 0;
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            for (int memtable = 0; memtable < 200; memtable++) {
                for (int i = 0; i < 40; i++) {
                    tree.put(String.format("%05d", random.nextInt(20_000)), memtable + "v".repeat(80));
                }
                tree.pack();
                List<Running> running = startAll(tree);
                mostShared = Math.max(mostShared, sharing(running));
                // What was planned last may be done first.
                for (Running merge : running.reversed()) {
                    tree.trunk.install(merge.plan, merge.result.bundle(), merge.result.mergedPosition());
                }
            }
            assertTrue(mostShared >= 3, mostShared + " leaves with one bundle were merged at once");
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount());
        }
    }

    private static List<Running> startAll(TrunkFixture tree) {
        List<Running> running = new ArrayList<>();
        for (CompactionPlan plan = tree.trunk.plan(Urge.NEEDED); plan != null; plan = tree.trunk.plan(Urge.NEEDED)) {
            for (Running other : running) {
                assertTrue(
                        other.plan.height() != plan.height() || other.plan.span().intersect(plan.span()).isEmpty(),
                        "a node is not merged twice at once");
            }
            running.add(new Running(plan, tree.run(plan)));
        }
        return running;
    }

    /** The most leaves whose merges read one bundle. */
    private static int sharing(List<Running> running) {
        return (int) running.stream()
                .flatMap(merge -> merge.plan.bundles().stream())
                .mapToLong(bundle -> running.stream()
                        .filter(other -> other.plan.height() == 0
                                && other.plan.bundles().stream().anyMatch(b -> b.id() == bundle.id()))
                        .count())
                .max()
                .orElse(0);
    }
}
