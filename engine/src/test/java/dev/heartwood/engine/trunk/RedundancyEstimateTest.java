package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletSlice;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** What the estimate of redundant bytes says, against what all entries say. */
public class RedundancyEstimateTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x7370616365L);
    private static final String RERUN = "; rerun: -Dtest=RedundancyEstimateTest -Dheartwood.seed=" + SEED;
    private static final int MEMTABLE_BYTES = 1 << 15;
    private static final int VALUE_BYTES = 60;
    private static final TreeShape SHAPE = TreeShape.of(8, MEMTABLE_BYTES);

    /** A tree whose keys are all written once and then overwritten, {@code puts} times in all. */
    public static TrunkFixture tree(TrunkPolicies policy, int keys, int puts, IntUnaryOperator overwritten) {
        TrunkFixture tree = new TrunkFixture(SHAPE, policy, null);
        int bytes = 0;
        for (int i = 0; i < puts; i++) {
            String key = String.format("%08d", i < keys ? (int) (i * 7919L % keys) : overwritten.applyAsInt(i));
            String value = "v".repeat(VALUE_BYTES / 2 + (key.hashCode() & 31));
            tree.put(key, value);
            bytes += key.length() + value.length();
            if (bytes >= MEMTABLE_BYTES || i + 1 == puts) {
                tree.pack();
                tree.settle(Urge.NEEDED);
                bytes = 0;
            }
        }
        return tree;
    }

    /** The estimate of a tree from the keys whose hashes begin with some zero bits. */
    public static RedundancyEstimate estimate(TrunkFixture tree, int zeroBits) {
        Map<Maplet, MapletSlice> slices = new HashMap<>();
        return RedundancyEstimate.of(
                tree.trunk.version().root(),
                maplet -> slices.computeIfAbsent(
                        maplet, read -> MapletSlice.read(tree.storage.file(), read, tree.pool, zeroBits)),
                OldestView.NONE);
    }

    /** Bytes of the entries of all branches below a node. */
    private static long trueBytes(TrunkNode node, Set<Branch> seen) {
        long bytes = 0;
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                bytes += run != null && seen.add(run.branch()) ? run.sample().bytes() : 0;
            }
        }
        for (Pivot pivot : node.pivots()) {
            bytes += pivot.child() == null ? 0 : trueBytes(pivot.child(), seen);
        }
        return bytes;
    }

    private static long trueBytes(TrunkFixture tree) {
        return trueBytes(tree.trunk.version().root(), Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static long trueLiveBytes(TrunkFixture tree) {
        return tree.scan(tree.trunk.version(), Long.MAX_VALUE, null, true).entrySet().stream()
                .mapToLong(entry -> entry.getKey().length() + entry.getValue().length())
                .sum();
    }

    private static void check(TrunkFixture tree, int zeroBits, String what) {
        long bytes = trueBytes(tree);
        double truth = bytes - trueLiveBytes(tree);
        RedundancyEstimate estimate = estimate(tree, zeroBits);
        double found = estimate.bytes() - estimate.liveBytes();
        String text = String.format(
                "%s, 1/%d: %.0f of %d bytes redundant, found %.0f (%+.1f %%) of %d, height %d, nodes %d",
                what, 1 << zeroBits, truth, bytes, found, 100 * (found / truth - 1), estimate.bytes(),
                tree.trunk.version().root().height(), estimate.nodes().size());
        assertTrue(estimate.bytes() == bytes && Math.abs(found - truth) <= 0.1 * truth, text + RERUN);
    }

    @Test
    void whatIsRedundantIsEstimatedWithinATenth() {
        for (TrunkPolicies policy : TrunkPolicies.values()) {
            for (int puts : new int[] {60_000, 100_000, 160_000}) {
                int keys = 40_000;
                SplittableRandom random = new SplittableRandom(SEED);
                try (TrunkFixture tree = tree(policy, keys, puts, i -> random.nextInt(keys))) {
                    for (int zeroBits = 0; zeroBits <= 3; zeroBits += 3) {
                        check(tree, zeroBits, policy + ", " + keys + " keys, " + puts + " puts");
                    }
                    tree.releaseAll();
                }
            }
        }
    }

    @Test
    void aPartOfTheKeysOverwrittenIsEstimatedWithinATenth() {
        int keys = 40_000;
        for (TrunkPolicies policy : TrunkPolicies.values()) {
            SplittableRandom random = new SplittableRandom(SEED);
            try (TrunkFixture tree = tree(policy, keys, 100_000, i -> (int) (keys * Math.pow(random.nextDouble(), 3)))) {
                check(tree, 0, policy + ", skewed");
                check(tree, 2, policy + ", skewed");
                tree.releaseAll();
            }
        }
    }
}
