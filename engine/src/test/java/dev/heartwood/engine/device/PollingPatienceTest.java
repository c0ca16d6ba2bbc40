package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PollingPatienceTest {
    private long now = Long.MAX_VALUE - 1_000;
    private long yieldNanos;
    private final PollingPatience patience = new PollingPatience(() -> now, () -> now += yieldNanos);

    /** How long reads do not poll after one that others held up. */
    private long disturb() {
        yieldNanos = PollingPatience.AWAY_NANOS_MAX + 1;
        assertFalse(patience.giveWay(now));
        return pause();
    }

    private long pause() {
        long begin = now;
        while (!patience.mayPoll()) {
            now += 1_000;
        }
        return now - begin;
    }

    @Test
    void pollsWhileItHasItsProcessorAndTheDeviceIsFast() {
        assertTrue(patience.mayPoll());
        yieldNanos = PollingPatience.AWAY_NANOS_MAX;
        assertTrue(patience.giveWay(now));
        assertTrue(patience.mayPoll());
    }

    @Test
    void pausesAfterOthersHadTheProcessor() {
        assertEquals(PollingPatience.PAUSE_NANOS_MIN, disturb(), 1_000);
        yieldNanos = 1;
        assertTrue(patience.giveWay(now));
    }

    @Test
    void pausesForADeviceThatTakesLong() {
        long began = now;
        now += PollingPatience.WAIT_NANOS_MAX;
        assertTrue(patience.giveWay(began));
        now++;
        assertFalse(patience.giveWay(began));
        assertFalse(patience.mayPoll());
    }

    @Test
    void pausesWhenThereAreNoRings() {
        patience.exhausted();
        assertFalse(patience.mayPoll());
    }

    @Test
    void whatDisturbsSeveralReadsCountsOnce() {
        yieldNanos = PollingPatience.AWAY_NANOS_MAX + 1;
        for (int i = 0; i < 5; i++) {
            assertFalse(patience.giveWay(now));
        }
        pause();
        assertEquals(2 * PollingPatience.PAUSE_NANOS_MIN, disturb(), 1_000);
    }

    @Test
    void pausesGrowAndAreForgottenSlowly() {
        disturb();
        assertEquals(2 * PollingPatience.PAUSE_NANOS_MIN, disturb(), 1_000);
        for (int i = 0; i < 20; i++) {
            disturb();
        }
        assertEquals(PollingPatience.PAUSE_NANOS_MAX, disturb(), 1_000);
        // A disturbance in every ten reads leaves pauses long; a thousand good reads do not.
        for (int i = 0; i < 10; i++) {
            patience.paid();
        }
        assertTrue(disturb() > PollingPatience.PAUSE_NANOS_MAX / 2);
        for (int i = 0; i < 1_000; i++) {
            patience.paid();
        }
        assertTrue(disturb() < 4 * PollingPatience.PAUSE_NANOS_MIN);
    }
}
