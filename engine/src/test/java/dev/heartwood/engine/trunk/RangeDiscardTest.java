package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A range that is discarded by reference is gone but for its edges, and nothing else is touched. */
class RangeDiscardTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x64697363L);
    private static final String RERUN = "; rerun: -Dtest=RangeDiscardTest -Dheartwood.seed=" + SEED;
    private static final int MEMTABLE_BYTES = 1 << 14;
    private static final TreeShape SHAPE = TreeShape.of(4, MEMTABLE_BYTES);

    private static final String VALUE = "v".repeat(100);

    /** Puts keys in order, in small memtables. */
    private static void load(TrunkFixture tree, int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put(key(i), VALUE);
            if (i % 120 == 119) {
                tree.pack();
                tree.settle(Urge.NEEDED);
            }
        }
        tree.settle(Urge.IDLE);
    }

    private static String key(int number) {
        return String.format("%08d", number);
    }

    private static Span span(int from, int to) {
        return new Span(History.bytes(key(from)), History.bytes(key(to)));
    }

    @Test
    void aDiscardedRangeGivesItsExtentsBack() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int keys = 24_000;
            load(tree, keys);
            tree.epochs.reclaim();
            int before = tree.extents.allocatedCount();
            long merged = tree.trunk.events().bytesWritten();

            assertTrue(tree.trunk.discard(span(0, keys * 3 / 4)));
            tree.epochs.reclaim();

            assertEquals(merged, tree.trunk.events().bytesWritten(), "nothing is merged for it");
            int after = tree.extents.allocatedCount();
            assertTrue(after < before / 2, () -> before + " extents before, " + after + " after");
            TreeMap<String, String> left = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true);
            assertEquals(keys / 4, left.tailMap(key(keys * 3 / 4), true).size());
            assertFalse(tree.trunk.discard(span(0, keys * 3 / 4)), "there is nothing left to let go of");
            tree.releaseAll();
        }
    }

    /** The leaf has no ends: what counts is where keys are. */
    @Test
    void aSpanThatHasAllKeysHoldsTheLeafThatHasThem() {
        Span[] spans = {
            Span.ALL, new Span(new byte[0], null), span(0, 100), new Span(null, History.bytes(key(2))), span(1, 2), span(0, 1), span(2, 3)
        };
        for (int i = 0; i < spans.length; i++) {
            boolean hasKey = i < 5;
            try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                tree.put(key(1), "v");
                tree.pack();
                assertEquals(hasKey, tree.trunk.discard(spans[i]), "of span " + i);
                assertEquals(hasKey ? 0 : 1, tree.scan(tree.trunk.version(), Entries.NEWEST, null, true).size());
                tree.releaseAll();
            }
        }
    }

    /** What nodes above the leaves hold beyond a bound counts as well as what leaves do. */
    @Test
    void aKeyAboveTheLeavesBeyondABoundKeepsTheLastLeaf() {
        for (boolean isBeyond : new boolean[] {false, true}) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                int keys = 24_000;
                load(tree, keys);
                if (isBeyond) {
                    tree.put(key(keys), "v");
                    tree.pack();
                }
                assertTrue(tree.trunk.discard(new Span(null, History.bytes(key(keys)))));
                assertEquals(isBeyond, tree.scan(tree.trunk.version(), Entries.NEWEST, null, true).size() > 1);
                tree.releaseAll();
            }
        }
    }

    @Test
    void leavesBeyondABoundStay() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int keys = 24_000;
            load(tree, keys);
            tree.settle(Urge.SETTLING);
            tree.put(key(0), VALUE);
            tree.pack();
            assertTrue(tree.trunk.discard(new Span(null, History.bytes(key(keys / 2)))));
            TreeMap<String, String> left = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true);
            assertEquals(keys / 2, left.tailMap(key(keys / 2), true).size());
            tree.releaseAll();
        }
    }

    @Test
    void otherKeysStayAndDiscardedOnesHaveTheirValueOrNone() {
        SplittableRandom random = new SplittableRandom(SEED);
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int keys = 4_000;
            TreeMap<String, String> expected = new TreeMap<>();
            for (int round = 0; round < 200; round++) {
                for (int i = 0; i < 100; i++) {
                    String key = key(random.nextInt(keys));
                    if (random.nextInt(4) == 0) {
                        tree.delete(key);
                        expected.remove(key);
                    } else {
                        String value = round + "-" + "v".repeat(random.nextInt(200));
                        tree.put(key, value);
                        expected.put(key, value);
                    }
                }
                tree.pack();
                if (random.nextInt(3) > 0) {
                    tree.settle(Urge.NEEDED);
                }
                if (random.nextInt(6) == 0) {
                    discard(tree, random, keys, expected);
                }
            }
            tree.releaseAll();
        }
    }

    @Test
    void anOperandAboveTheEdgeOfTheRangeMayLoseItsBaseAndIsNeverOlder() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(false))) {
            int keys = 24_000;
            load(tree, keys);
            for (int i = 0; i < keys; i += 200) {
                tree.merge(key(i), "+");
            }
            tree.put(key(keys), VALUE);
            tree.pack();
            assertTrue(tree.trunk.version().root().height() >= 2, "a node stands between the root and a leaf");
            TreeMap<String, String> before = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true);

            // The last pivot of the root reaches beyond the range, its leaves but the last do not.
            assertTrue(tree.trunk.discard(new Span(null, History.bytes(key(keys)))));

            TreeMap<String, String> found = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true);
            assertTrue(found.size() < keys / 2, () -> found.size() + " keys are left");
            String bare = before.get(key(0)).substring(VALUE.length());
            long bareOnes = found.values().stream().filter(bare::equals).count();
            assertTrue(bareOnes > 0, "operands without their base");
            found.forEach((key, value) ->
                    assertTrue(value.equals(before.get(key)) || value.equals(bare), () -> key + " has " + value));
            tree.releaseAll();
        }
    }

    /** Discards a range and takes what is left of it as what is expected from now on. */
    private static void discard(
            TrunkFixture tree, SplittableRandom random, int keys, TreeMap<String, String> expected) {
        int from = random.nextInt(keys);
        int to = from + 1 + random.nextInt(keys);
        TreeMap<String, String> before = new TreeMap<>(expected);
        CompactionPlan underWay = tree.trunk.plan(Urge.IDLE);
        tree.trunk.discard(span(from, to));
        if (underWay != null) {
            // A merge whose input has been let go of meanwhile must not bring it back in other places.
            Compactor.Result result = tree.run(underWay);
            tree.trunk.install(underWay, result.bundle(), result.mergedPosition());
        }
        tree.epochs.reclaim();
        TreeMap<String, String> found = tree.scan(tree.trunk.version(), Entries.NEWEST, null, true);
        found.forEach((key, value) -> assertEquals(before.get(key), value, () -> "key " + key + RERUN));
        before.forEach((key, value) -> {
            boolean isInside = key.compareTo(key(from)) >= 0 && key.compareTo(key(to)) < 0;
            assertTrue(isInside || found.containsKey(key), () -> "key " + key + " is gone" + RERUN);
        });
        expected.clear();
        expected.putAll(found);
    }
}
