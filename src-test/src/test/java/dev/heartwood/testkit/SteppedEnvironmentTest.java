package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;

/** One seed is one history: every operation on the storage, in the same order, and the same bytes at the end. */
class SteppedEnvironmentTest {
    @Test
    void aSeedRepeatsExactly() {
        Campaign.run(getClass(), 4, seed -> {
            SteppedHistory first = SteppedHistory.run(seed, 1500);
            SteppedHistory second = SteppedHistory.run(seed, 1500);
            assertEquals(first.trace(), second.trace());
            assertEquals(first.contents(), second.contents());
        });
    }

    @Test
    void anotherSeedIsAnotherHistory() {
        assertNotEquals(SteppedHistory.run(1, 300).contents(), SteppedHistory.run(2, 300).contents());
    }
}
