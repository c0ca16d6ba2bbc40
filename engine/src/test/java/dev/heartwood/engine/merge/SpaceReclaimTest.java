package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.trunk.OldestView;
import dev.heartwood.engine.trunk.RedundancyEstimate;
import dev.heartwood.engine.trunk.RedundancyEstimate.Node;
import dev.heartwood.engine.trunk.RedundancyEstimateTest;
import dev.heartwood.engine.trunk.TreeSummary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** What it costs to keep a tree within a target of space, by which of its nodes are merged for it. */
class SpaceReclaimTest {
    private static final long SEED = Long.getLong("heartwood.seed", 0x7370616365L);
    private static final String RERUN = "; rerun: -Dtest=SpaceReclaimTest -Dheartwood.seed=" + SEED;
    /** Whether the figures are printed, as for docs/TREES.md. */
    private static final boolean PRINTS = Boolean.getBoolean("heartwood.sweep");

    private static final int KEYS = 24_000;
    private static final int OVERWRITES = 3 * KEYS;
    private static final double TARGET = 1.2;

    /** Which merges are done when a tree takes too much space. */
    private enum Choice {
        WORST,
        RANDOM,
        EVERYTHING
    }

    /** A tree that is held within its target by one choice of merges. */
    private static final class Subject {
        private final TrunkFixture tree;
        private final Choice choice;
        private final SpaceReclaim space;
        private final Random random = new Random(SEED);
        private double most;

        Subject(TrunkFixture tree, Choice choice) {
            this.tree = tree;
            this.choice = choice;
            space = new SpaceReclaim(tree.storage, tree.trunk);
            space.target(TARGET);
        }

        void packed() {
            tree.settle(Urge.NEEDED);
            if (choice == Choice.WORST) {
                for (CompactionPlan plan = plan(); plan != null; plan = plan()) {
                    merge(plan);
                }
            } else {
                reclaimOtherwise();
            }
            most = Math.max(most, (double) TreeSummary.of(tree.trunk).entries() / KEYS);
        }

        /** What is to be merged next, with all views that the tree has. */
        private CompactionPlan plan() {
            return space.plan(tree.snapshots.isEmpty() ? OldestView.NONE : tree.snapshots.getFirst());
        }

        private void reclaimOtherwise() {
            double goal = 1 + 0.8 * (TARGET - 1);
            RedundancyEstimate estimate = RedundancyEstimateTest.estimate(tree, 1);
            while (estimate.spaceAmplification() > goal) {
                List<Node> nodes = new ArrayList<>(estimate.nodes());
                if (choice == Choice.RANDOM) {
                    Collections.shuffle(nodes, random);
                    nodes = nodes.subList(0, 1);
                } else {
                    nodes.sort(Comparator.comparingInt(Node::height));
                }
                for (Node node : nodes) {
                    CompactionPlan plan = tree.trunk.planWhole(node, true);
                    if (plan != null) {
                        merge(plan);
                    }
                }
                estimate = RedundancyEstimateTest.estimate(tree, 1);
            }
        }

        private void merge(CompactionPlan plan) {
            Compactor.Result result = tree.run(plan);
            tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            tree.settle(Urge.NEEDED);
        }
    }

    /**
     * What it cost.
     *
     * @param written bytes that merges and packing wrote for each byte put
     * @param most entries for each key, the most that there were after a memtable
     */
    private record Cost(double written, double most) {}

    private static Cost cost(Choice choice, IntUnaryOperator overwritten, String what) {
        TreeShape shape = TreeShape.of(8, 1 << 15);
        try (TrunkFixture tree = new TrunkFixture(shape, TrunkPolicies.SIZE_TIERED, null)) {
            Subject subject = new Subject(tree, choice);
            long bytes = 0;
            long packed = 0;
            for (int i = 0; i < KEYS + OVERWRITES; i++) {
                String key = String.format("%08d", i < KEYS ? (int) (i * 7919L % KEYS) : overwritten.applyAsInt(i));
                tree.put(key, "v".repeat(60));
                bytes += 68;
                if (bytes - packed >= 1 << 15) {
                    packed = bytes;
                    tree.pack();
                    subject.packed();
                }
            }
            tree.pack();
            subject.packed();
            Cost cost = new Cost(tree.writeAmplification(bytes), subject.most);
            if (PRINTS) {
                System.out.printf("%s, %s: %s, %d pages of maplets read%n", what, choice, cost, subject.space.pagesRead());
            }
            assertEquals(KEYS, tree.scan(tree.trunk.version(), Long.MAX_VALUE, null, true).size());
            tree.releaseAll();
            return cost;
        }
    }

    private static List<Cost> costs(String what, double skew) {
        List<Cost> costs = new ArrayList<>();
        for (Choice choice : Choice.values()) {
            SplittableRandom random = new SplittableRandom(SEED);
            costs.add(cost(choice, i -> (int) (KEYS * Math.pow(random.nextDouble(), skew)), what));
        }
        return costs;
    }

