package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchVerifier;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.trunk.TreeCursor;
import dev.heartwood.engine.trunk.TrunkImages;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Large values that merges have left where memtables put them are brought together when somebody waits for it, or scans pay. */
class ScatteredValuesTest {
    private static final TreeShape SHAPE = new TreeShape(8, 3, 64 << 10, 256 << 10, 512 << 10);
    private static final int MEMTABLES = 24;
    private static final int RECORDS = 40;
    private static final int SCANS = 20;

    /** Packs memtables of evenly spread keys, each of which reaches every leaf, and does the merges that are needed. */
    private static void load(TrunkFixture tree, int valueBytes) {
        for (int m = 0; m < MEMTABLES; m++) {
            for (int i = 0; i < RECORDS; i++) {
                int number = i * MEMTABLES + m;
                tree.put("key%06d".formatted(number), ("v" + number + ".").repeat(valueBytes / 3).substring(0, valueBytes));
            }
            tree.pack();
            tree.settle(Urge.NEEDED);
        }
    }

    private static List<TrunkNode> nodes(TrunkNode node) {
        List<TrunkNode> nodes = new ArrayList<>(List.of(node));
        for (int p = 0; !node.isLeaf() && p < node.pivotCount(); p++) {
            nodes.addAll(nodes(node.pivot(p).child()));
        }
        return nodes;
    }

    private static List<TrunkNode> scattered(TrunkFixture tree) {
        return nodes(tree.trunk.version().root()).stream().filter(ScatteredValues::in).toList();
    }

    private static void verify(TrunkFixture tree) {
        TrunkVersion version = tree.trunk.version();
        assertEquals(tree.history.at(Long.MAX_VALUE), tree.scan(version, Long.MAX_VALUE, null, true), "contents");
        for (Run run : runs(tree)) {
            assertEquals(List.of(), BranchVerifier.verify(run.branch()).problems());
        }
    }

    private static List<Run> runs(TrunkFixture tree) {
        return nodes(tree.trunk.version().root()).stream()
                .flatMap(node -> node.bundles().stream())
                .flatMap(bundle -> Stream.of(bundle.runs()))
                .filter(Objects::nonNull)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(TrunkPolicies.class)
    void settlingBringsThemTogetherOnce(TrunkPolicies policy) {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, policy, null)) {
            load(tree, 1500);
            assertFalse(scattered(tree).isEmpty(), "nothing to bring together");
            tree.settle(Urge.SETTLING);
            assertTrue(scattered(tree).isEmpty(), "values are still scattered");
            verify(tree);
            long written = tree.trunk.events().bytesWritten();
            tree.settle(Urge.SETTLING);
            assertEquals(written, tree.trunk.events().bytesWritten(), "merged again");
            tree.releaseAll();
        }
    }

    @Test
    void scansPayForIt() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 1500);
            tree.settle(Urge.SCANNED);
            List<TrunkNode> scattered = scattered(tree).stream().filter(TrunkNode::isLeaf).toList();
            int others = scattered(tree).size() - scattered.size();
            assertFalse(scattered.isEmpty(), "brought together though nobody scanned");
            TrunkNode paying = scattered.getFirst();
            int reads = (int) (NodeMeasure.bytes(paying, Span.ALL) / (16 << 10)) + 1;
            for (int i = 0; i < SCANS; i++) {
                paying.countScan();
            }
            paying.countLargeReads(reads / 2);
            assertNull(tree.trunk.plan(Urge.SCANNED), "not paid for yet");
            paying.countLargeReads(reads);
            assertNull(tree.trunk.plan(Urge.NEEDED), "nobody may wait for it");
            CompactionPlan plan = tree.trunk.plan(Urge.SCANNED);
            assertTrue(plan.gathers() && plan.node() == paying);
            tree.trunk.abandon(plan);
            tree.settle(Urge.SCANNED);
            assertEquals(others + scattered.size() - 1, scattered(tree).size());
            verify(tree);
            tree.releaseAll();
        }
    }

    @Test
    void aWalkNotesItsReadsWithEveryLeafThatItPasses() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 1500);
            tree.storage.file().writeBackAll();
            NodePlace root = tree.images.write(tree.trunk.version(), 1, tree.page);
            TrunkImages.Found found = new TrunkImages.Found(root.pages(), root.generation(), 1, tree.trunk.nextId());
            // With nothing in its cache.
            try (TrunkFixture again = new TrunkFixture(tree.device, found, SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                try (TreeCursor cursor = again.cursor(again.trunk.version())) {
                    for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
                        cursor.readAheadLarge();
                    }
                }
                List<TrunkNode> leaves =
                        nodes(again.trunk.version().root()).stream().filter(TrunkNode::isLeaf).toList();
                assertTrue(leaves.size() > 1, "one leaf");
                for (TrunkNode leaf : leaves) {
                    assertTrue(leaf.largeReads() > 0, "no reads noted with one of " + leaves.size() + " leaves");
                }
                again.releaseAll();
            }
            tree.storage.close();
            tree.releaseAll();
        }
    }

    @Test
    void whatMergesNeedAnywayLeavesThemWhereTheyAre() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, 1500);
            Set<Long> groups = new HashSet<>();
            for (Run run : runs(tree)) {
                List.of(run.branch().overflowGroups()).forEach(group -> groups.add(group.id()));
            }
            assertTrue(tree.trunk.events().compactions() > 0, "nothing was merged");
            assertTrue(groups.size() <= MEMTABLES, groups.size() + " groups of " + MEMTABLES + " memtables");
            tree.releaseAll();
        }
    }

    @Test
    void valuesThatTakeAReadOfTheirOwnAnywayStay() {
        TreeShape shape = new TreeShape(8, 3, 1 << 20, 4 << 20, 8 << 20);
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            for (int m = 0; m < 8; m++) {
                for (int i = 0; i < 4; i++) {
                    tree.put("key%06d".formatted(i * 8 + m), "v".repeat(100_000));
                }
                tree.pack();
            }
            assertTrue(scattered(tree).isEmpty());
            tree.releaseAll();
        }
    }
}
