package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MergePaceTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 1 << 20, 4 << 20, 1 << 20);
    private static final TreeShape SMALL = new TreeShape(8, 4, 4096, 8192, 16384);
    private static final int KEYS = 3000;

    private final MergePace pace = new MergePace();

    @Test
    void whatAFlushBringsIsDueEvenlyUntilAsMuchHasArrived() {
        pace.arrived(100);
        pace.flushed(1000);
        assertEquals(1000, pace.notDueBytes());
        pace.arrived(100);
        assertEquals(900, pace.notDueBytes());
        pace.arrived(850);
        assertEquals(50, pace.notDueBytes());
        pace.arrived(100);
        assertEquals(0, pace.notDueBytes());
    }

    @Test
    void eachFlushHasItsOwnTime() {
        pace.flushed(1000);
        pace.arrived(400);
        pace.flushed(100);
        assertEquals(600 + 100, pace.notDueBytes());
        pace.arrived(100);
        assertEquals(500, pace.notDueBytes());
        pace.flushed(0);
        pace.flushed(-70);
        assertEquals(500, pace.notDueBytes());
    }

    @Test
    void whatNobodyCouldMergeIsDueAsIfItHadJustBeenMoved() {
        pace.flushed(1000);
        pace.arrived(400);
        pace.restart(2000);
        assertEquals(2000, pace.notDueBytes());
        pace.arrived(100);
        assertEquals(1900, pace.notDueBytes());
        pace.restart(0);
        assertEquals(0, pace.notDueBytes());
    }

    /** A tree that is in place asks, and the one before it is let go of after that: a full Java heap kept that until the store was closed. */
    @Test
    void whatMayWaitIsToldWithoutTheHeap() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        pace.flushed(1000);
        pace.flushed(100);
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 8; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            pace.notDueBytes();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
    }

    /** Above leaves that are merged at once, nothing is ever late; without merges all of it is by the next flush. */
    @Test
    void aTreeOwesWhatWasNotMergedBeforeTheNextFlush() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int round = 0;
            int owing = 0;
            for (; tree.trunk.version().root().height() == 0 || owing < 20; round++) {
                pack(tree, round);
                owing += tree.trunk.debtBytes() > 0 ? 1 : 0;
                assertEquals(0, tree.trunk.overdueBytes(), "late in round " + round);
                tree.settle(Urge.NEEDED);
                assertEquals(0, tree.trunk.debtBytes());
            }
            long before = 0;
            int growing = 0;
            for (int more = 0; more < 3 * SHAPE.runsMax(); more++) {
                pack(tree, round++);
                long overdue = tree.trunk.overdueBytes();
                assertTrue(overdue >= before && overdue <= tree.trunk.debtBytes(), overdue + " after " + before);
                growing += overdue > before ? 1 : 0;
                before = overdue;
            }
            assertTrue(growing >= SHAPE.runsMax(), "what is late grew in " + growing + " rounds only");
        }
    }

    /** Who writes beside was slowed at once for all that a settling store had moved. */
    @Test
    void whatIsMovedWhileAStoreSettlesIsDueEvenlyToo() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int round = 0;
            while (tree.trunk.version().root().height() == 0 || tree.trunk.version().root().runCount() == 0) {
                pack(tree, round++);
                tree.settle(Urge.NEEDED);
            }
            pack(tree, round);
            assertTrue(tree.trunk.balanceQuiet(Urge.SETTLING));
            assertTrue(tree.trunk.debtBytes() > 0);
            assertEquals(0, tree.trunk.overdueBytes());
        }
    }

    /** A store that had settled slowed nobody until a load owed as much as had been moved, over several levels, and merged before it. */
    @Test
    void whatWasMergedBeforeLetsNothingWaitThatComesAfterIt() {
        try (TrunkFixture tree = new TrunkFixture(SMALL, TrunkPolicies.SIZE_TIERED, null)) {
            int round = 0;
            while (tree.trunk.version().root().height() < 2 || tree.trunk.version().root().runCount() < SMALL.runsMax() - 1) {
                packSome(tree, round++);
                tree.settle(Urge.NEEDED);
            }
            tree.settle(Urge.SETTLING);
            while (tree.trunk.debtBytes() == 0) {
                packSome(tree, round++);
            }
            assertEquals(0, tree.trunk.overdueBytes());
            packSome(tree, round);
            assertTrue(tree.trunk.overdueBytes() > 0, "of " + tree.trunk.debtBytes());
        }
    }

    private static void packSome(TrunkFixture tree, int round) {
        SplittableRandom random = new SplittableRandom(round);
        for (int i = 0; i < KEYS / 10; i++) {
            tree.put("key" + random.nextInt(10 * KEYS), "value ".repeat(20));
        }
        tree.pack();
    }

    private static void pack(TrunkFixture tree, int round) {
        for (int i = 0; i < KEYS; i++) {
            tree.put("key" + (i * 7919 + round) % (10 * KEYS), "value".repeat(60));
        }
        tree.pack();
    }
}