    @Test
    void mergingWhatIsWorstFirstCostsLeast() {
        List<Cost> even = costs("overwritten evenly", 1);
        List<Cost> skewed = costs("overwritten unevenly", 4);
        String found = even + "\n" + skewed + RERUN;
        for (List<Cost> costs : List.of(even, skewed)) {
            Cost worst = costs.get(Choice.WORST.ordinal());
            assertTrue(worst.most <= TARGET, found);
            assertTrue(worst.written < costs.get(Choice.RANDOM.ordinal()).written, found);
            assertTrue(worst.written < costs.get(Choice.EVERYTHING.ordinal()).written, found);
        }
    }

    /** Nothing was added, but leaves were given what a node above still holds for others. */
    @Test
    void whatMergesLeaveIsSeen() {
        try (TrunkFixture tree = RedundancyEstimateTest.tree(TrunkPolicies.SIZE_TIERED, 20_000, 20_000, i -> 0)) {
            Subject subject = new Subject(tree, Choice.WORST);
            subject.space.target(2);
            assertNull(subject.plan());
            double before = subject.space.spaceAmplification();
            long entries = TreeSummary.of(tree.trunk).entries();
            List<Node> leaves = RedundancyEstimateTest.estimate(tree, 1).nodes();
            leaves.removeIf(node -> node.height() > 0);
            for (Node leaf : leaves.subList(1, leaves.size())) {
                CompactionPlan plan = tree.trunk.planWhole(leaf, true);
                Compactor.Result result = tree.run(plan);
                tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            }
            long more = TreeSummary.of(tree.trunk).entries() - entries;
            assertTrue(more > 0.125 * entries, more + " entries more than " + entries);
            assertNull(subject.plan());
            assertTrue(subject.space.spaceAmplification() > before, before + RERUN);
            tree.releaseAll();
        }
    }

    /** Of one maplet nothing is known until it can be read; what the others tell is enough, and none of these is read twice. */
    @Test
    void aMapletThatCannotBeReadHoldsNothingUp() {
        try (TrunkFixture tree = RedundancyEstimateTest.tree(TrunkPolicies.SIZE_TIERED, 20_000, 60_000, i -> i * 7919 % 20_000)) {
            Maplet maplet = leaf(tree.trunk.version().root()).bundle(0).maplet();
            for (int i = 0; i < maplet.extentCount(); i++) {
                tree.makeUnreadable(maplet.extent(i));
            }
            Subject subject = new Subject(tree, Choice.WORST);
            CompactionPlan plan = subject.plan();
            assertNotNull(plan);
            assertEquals(1, tree.device.unreadableMet);
            tree.trunk.abandon(plan);
            long read = subject.space.pagesRead();
            planUntilEstimated(tree, subject, () -> tree.device.unreadableMet > 1);
            assertEquals(read, subject.space.pagesRead());
            tree.device.unreadable.clear();
            planUntilEstimated(tree, subject, () -> subject.space.pagesRead() > read);
            tree.releaseAll();
        }
    }

    /** Nothing is merged, so that each estimate finds the same nodes again. */
    private static void planUntilEstimated(TrunkFixture tree, Subject subject, BooleanSupplier isEstimated) {
        for (int plans = 0; !isEstimated.getAsBoolean(); plans++) {
            assertTrue(plans < 1000, "no estimate");
            tree.trunk.abandon(subject.plan());
        }
    }

    private static TrunkNode leaf(TrunkNode node) {
        return node.isLeaf() ? node : leaf(node.pivot(0).child());
    }

    /** Nothing is overwritten, only parts of runs have moved on: less than the target allows. */
    @Test
    void aTreeWithinItsTargetIsLeftAlone() {
        try (TrunkFixture tree = RedundancyEstimateTest.tree(TrunkPolicies.SIZE_TIERED, 20_000, 20_000, i -> 0)) {
            SpaceReclaim space = new SpaceReclaim(tree.storage, tree.trunk);
            assertNull(space.plan(OldestView.NONE));
            assertEquals(0, space.pagesRead());
            space.target(1.5);
            assertNull(space.plan(OldestView.NONE));
            assertTrue(space.pagesRead() > 0 && space.spaceAmplification() >= 1, space.spaceAmplification() + RERUN);
            tree.releaseAll();
        }
    }

    /** While snapshots see every version, merges free nothing: nodes are merged a few times and then left alone. */
    @Test
    void aNodeThatGivesNothingIsNotMergedForEver() {
        int keys = 5000;
        try (TrunkFixture tree = RedundancyEstimateTest.tree(TrunkPolicies.SIZE_TIERED, keys, keys, i -> 0)) {
            SplittableRandom random = new SplittableRandom(SEED);
            for (int memtable = 0; memtable < 10; memtable++) {
                tree.snapshots.add(tree.history.lastSequence());
                for (int i = 0; i < 400; i++) {
                    tree.put(String.format("%08d", random.nextInt(keys)), "v".repeat(40));
                }
                tree.pack();
                tree.settle(Urge.NEEDED);
            }
            Subject subject = new Subject(tree, Choice.WORST);
            int nodes = TreeSummary.of(tree.trunk).nodes();
            int merges = 0;
            for (CompactionPlan plan = subject.plan(); plan != null; plan = subject.plan()) {
                subject.merge(plan);
                assertTrue(++merges <= 4 * nodes, merges + " merges of " + nodes + " nodes" + RERUN);
            }
            tree.releaseAll();
        }
    }
}
