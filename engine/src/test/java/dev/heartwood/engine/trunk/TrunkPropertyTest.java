package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.FilterLimit;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.node.TrunkVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Grows small trees by random memtables while merges are planned, done, installed and abandoned in any order, and compares what
 * every reader sees with the plain history of writes; in the end deletes everything and looks for what is left.
 */
class TrunkPropertyTest {
    private static final String SEED = "heartwood.seed";
    private static final String ROUNDS = "heartwood.rounds";

    private static final int DELETING_ROUNDS_MAX = 4;
    private static final int PACKED_KEYS_MAX = 512;
    /** A buffer has 819 fingerprints then, and a piece 204 and more. */
    private static final long FINGERPRINT_BYTES_LEAST = 4096;
    /** Has more keys than that. */
    private static final long LARGE_LEAF_BYTES = 1 << 16;

    @Test
    void everyReaderSeesItsStateAndNothingIsLeftInTheEnd() {
        long first = Long.getLong(SEED, System.nanoTime());
        int rounds = Integer.getInteger(ROUNDS, 25);
        for (long seed = first; seed < first + rounds; seed++) {
            Round round = null;
            try {
                round = new Round(new SplittableRandom(seed));
                round.run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "rerun: mvn test -pl engine -am -Dsurefire.failIfNoSpecifiedTests=false"
                                + " -Dtest=TrunkPropertyTest -D" + ROUNDS + "=1 -D" + SEED + "=" + seed,
                        e);
            }
        }
    }

    /** A merge under way. */
    private static final class Merge {
        final CompactionPlan plan;
        Compactor.Result result;

        Merge(CompactionPlan plan) {
            this.plan = plan;
        }
    }

    /** A version held by a reader, and what the history had come to. */
    private record Held(TrunkVersion version, long sequence) {}

    private static final class Round {
        private final SplittableRandom random;
        private final TrunkFixture tree;
        private final List<Merge> merges = new ArrayList<>();
        private final List<Held> held = new ArrayList<>();
        private final int keySpace;
        private final int keyStyle;
        /** Whether filters may have fewer entries than merges would give them. */
        private final boolean isLimited;
        private int sequential;

        Round(SplittableRandom random) {
            this.random = random;
            boolean hasPieces = random.nextInt(3) == 0;
            long leafBytes = random.nextInt(1, 5) * (hasPieces ? LARGE_LEAF_BYTES : 4096L);
            TreeShape shape = new TreeShape(8, random.nextInt(2, 5), 4096, random.nextInt(1, 4) * 4096L, leafBytes);
            TrunkPolicies policies = TrunkPolicies.values()[random.nextInt(TrunkPolicies.values().length)];
            isLimited = random.nextInt(4) == 0;
            shape = isLimited ? shape.withFiltersOf(random.nextInt(PACKED_KEYS_MAX, 4 * PACKED_KEYS_MAX)) : shape;
            shape = random.nextInt(4) == 0 ? shape.withMergesOf(random.nextInt(2, 5)) : shape;
            History.Append operator = new History.Append(random.nextBoolean());
            tree = new TrunkFixture(shape, policies, operator, hasPieces ? FINGERPRINT_BYTES_LEAST : 0);
            keySpace = 1 << random.nextInt(4, 13);
            keyStyle = random.nextInt(3);
        }

        void run() {
            int steps = random.nextInt(20, 250);
            for (int step = 0; step < steps; step++) {
                step();
                if (random.nextInt(6) == 0) {
                    check();
                }
            }
            check();
            finish();
        }

        private void step() {
            switch (random.nextInt(18)) {
                case 0, 1, 2, 3 -> packSome();
                case 4, 5, 6 -> plan(Urge.NEEDED);
                case 7 -> plan(Urge.IDLE);
                case 8, 9 -> work();
                case 10, 11 -> install();
                case 12 -> abandon();
                case 13 -> quietMoment();
                case 14 -> readers();
                case 15 -> changePolicy();
                case 16 -> planForSpace();
                default -> tree.epochs.reclaim();
            }
        }

        private void packSome() {
            int bytes = random.nextInt(4096);
            int style = random.nextInt(10);
            int start = random.nextInt(keySpace);
            for (int i = 0; bytes > 0; i++) {
                String key = key(style == 0 || style == 3 ? start + i : style == 1 ? sequential++ : random.nextInt(keySpace));
                bytes -= 8 + write(key, style == 2 || style == 3 ? 9 : random.nextInt(10));
            }
            pack();
        }

        /** Some readers go on with what was packed above the version that they hold, as a view does that had the memtable there. */
        private void pack() {
            long before = tree.trunk.version().generation();
            PackedMemtable packed = tree.packForReaders();
            for (int i = 0; i < held.size(); i++) {
                TrunkVersion version = held.get(i).version();
                if (version.generation() == before && random.nextBoolean()) {
                    TrunkVersion above = PackedMemtable.above(version, List.of(packed));
                    held.set(i, new Held(above, tree.history.lastSequence()));
                    version.release();
                }
            }
            packed.release();
        }

        private int write(String key, int kind) {
            if (kind > 7) {
                tree.delete(key);
                return key.length();
            }
            if (kind > 5) {
                String operand = "+" + tree.history.lastSequence();
                tree.merge(key, operand);
                return key.length() + operand.length();
            }
            int length = random.nextInt(50) == 0 ? random.nextInt(3000) : random.nextInt(120);
            String value = tree.history.lastSequence() + "v".repeat(length);
            tree.put(key, value);
            return key.length() + value.length();
        }

        private String key(int number) {
            return switch (keyStyle) {
                case 0 -> number == 0 ? "" : Integer.toString(number);
                case 1 -> String.format("%08d", number);
                default -> "a-prefix-that-every-key-shares-and-that-is-longer-than-a-sample/" + number;
            };
        }

        private void plan(Urge urge) {
            CompactionPlan plan = merges.size() < 6 ? tree.trunk.plan(urge) : null;
            if (plan != null) {
                merges.add(new Merge(plan));
            }
        }

        /** Plans a merge of any node, worth it or not, often after what is above it was moved there. */
        private void planForSpace() {
            List<RedundancyEstimate.Node> nodes = RedundancyEstimateTest.estimate(tree, random.nextInt(3)).nodes();
            RedundancyEstimate.Node node = nodes.get(random.nextInt(nodes.size()));
            CompactionPlan plan = merges.size() < 6 ? tree.trunk.planWhole(node, random.nextInt(3) > 0) : null;
            if (plan != null) {
                merges.add(new Merge(plan));
            }
        }

        private void work() {
            if (!merges.isEmpty()) {
                merge(merges.get(random.nextInt(merges.size())));
            }
        }

        private void merge(Merge merge) {
            if (merge.result == null) {
                MergeMemory memory = MergeMemory.of(merge.plan, tree.storage);
                merge.result = tree.compactor.run(
                        merge.plan, tree.liveSnapshots(), memory, MergeMemory.CHUNK_PAGES_MIN);
            }
        }

        private void install() {
            if (!merges.isEmpty()) {
                Merge merge = merges.remove(random.nextInt(merges.size()));
                merge(merge);
                tree.trunk.install(merge.plan, merge.result.bundle(), merge.result.mergedPosition());
            }
        }

        private void abandon() {
            if (!merges.isEmpty()) {
                Merge merge = merges.remove(random.nextInt(merges.size()));
                tree.trunk.abandon(merge.plan);
                if (merge.result != null && merge.result.bundle() != null) {
                    merge.result.bundle().release();
                }
            }
        }

        /** Deletes most of what there is and lets the tree shrink while merges are still under way. */
        private void quietMoment() {
            if (random.nextInt(4) == 0) {
                List<String> keys = tree.history.keys();
                int deletesMax = isLimited ? Math.min(keys.size(), PACKED_KEYS_MAX) : keys.size();
                keys.subList(0, random.nextInt(deletesMax + 1)).forEach(tree::delete);
                tree.pack();
            }
            for (int i = random.nextInt(30); i > 0; i--) {
                tree.trunk.balanceQuiet(Urge.SETTLING);
                if (random.nextInt(8) == 0) {
                    plan(Urge.IDLE);
                }
                tree.compactOne(Urge.IDLE);
            }
        }

        private void changePolicy() {
            TrunkPolicies[] all = TrunkPolicies.values();
            TrunkPolicies policy = all[random.nextInt(all.length)];
            Span span = random.nextBoolean() ? Span.ALL : new Span(null, History.bytes(key(random.nextInt(1, keySpace))));
            switch (random.nextInt(3)) {
                case 0 -> tree.trunk.usePolicy(policy);
                case 1 -> tree.trunk.changePolicy(span, new Trunk.Heights(0, random.nextInt(3)), policy);
                default -> tree.trunk.changePolicy(span, Trunk.Heights.ALL, null);
            }
        }

        private void readers() {
            switch (random.nextInt(4)) {
                case 0 -> tree.snapshots.add(tree.history.lastSequence());
                case 1 -> tree.snapshots.pollFirst();
                case 2 -> held.add(new Held(tree.trunk.pin(), tree.history.lastSequence()));
                default -> {
                    if (!held.isEmpty()) {
                        held.remove(random.nextInt(held.size())).version().release();
                    }
                }
            }
        }

        private void check() {
            check(tree.trunk.version(), Entries.NEWEST, tree.history.at(Entries.NEWEST));
            for (long snapshot : tree.snapshots) {
                check(tree.trunk.version(), snapshot, tree.history.at(snapshot));
            }
            for (Held reader : held) {
                check(reader.version(), Entries.NEWEST, tree.history.at(reader.sequence()));
            }
            assertTrue(tree.trunk.debtBytes() >= 0, "debt");
        }

        private void check(TrunkVersion version, long snapshot, NavigableMap<String, String> expected) {
            try {
                assertEquals(expected, tree.scan(version, snapshot, null, true), "forward");
                assertEquals(expected, tree.scan(version, snapshot, null, false), "backward");
                String key = key(random.nextInt(keySpace));
                assertEquals(expected.tailMap(key, true), tree.scan(version, snapshot, key, true), "from " + key);
                assertEquals(expected.headMap(key, false), tree.scan(version, snapshot, key, false), "before " + key);
                for (String written : tree.history.keys()) {
                    assertEquals(expected.get(written), tree.find(version, written, snapshot, expected::get), written);
                }
            } catch (AssertionError e) {
                throw new AssertionError("at snapshot " + snapshot + " of\n" + TreeText.of(version.root()), e);
            }
        }

        private void finish() {
            while (!merges.isEmpty()) {
                if (random.nextBoolean()) {
                    install();
                } else {
                    abandon();
                }
            }
            held.forEach(reader -> reader.version().release());
            held.clear();
            tree.snapshots.clear();
            tree.settle(Urge.NEEDED);
            check();
            checkTiers(tree.trunk.version().root(), Span.ALL, new NodePolicies(tree.shape, tree.trunk.policy()));
            // Nodes wait with tombstones until those are a good part of what they hold, so one round may not be enough.
            for (int i = 0; i < DELETING_ROUNDS_MAX && !isLimited && !isEmpty(tree.trunk.version().root()); i++) {
                tree.history.keys().forEach(tree::delete);
                tree.pack();
                check();
                tree.settle(Urge.SETTLING);
                check();
            }
            TrunkNode root = tree.trunk.version().root();
            assertTrue(isLimited || isEmpty(root), () -> "data left behind:\n" + TreeText.of(root));
            tree.releaseAll();
            assertEquals(0, tree.extents.allocatedCount(), "extents left behind");
            tree.close();
        }

        /** With nothing left to merge, no node has more runs that share keys than its policy allows. */
        private void checkTiers(TrunkNode node, Span span, NodePolicies policies) {
            CompactionPolicy policy = policies.of(node);
            int tiers = policy.tiers(node, span);
            assertTrue(
                    tiers <= policy.tiersMax(node) || !FilterLimit.allows(node, tree.shape),
                    () -> tiers + " tiers, and " + policy.tiersMax(node) + " are allowed, of\n" + TreeText.of(node));
            for (int p = 0; p < node.pivotCount(); p++) {
                if (node.pivot(p).child() != null) {
                    checkTiers(node.pivot(p).child(), node.pivotSpan(p, span), policies);
                }
            }
        }

        private static boolean isEmpty(TrunkNode root) {
            return root.isLeaf() && root.bundleCount() == 0;
        }
    }
}
