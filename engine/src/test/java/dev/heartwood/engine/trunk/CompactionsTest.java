package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.trunk.CompactionPolicy.Urge;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When there is something to merge, and when there is not. */
class CompactionsTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);

    private final TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.LEVEL_TIERED, new History.Append(true));
    /** What happens when a merge, or whoever looks for one, asks for the live snapshots. */
    private Runnable asked = () -> {};

    private long[] views = {};

    private final Compactions compactions = new Compactions(
            tree.storage,
            tree.trunk,
            new MergeAdmission(tree.pool),
            () -> 0,
            () -> {
                long[] seen = views;
                asked.run();
                return seen;
            },
            tree.operator(),
            null);

    @AfterEach
    void close() {
        tree.storage.close();
        tree.releaseAll();
        tree.close();
    }

    private void write() {
        write(200);
    }

    private void write(int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put("key" + i, "value ".repeat(20));
        }
        tree.pack();
        compactions.want();
    }

    @Test
    void nothingIsNeededOnceThereIsNothingToMerge() {
        write();
        write();
        while (compactions.runOne()) {
            assertTrue(compactions.isNeeded(), "after a merge there may be more");
        }
        assertTrue(compactions.finished() > 0);
        assertFalse(compactions.isNeeded());
    }

    @Test
    void aMergeThatFailsIsNotTriedAgainUntilSomethingIsWanted() {
        write();
        write();
        asked = () -> {
            throw new IllegalStateException("met by a merge");
        };
        assertThrows(IllegalStateException.class, compactions::runOne);
        assertFalse(compactions.isRefused());
        asked = () -> {};
        while (compactions.runOne()) {}
        assertFalse(compactions.isNeeded());
        CompactionPlan again = tree.trunk.plan(Urge.NEEDED);
        assertNotNull(again, "what failed waits");
        tree.trunk.abandon(again);
        compactions.want();
        while (compactions.runOne()) {}
        assertEquals(0, tree.trunk.debtBytes());
    }

    /** A merge that cannot be done, as over a page that cannot be read, is the most wanted one each time. */
    @Test
    void aMergeThatFailsHoldsNoOtherUp() {
        for (int round = 0; round < 60; round++) {
            write();
            if (round % 4 == 0) {
                compactions.runOne();
            }
        }
        CompactionPlan first = tree.trunk.plan(Urge.NEEDED);
        CompactionPlan second = tree.trunk.plan(Urge.NEEDED);
        assertNotNull(second, "two merges wait");
        tree.trunk.abandon(second);
        tree.trunk.abandon(first);
        asked = () -> {
            throw new IllegalStateException("met by a merge");
        };
        assertThrows(IllegalStateException.class, compactions::runOne);
        asked = () -> {};
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne(), "another one");
        while (compactions.runOne()) {}
        compactions.want();
        while (compactions.runOne()) {}
        assertEquals(0, tree.trunk.debtBytes());
    }

    /** Whoever found nothing leaves alone what was wanted after it had begun to look. */
    @Test
    void whatIsWantedWhileAnotherLooksStaysWanted() {
        while (compactions.runOne()) {}
        compactions.want();
        asked = compactions::want;
        assertFalse(compactions.runOne());
        assertTrue(compactions.isNeeded());
        asked = () -> {};
        assertFalse(compactions.runOne());
        assertFalse(compactions.isNeeded());
    }

    /** A tree with something to merge for space alone, while a view that is older than all of it is open. */
    private void rest() {
        tree.snapshots.add(1L);
        write();
        while (compactions.runOne()) {}
        write(60);
        while (compactions.runOne()) {}
        views = new long[] {1};
        compactions.targetSpace(1.05);
    }

    /** Closes that view, as another thread does; returns whether that has merges begin. */
    private boolean closeView() {
        views = new long[0];
        return compactions.oldestViewClosed(Long.MAX_VALUE);
    }

    private void assertReclaims(long before) {
        while (compactions.runOne()) {}
        assertTrue(compactions.finished() > before, "nothing was merged for space");
    }

    @Test
    void theOldestViewThatIsClosedHasWhatWaitedForItMerged() {
        rest();
        long before = compactions.finished();
        assertFalse(compactions.runOne());
        assertFalse(compactions.isNeeded());
        views = new long[] {2};
        assertFalse(compactions.oldestViewClosed(2), "that is older than the tree's entries too");
        assertFalse(compactions.isNeeded());
        assertEquals(before, compactions.finished());
        assertTrue(closeView());
        assertTrue(compactions.isNeeded());
        assertReclaims(before);
        assertFalse(compactions.oldestViewClosed(Long.MAX_VALUE), "nothing waits");
    }

    /** Right after whoever plans has seen it, and before anybody can know that something waits for it. */
    @Test
    void aViewThatIsClosedWhileItIsMetHoldsNothingBack() {
        rest();
        long before = compactions.finished();
        asked = () -> {
            asked = () -> {};
            assertFalse(closeView());
        };
        assertTrue(compactions.runOne());
        assertReclaims(before);
    }

    /** Whoever comes because of that finds the one who has just met the view, and leaves again. */
    @Test
    void whoMeetsAViewLooksAgainWhenItIsClosedMeanwhile() {
        rest();
        long before = compactions.finished();
        asked = () -> asked = () -> {
            asked = () -> {};
            assertTrue(closeView());
            assertFalse(compactions.runOne(), "one thread at a time");
        };
        assertTrue(compactions.runOne());
        assertReclaims(before);
    }
}
