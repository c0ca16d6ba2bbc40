package dev.heartwood.engine.auto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** When memory is lent, second by second. */
class LoanPolicyTest {
    private static final long MEMTABLE_BYTES = 24 << 20;
    private static final long FEW = MEMTABLE_BYTES / 100;
    private static final long MANY = MEMTABLE_BYTES / 5;
    private static final int HOUR = 3600;

    private final LoanPolicy policy = new LoanPolicy(MEMTABLE_BYTES);
    private int changes;
    private boolean lent;

    /** Seconds of so many in which memory may be lent. */
    private int lentIn(int seconds, IntFunction<Long> load) {
        int lending = 0;
        for (int i = 0; i < seconds; i++) {
            boolean now = policy.mayLend(load.apply(i));
            changes += now == lent ? 0 : 1;
            lent = now;
            lending += now ? 1 : 0;
        }
        return lending;
    }

    @Test
    void itLendsWhileLittleIsWritten() {
        assertEquals(59, lentIn(60, i -> 0L));
        assertEquals(60, lentIn(60, i -> FEW));
        assertEquals(0, lentIn(60, i -> MANY));
        assertTrue(lentIn(60, i -> 0L) > 40);
    }

    @Test
    void itDoesNotLendDuringALoad() {
        assertEquals(0, lentIn(60, i -> MANY));
    }

    @Test
    void inABurstNothingIsLent() {
        lentIn(60, i -> 0L);
        assertFalse(policy.mayLend(MANY));
        assertTrue(policy.mayLend(0), "one second of writes is none");
    }

    /** A load that writes for some seconds now and then is soon followed only every few minutes. */
    @Test
    void itIsDamped() {
        for (int period = 4; period < 60; period++) {
            int length = period;
            changes = 0;
            lentIn(HOUR, i -> i / length % 2 == 0 ? 0L : MANY);
            assertTrue(changes <= 2 * HOUR / length, changes + " changes");
        }
        int[] follows = new int[1];
        changes = 0;
        for (int i = 0; i < 10 * HOUR; i++) {
            // Whoever turns around whenever memory is lent, and writes too little in a second for that to stop by itself.
            boolean now = policy.mayLend(lent ? MEMTABLE_BYTES / 21 : 0);
            follows[0] += now == lent ? 0 : 1;
            lent = now;
        }
        assertTrue(follows[0] <= 10 * HOUR / 60, follows[0] + " changes");
    }
}
