package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Who waits for the oldest view, and what tells that it need not any more. */
class OldestViewTest {
    private static final long SEQUENCE_MAX = 100;

    private long[] views = {};
    private final OldestView oldest = new OldestView(() -> views, () -> SEQUENCE_MAX);

    private boolean closedTo(long... left) {
        views = left;
        return oldest.closed(left.length == 0 ? OldestView.NONE : left[0]);
    }

    @Test
    void aViewThatSeesAllIsNotWaitedFor() {
        assertEquals(OldestView.NONE, oldest.sequence());
        assertFalse(oldest.isWaitedFor());
        views = new long[] {SEQUENCE_MAX};
        assertEquals(OldestView.NONE, oldest.sequence());
        assertFalse(oldest.isWaitedFor() || oldest.isWaitedFor(60));
        assertFalse(closedTo(), "nobody waits");
    }

    @Test
    void whoWaitsForAllIsToldWhenNoneIsOlder() {
        views = new long[] {5, 60};
        assertEquals(5, oldest.sequence());
        assertTrue(oldest.isWaitedFor());
        assertFalse(closedTo(60));
        assertTrue(oldest.isStillWaitedFor());
        assertTrue(closedTo(SEQUENCE_MAX));
        assertFalse(oldest.isStillWaitedFor());
        assertFalse(closedTo(), "once");
    }

    @Test
    void whoWaitsForLessIsToldWhenTheOldestSeesEnough() {
        views = new long[] {5, 49, 50};
        assertTrue(oldest.isWaitedFor(50));
        assertTrue(oldest.isWaitedFor(), "which does not take that back");
        assertFalse(closedTo(49, 50));
        assertTrue(closedTo(50));
        assertFalse(oldest.isWaitedFor(50));
    }

    /** What a view sees that does not matter for the one may be all that matters for the other. */
    @Test
    void aViewThatSeesEnoughForSomeIsWaitedForByThoseWhoNeedAll() {
        views = new long[] {60};
        assertFalse(oldest.isWaitedFor(50));
        assertTrue(oldest.isWaitedFor());
    }

    @Test
    void oneThatIsClosedInTheMidstIsNotWaitedFor() {
        OldestView closing = new OldestView(
                () -> {
                    long[] seen = views;
                    views = new long[0];
                    return seen;
                },
                () -> SEQUENCE_MAX);
        views = new long[] {5};
        assertFalse(closing.isWaitedFor());
        views = new long[] {5};
        assertFalse(closing.isWaitedFor(50));
    }
}
