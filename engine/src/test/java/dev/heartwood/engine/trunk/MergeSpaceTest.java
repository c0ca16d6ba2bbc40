package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.RunUsage;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a tree says that its merges take is enough to merge all of it, if those that free most come first. */
class MergeSpaceTest {
    private static final int MEMTABLE_BYTES = 1 << 18;
    private static final int VALUE_BYTES = 500;
    /** So large that it lies in a group. */
    private static final int LARGE_VALUE_BYTES = 3000;
    private static final TreeShape SHAPE = new TreeShape(8, 4, MEMTABLE_BYTES, MEMTABLE_BYTES, 2 * MEMTABLE_BYTES);

    private static String key(int i) {
        return String.format("%08d", i);
    }

    /** Packs random records; what is flushed stays where it came to. */
    private static void load(TrunkFixture tree, SplittableRandom random, int memtables) {
        load(tree, random, memtables, VALUE_BYTES);
    }

    private static void load(TrunkFixture tree, SplittableRandom random, int memtables, int valueBytes) {
        for (int memtable = 0; memtable < memtables; memtable++) {
            for (int i = 0; i < MEMTABLE_BYTES / valueBytes; i++) {
                tree.put(key(random.nextInt(100_000)), "v".repeat(valueBytes));
            }
            tree.pack();
        }
    }

    /** Packs random records with large values, and merges them while there is space: leaves share the groups of the memtables. */
    private static void loadLarge(TrunkFixture tree, SplittableRandom random) {
        for (int i = 0; i < 12; i++) {
            load(tree, random, 1, LARGE_VALUE_BYTES);
            while (tree.compactOne(Urge.NEEDED)) {
                tree.epochs.reclaim();
            }
        }
        tree.epochs.reclaim();
    }

    /** How many groups several nodes refer to. */
    private static int groupsShared(TrunkNode root) {
        Map<OverflowGroup, Set<TrunkNode>> nodes = new IdentityHashMap<>();
        addGroups(root, nodes);
        return (int) nodes.values().stream().filter(users -> users.size() > 1).count();
    }

