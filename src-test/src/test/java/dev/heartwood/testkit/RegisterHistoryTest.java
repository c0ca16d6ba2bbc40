package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.RegisterHistory.Kind;
import org.junit.jupiter.api.Test;

/** The checker accepts what some order explains, and nothing else. */
class RegisterHistoryTest {
    private final RegisterHistory history = new RegisterHistory();

    @Test
    void aReadMaySeeAWriteThatOverlapsIt() {
        history.add(Kind.WRITE, 1, 0, 10);
        history.add(Kind.READ, 1, 2, 3);
        history.add(Kind.READ, 1, 4, 5);
        assertTrue(history.isLinearizable(), history::toString);
    }

    @Test
    void whatWasSeenOnceStaysSeen() {
        history.add(Kind.WRITE, 1, 0, 10);
        history.add(Kind.READ, 1, 2, 3);
        history.add(Kind.READ, 0, 4, 5);
        assertFalse(history.isLinearizable());
    }

    @Test
    void aReadSeesWhatReturnedBeforeIt() {
        history.add(Kind.WRITE, 1, 0, 1);
        history.add(Kind.WRITE, 2, 2, 3);
        history.add(Kind.READ, 1, 4, 5);
        assertFalse(history.isLinearizable());
    }

    @Test
    void aWriteThatNeverReturnedMayHaveHappenedOrNot() {
        history.add(Kind.WRITE, 1, 0, 1);
        history.add(Kind.WRITE, 2, 2, RegisterHistory.NEVER);
        history.add(Kind.READ, 1, 4, 5);
        assertTrue(history.isLinearizable());
        history.add(Kind.READ, 2, 6, 7);
        assertTrue(history.isLinearizable());
        history.add(Kind.READ, 1, 8, 9);
        assertFalse(history.isLinearizable());
    }
}
