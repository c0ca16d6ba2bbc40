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
        assertEquals(1, lentIn(60, i -> MANY));
        int again = lentIn(60, i -> 0L);
        assertTrue(again > 40 && again < 60, again + " seconds");
    }

    @Test
    void itDoesNotLendDuringALoad() {
        assertEquals(0, lentIn(60, i -> MANY));
    }

    @Test
    void aSecondOfSomeWritesEndsNothing() {
        lentIn(60, i -> 0L);
        assertEquals(1, changes);
        assertTrue(policy.mayLend(MEMTABLE_BYTES / 5));
        assertFalse(policy.mayLend(MEMTABLE_BYTES / 5));
    }

    /** What is written in every other second, or now and then, is no less for that. */
    @Test
    void burstsCountWithWhatIsBetweenThem() {
        for (int each : new int[] {2, 5, 10}) {
            LoanPolicyTest bursts = new LoanPolicyTest();
            int lent = bursts.lentIn(HOUR, i -> i % each == 0 ? each * MEMTABLE_BYTES / 10 : 0L);
            assertTrue(lent < HOUR / 10, "every " + each + " s: lent for " + lent + " s");
        }
    }

    /** There is no more than about one change in half a minute, and far fewer where whoever writes goes on whenever memory is lent. */
    @Test
    void itIsDamped() {
        for (int period = 4; period < 60; period++) {
            int length = period;
            LoanPolicyTest alternating = new LoanPolicyTest();
            alternating.lentIn(HOUR, i -> i / length % 2 == 0 ? 0L : MEMTABLE_BYTES);
            assertTrue(alternating.changes <= HOUR / 30, alternating.changes + " changes, every " + length + " s");
        }
        lentIn(10 * HOUR, i -> lent ? MEMTABLE_BYTES : 0L);
        assertTrue(changes > 2 && changes <= 10 * HOUR / 100, changes + " changes");
    }

    @Test
    void whoIsRefusedStopsIt() {
        lentIn(10, i -> 0L);
        policy.stop();
        assertEquals(0, lentIn(5, i -> 0L));
        assertTrue(lentIn(60, i -> 0L) > 0);
    }
}
