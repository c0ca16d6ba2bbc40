package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What loads cost in merged bytes and in maplets asked, from the trunk's own counters. */
class TrunkCostTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x636f7374L);
    private static final String RERUN = "; rerun: -Dtest=TrunkCostTest -Dheartwood.seed=" + SEED;
    private static final int MEMTABLE_BYTES = 1 << 14;
    private static final int MEMTABLES = 150;
    private static final int VALUE_BYTES = 100;
    private static final TreeShape SHAPE = TreeShape.of(8, MEMTABLE_BYTES);

    private interface Keys {
        String next();
    }

    private static long load(TrunkFixture tree, int memtables, int valueBytes, Keys keys) {
        long packed = 0;
        for (int i = 0; i < memtables; i++) {
            for (int bytes = 0; bytes < MEMTABLE_BYTES; ) {
                String key = keys.next();
                tree.put(key, "v".repeat(valueBytes));
                bytes += key.length() + valueBytes;
                packed += key.length() + valueBytes;
            }
            tree.pack();
            tree.settle(Urge.NEEDED);
        }
        return packed;
    }

    @Test
    void aSequentialLoadIsHardlyEverMerged() {
        for (TrunkPolicies policies : TrunkPolicies.values()) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, policies, null)) {
                int[] next = {0};
                long packed = load(tree, MEMTABLES, VALUE_BYTES, () -> String.format("%012d", next[0]++));
                double amplification = tree.writeAmplification(packed);
                assertTrue(amplification < 1.1, () -> policies + ": write amplification " + amplification);
                int found = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true).size();
                assertEquals(tree.history.keys().size(), found);
                tree.releaseAll();
            }
        }
    }

    @Test
    void aRandomLoadIsMergedAFewTimes() {
        for (TrunkPolicies policies : TrunkPolicies.values()) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, policies, null)) {
                SplittableRandom random = new SplittableRandom(SEED);
                long packed = load(tree, MEMTABLES, VALUE_BYTES, () -> String.format("%012d", random.nextInt(1 << 20)));
                double amplification = tree.writeAmplification(packed);
                double most = policies == TrunkPolicies.SIZE_TIERED ? 4 : 6;
                assertTrue(amplification < most, () -> policies + ": write amplification " + amplification + RERUN);
                tree.releaseAll();
            }
        }
    }

    /** Every run of a leaf held most keys of the leaf once more: up to twenty versions of a key that one was enough of. */
    @Test
    void whatIsOverwrittenForEverTakesAFewTimesItsSpace() {
        int keys = 6000;
        for (TrunkPolicies policies : TrunkPolicies.values()) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, policies, null)) {
                SplittableRandom random = new SplittableRandom(SEED);
                Keys overwritten = () -> String.format("%012d", random.nextInt(keys));
                long packed = load(tree, MEMTABLES, VALUE_BYTES, overwritten);
                double most = 0;
                for (int i = 0; i < MEMTABLES; i++) {
                    packed += load(tree, 1, VALUE_BYTES, overwritten);
                    TreeSummary summary = TreeSummary.of(tree.trunk);
                    most = Math.max(most, (double) summary.entries() / keys);
                }
                String found = policies + ": up to " + most + " entries for each key, write amplification "
                        + tree.writeAmplification(packed) + RERUN;
                assertTrue(most < 3, found);
                assertTrue(tree.writeAmplification(packed) < 8, found);
                tree.releaseAll();
            }
        }
    }

    /**
     * What a tree under a policy costs that is written for ever.
     *
     * @param runs the runs that a scan opens, on the average over all keys
     * @param redundant entries for each key beyond the first
     * @param written bytes that merges and packing write for each byte put
     */
    private record Cost(double runs, double redundant, double written) {}

    private static Cost costOfOverwriting(TrunkPolicies policy, int keys) {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, policy, null)) {
            SplittableRandom random = new SplittableRandom(SEED);
            Keys overwritten = () -> String.format("%012d", random.nextInt(keys));
            long packed = load(tree, 2 * MEMTABLES, VALUE_BYTES, overwritten);
            long entries = 0;
            long runs = 0;
            for (int i = 0; i < MEMTABLES; i++) {
                packed += load(tree, 1, VALUE_BYTES, overwritten);
                entries += TreeSummary.of(tree.trunk).entries();
                for (int key = 0; key < keys; key += keys / 50) {
                    byte[] at = History.bytes(String.format("%012d", key));
                    runs += TreePath.to(tree.trunk.version().root(), at, false).runCount();
                }
            }
            double amplification = tree.writeAmplification(packed);
            tree.releaseAll();
            return new Cost((double) runs / MEMTABLES / 50, (double) entries / MEMTABLES / keys - 1, amplification);
        }
    }

    /** What level-tiering is for, and its price. */
    @Test
    void levelTieringHalvesTheRunsOfScansAndTakesLessSpaceForMoreBytesWritten() {
        Cost tiered = costOfOverwriting(TrunkPolicies.SIZE_TIERED, 6000);
        Cost levelled = costOfOverwriting(TrunkPolicies.LEVEL_TIERED, 6000);
        String found = tiered + " and " + levelled + RERUN;
        assertTrue(levelled.runs * 2 <= tiered.runs, found);
        assertTrue(levelled.redundant <= 0.6 * tiered.redundant, found);
        assertTrue(levelled.written <= 3 * tiered.written, found);
    }

    /** Samples were cut to 48 bytes: keys that share that many were all alike, and their leaf could never split. */
    @Test
    void leavesSplitHoweverLongThePrefixThatKeysShare() {
        String prefix = "p".repeat(300);
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            SplittableRandom random = new SplittableRandom(SEED);
            load(tree, 60, VALUE_BYTES, () -> prefix + String.format("%012d", random.nextInt(1 << 20)));
            assertLeavesAreSmall(tree);
        }
    }

    @Test
    void leavesSplitHoweverLargeTheValues() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            SplittableRandom random = new SplittableRandom(SEED);
            load(tree, 60, 7 * MEMTABLE_BYTES / 16, () -> String.format("%012d", random.nextInt(1 << 20)));
            assertLeavesAreSmall(tree);
        }
    }

    private static void assertLeavesAreSmall(TrunkFixture tree) {
        tree.settle(Urge.IDLE);
        long bytes = largestLeaf(tree.trunk.version().root(), Span.ALL);
        assertTrue(bytes <= 2 * SHAPE.leafBytesMax(), () -> "a leaf of " + bytes + " bytes" + RERUN);
        tree.releaseAll();
    }

    /** The most bytes of runs that belong to one leaf alone. */
    private static long largestLeaf(TrunkNode node, Span span) {
        if (node.isLeaf()) {
            long runs = 0;
            for (Bundle bundle : node.bundles()) {
                for (Run run : bundle.runs()) {
                    if (run != null && run.sample().within(span)) {
                        runs += run.sample().bytes();
                    }
                }
            }
            return runs;
        }
        long largest = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            largest = Math.max(largest, largestLeaf(node.pivot(p).child(), node.pivotSpan(p, span)));
        }
        return largest;
    }
}
