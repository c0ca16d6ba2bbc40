package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Clock;
import org.junit.jupiter.api.Test;

class WriteThrottleTest {
    private static final long OVERSLEPT_NANOS = 150_000;

    /** A system that wakes threads late. */
    private static final class LateClock implements Clock {
        private long now;
        private long overslept = OVERSLEPT_NANOS;
        private int parks;

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkNanos(long nanos) {
            now += nanos + overslept;
            parks++;
        }
    }

    private final LateClock clock = new LateClock();
    private final WriteThrottle throttle = new WriteThrottle(clock, 2);

    @Test
    void aPaymentIsDueForEverySixteenKilobytesOfALane() {
        assertFalse(throttle.wrote(0, 16_000));
        assertFalse(throttle.wrote(1, 16_000));
        assertTrue(throttle.wrote(0, 1_000));
        assertFalse(throttle.wrote(0, 16_000));
    }

    @Test
    void whoIsOnTimeIsNotSlowed() {
        throttle.pay(0.4);
        assertEquals(0, clock.parks);
    }

    /** Short delays cost what they should, though every one of them is overslept. */
    @Test
    void whoOversleptHasPaidForWhatComesNext() {
        double share = 0.5;
        throttle.pay(share);
        long owed = clock.now - OVERSLEPT_NANOS;
        assertTrue(owed > 10_000 && owed < OVERSLEPT_NANOS, owed + " ns for a payment");
        int payments = 10_000;
        for (int i = 1; i < payments; i++) {
            throttle.pay(share);
        }
        assertEquals(payments * owed, clock.now, OVERSLEPT_NANOS + owed, "all delays together");
        assertTrue(clock.parks < payments, clock.parks + " delays");
        assertEquals(clock.now, throttle.stallNanos());
    }

    @Test
    void aThreadThatWasHeldUpHasNotPaidForLong() {
        clock.overslept = 10_000_000_000L;
        throttle.pay(1);
        clock.overslept = 0;
        long before = clock.now;
        for (int i = 0; i < 10; i++) {
            throttle.pay(1);
        }
        long delay = 16 * 1024 * 250;
        assertTrue(clock.now - before >= 9 * delay, clock.now - before + " ns for ten payments");
    }
}