    private static void addGroups(TrunkNode node, Map<OverflowGroup, Set<TrunkNode>> nodes) {
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                for (OverflowGroup group : run == null ? new OverflowGroup[0] : run.branch().overflowGroups()) {
                    nodes.computeIfAbsent(group, g -> new HashSet<>()).add(node);
                }
            }
        }
        for (int p = 0; p < node.pivotCount() && !node.isLeaf(); p++) {
            addGroups(node.pivot(p).child(), nodes);
        }
    }

    /** Deletes all but one record of so many. */
    private static void deleteMost(TrunkFixture tree, int keptOf) {
        int deleted = 0;
        for (String key : tree.history.at(Entries.NEWEST).keySet()) {
            if (deleted++ % keptOf != 0) {
                tree.delete(key);
            }
        }
        tree.pack();
    }

    /** Takes all extents but so many beside those that are left by merges. */
    private static void leave(TrunkFixture tree, Deque<Integer> taken, long extents) {
        try {
            while (true) {
                taken.push(tree.extents.allocate(Purpose.PACKING));
            }
        } catch (NoSpaceException full) {
            long reserve = Math.clamp(tree.extents.fileExtents() / 32, 4, 256); // of a file of more than 8 MiB
            for (long i = 0; i < extents + reserve; i++) {
                tree.extents.free(taken.pop());
            }
        }
    }

    /** Merges what can be merged as a store does that is short of space; returns how many merges found none. */
    private static int mergeAll(TrunkFixture tree) {
        int refused = 0;
        tree.trunk.spaceIsShort(true);
        while (true) {
            boolean moved = tree.trunk.balanceQuiet(Urge.SETTLING);
            CompactionPlan plan = tree.trunk.plan(Urge.SETTLING);
            if (plan == null && !moved) {
                return refused;
            }
            if (plan != null) {
                try {
                    Compactor.Result result = tree.run(plan);
                    tree.trunk.install(plan, result.bundle(), result.mergedPosition());
                } catch (NoSpaceException none) {
                    refused++;
                    tree.trunk.passOverWithoutSpace(plan);
                    tree.trunk.abandon(plan);
                }
            }
            tree.epochs.reclaim();
        }
    }

    @ParameterizedTest
    @EnumSource(TrunkPolicies.class)
    void isEnoughToMergeEverything(TrunkPolicies policy) {
        SplittableRandom random = new SplittableRandom(policy.ordinal());
        try (TrunkFixture tree = new TrunkFixture(SHAPE, policy, null)) {
            load(tree, random, 12);
            Deque<Integer> taken = new ArrayDeque<>();
            leave(tree, taken, tree.trunk.mergeExtents());
            assertEquals(0, mergeAll(tree), "merges without space");
            assertEquals(0, MergeSpace.of(tree.trunk.version().root()).movingBytes(), "every run lies in one leaf");
            taken.forEach(tree.extents::free);
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        }
    }

    /** Large values lie in groups that leaves share. To free them all have to be copied, for which there has to be space before others are put. */
    @ParameterizedTest
    @EnumSource(TrunkPolicies.class)
    void isEnoughForLargeValuesToo(TrunkPolicies policy) {
        SplittableRandom random = new SplittableRandom(10 + policy.ordinal());
        try (TrunkFixture tree = new TrunkFixture(SHAPE, policy, null)) {
            loadLarge(tree, random);
            assertTrue(groupsShared(tree.trunk.version().root()) > 3, "leaves share groups");
            deleteMost(tree, 2);
            int before = tree.extents.allocatedCount();
            Deque<Integer> taken = new ArrayDeque<>();
            leave(tree, taken, tree.trunk.mergeExtents());
            assertEquals(0, mergeAll(tree), "merges without space");
            assertEquals(0, groupsShared(tree.trunk.version().root()), "groups that are not of one leaf");
            assertEquals(0, MergeSpace.of(tree.trunk.version().root()).movingBytes(), "every run lies in one leaf");
            taken.forEach(tree.extents::free);
            int after = tree.extents.allocatedCount();
            assertTrue(after < before * 3 / 4, after + " of " + before + " extents");
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        }
    }

    /** To look at millions of groups for each memtable would take seconds. */
    @Test
    void moreGroupsThanMayBeCountedAreNot() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            loadLarge(tree, new SplittableRandom(3));
            TrunkNode root = tree.trunk.version().root();
            RunUsage all = RunUsage.withGroups(root);
            assertTrue(all.hasGroups());
            assertTrue(all.movingBytes() >= RunUsage.of(root).movingBytes());
            RunUsage few = RunUsage.withGroups(root, 3);
            assertTrue(all.knowsGroups());
            assertFalse(few.hasGroups() || few.knowsGroups());
            assertEquals(RunUsage.of(root).movingBytes(), few.movingBytes());
            assertEquals(all.imageBytes(), few.imageBytes());
        }
    }

    /** With a third of a leaf merges find no space, are passed over once each, and what was packed is as it was. */
    @Test
    void whatFindsNoSpaceIsPassedOver() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, new SplittableRandom(1), 12);
            Deque<Integer> taken = new ArrayDeque<>();
            leave(tree, taken, MergeSpace.packedExtents(MergeSpace.of(tree.trunk.version().root()).leafBytes()) / 3);
            assertTrue(mergeAll(tree) > 0);
            taken.forEach(tree.extents::free);
            assertEquals(tree.history.at(Entries.NEWEST), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
        }
    }

    /** What was deleted is free afterwards, though its deletes took space first. */
    @Test
    void deletesFreeWhatTheyDelete() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, new SplittableRandom(2), 12);
            int before = tree.extents.allocatedCount();
            deleteMost(tree, 8);
            Deque<Integer> taken = new ArrayDeque<>();
            leave(tree, taken, tree.trunk.mergeExtents());
            assertEquals(0, mergeAll(tree));
            taken.forEach(tree.extents::free);
            assertTrue(tree.extents.allocatedCount() < before / 2, tree.extents.allocatedCount() + " of " + before + " extents");
        }
    }

    /** A leaf that was split shares its runs with the other half: once one is merged, the other is next, whatever else is wanted. */
    @Test
    void theLastLeafThatSharesARunIsNext() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            load(tree, new SplittableRandom(3), 3);
            TrunkNode root = tree.trunk.version().root();
            assertTrue(root.height() == 1 && root.pivotCount() >= 2, TreeText.of(root));
            RunUsage usage = RunUsage.of(root);
            assertTrue(usage.movingBytes() > 0, "leaves share runs");
            assertNull(usage.mostFreeing(root, (node, span) -> true), "none is the last");
            TrunkNode last = root.pivot(root.pivotCount() - 1).child();
            for (int p = 0; p < root.pivotCount() - 1; p++) {
                TrunkNode leaf = tree.trunk.version().root().pivot(p).child();
                Span span = tree.trunk.version().root().pivotSpan(p, Span.ALL);
                CompactionPlan plan = new CompactionPlan(0, span, leaf, 0, leaf.bundleCount(), 0, leaf.runCount());
                plan.bundles().forEach(Bundle::retain);
                Compactor.Result result = tree.run(plan);
                tree.trunk.install(plan, result.bundle(), result.mergedPosition());
            }
            tree.trunk.spaceIsShort(true);
            CompactionPlan next = tree.trunk.plan(Urge.NEEDED);
            assertNotNull(next);
            assertEquals(last.bundle(0).id(), next.node().bundle(0).id(), "the leaf that has the runs to itself now");
            tree.trunk.abandon(next);
        }
    }
}
