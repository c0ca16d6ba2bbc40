package dev.heartwood.engine.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteThrottleTest {
    private static final long OVERSLEPT_NANOS = 150_000;
    private static final long ENTRY_BYTES = 128;
    private static final long PAYMENT_BYTES = 16 << 10;
    private static final long MEMTABLE_BYTES = 2 << 20;

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
    private final WriteThrottle throttle = new WriteThrottle(clock, 2, MEMTABLE_BYTES, () -> Long.MAX_VALUE);

    @Test
    void aPaymentIsDueForAllThatALaneHasWrittenSinceTheLast() {
        assertFalse(throttle.wrote(0, 16_000));
        assertFalse(throttle.wrote(1, 16_000));
        assertTrue(throttle.wrote(0, 1_000));
        assertFalse(throttle.wrote(0, 16_000));
    }

    @Test
    void ofLargeMemtablesMoreIsPaidForAtATime() {
        WriteThrottle large = new WriteThrottle(clock, 1, 64 << 20, () -> Long.MAX_VALUE);
        assertFalse(large.wrote(0, 64_000));
        assertTrue(large.wrote(0, 2_000));
    }

    @Test
    void manyWritersPayForLessAtATime() {
        WriteThrottle shared = new WriteThrottle(new StandingClock(new ArrayList<>()), 1, 64 << 20, () -> Long.MAX_VALUE);
        shared.pay(0.6, 0);
        assertFalse(shared.wrote(0, 60_000));
        assertTrue(shared.wrote(0, 6_000));
        for (int writer = 0; writer < 8; writer++) {
            shared.pay(0.6, 0);
        }
        assertTrue(shared.wrote(0, 30_000), "when eight have to wait for each other");
    }

    @Test
    void whoIsOnTimeIsNotSlowed() {
        throttle.pay(0.4, 0);
        assertEquals(0, clock.parks);
    }

    /** Where merges come to less than what is written, what they owe would grow for as long as that goes on. */
    @Test
    void whoWritesPaysMoreTheMoreMergesOweBeyondWhatTheyMay() {
        long[] waited = new long[4];
        double[] shares = {1, 2, 8, 400};
        for (int i = 0; i < shares.length; i++) {
            LateClock punctual = new LateClock();
            punctual.overslept = 0;
            WriteThrottle one = new WriteThrottle(punctual, 1, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
            long written = 0;
            one.pay(shares[i], 0);
            long begun = punctual.now;
            while (written < 1 << 20) {
                written += ENTRY_BYTES;
                if (one.wrote(0, ENTRY_BYTES)) {
                    one.pay(shares[i], 0);
                }
            }
            waited[i] = punctual.now - begun;
        }
        assertEquals(2, (double) waited[1] / waited[0], 0.2);
        assertEquals(8, (double) waited[2] / waited[0], 0.8);
        assertEquals(waited[2], waited[3], "a megabyte a second may be written whatever they owe");
    }

    /** Short delays cost what they should, though every one of them is overslept. */
    @Test
    void whoOversleptHasPaidForWhatComesNext() {
        double share = 0.5;
        while (clock.parks == 0) {
            throttle.pay(share, 0);
        }
        long begun = clock.now;
        double pressure = (share - 0.4) / 0.6;
        long owed = (long) (PAYMENT_BYTES * 125 * pressure * pressure);
        assertTrue(owed > 10_000 && owed < OVERSLEPT_NANOS, owed + " ns for a payment");
        int payments = 10_000;
        for (int i = 0; i < payments; i++) {
            throttle.pay(share, 0);
        }
        assertEquals(payments * owed, clock.now - begun, OVERSLEPT_NANOS + owed, "all delays together");
        assertTrue(clock.parks < payments, clock.parks + " delays");
        assertEquals(clock.now, throttle.stallNanos());
    }

    /** With as many writers as there were processors, and more, all memory of memtables was full before the packer came by. */
    @Test
    void writersThatPayAtOnceWaitForEachOther() {
        List<Long> delays = new ArrayList<>();
        WriteThrottle shared = new WriteThrottle(new StandingClock(delays), 2, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        shared.pay(1, 0);
        delays.clear();
        for (int writer = 0; writer < 4; writer++) {
            shared.pay(0.7, 0);
        }
        for (int writer = 1; writer < 4; writer++) {
            long each = delays.get(writer) - delays.get(writer - 1);
            assertTrue(each > 100_000, each + " ns for writer " + writer);
        }
        for (int writer = 0; writer < 100; writer++) {
            shared.pay(1, 0);
        }
        assertEquals(8_000_000, delays.getLast(), "nobody waits for longer");
    }

    /** Hundreds of writers asked for more time than there was, and whoever wrote when all was cheap again waited for what they had not. */
    @Test
    void whatManyWritersDidNotWaitForNobodyWaitsForLater() {
        List<Long> delays = new ArrayList<>();
        StandingClock still = new StandingClock(delays);
        WriteThrottle shared = new WriteThrottle(still, 2, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        for (int writer = 0; writer < 1000; writer++) {
            shared.pay(1, 0);
        }
        assertEquals(8_000_000, delays.getLast());
        still.now = delays.getLast();
        delays.clear();
        shared.pay(0.5, 0);
        shared.pay(0.5, 0);
        assertTrue(delays.stream().allMatch(delay -> delay < OVERSLEPT_NANOS), delays + " ns");
    }

    /** However slow packing is, what is left lasts: of each further half of it a byte costs more than half as much again. */
    @Test
    void memoryOfMemtablesBecomesDearAsItRunsOut() {
        assertEquals(0, costOfMemory(0.4));
        long before = costOfMemory(0.7);
        for (double left : new double[] {0.25, 0.125, 0.0625}) {
            long cost = costOfMemory(1 - left * 0.6);
            assertTrue(cost > 1.5 * before, "with " + left + " left " + cost + " ns for a payment, before " + before);
            before = cost;
        }
        assertTrue(costOfMemory(1) > 100_000_000, "what is left when all is taken");
    }

    /** What 16 KiB take in the long run. */
    private static long costOfMemory(double share) {
        LateClock punctual = new LateClock();
        punctual.overslept = 0;
        WriteThrottle slowed = new WriteThrottle(punctual, 1, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        long bytes = 1 << 20;
        for (long written = 0; written < bytes; written += ENTRY_BYTES) {
            if (slowed.wrote(0, ENTRY_BYTES)) {
                slowed.pay(0, share);
            }
        }
        return punctual.now / (bytes >> 14);
    }

    /** The disk answered nobody for half a second: three megabytes of memory were gone after a tenth of one, and writers waited for the rest. */
    @Test
    void memoryOfMemtablesLastsWhileNothingIsPacked() {
        LateClock punctual = new LateClock();
        punctual.overslept = 0;
        WriteThrottle slowed = new WriteThrottle(punctual, 1, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        long bytes = 3 << 20;
        long longest = 0;
        for (long used = 0; used < bytes; used += ENTRY_BYTES) {
            if (slowed.wrote(0, ENTRY_BYTES)) {
                long before = punctual.now;
                slowed.pay(0, 0.4 + 0.6 * used / bytes);
                longest = Math.max(longest, punctual.now - before);
            }
        }
        assertTrue(punctual.now > 500_000_000, punctual.now + " ns until it is full");
        assertTrue(longest < 6_000_000, longest + " ns for a payment");
    }

    /** What a MiB takes that is written so many bytes at a time. */
    private static long costOfDebt(int bytesAtOnce) {
        LateClock punctual = new LateClock();
        punctual.overslept = 0;
        WriteThrottle slowed = new WriteThrottle(punctual, 1, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        for (int written = 0; written < 1 << 20; written += bytesAtOnce) {
            if (slowed.wrote(0, bytesAtOnce)) {
                slowed.pay(0.7, 0);
            }
        }
        return punctual.now;
    }

    /** Batches and large values paid as much as small entries, once, whatever they were: memory was gone and much was owed all the same. */
    @Test
    void whatIsWrittenAtOncePaysForAllOfIt() {
        long small = costOfDebt((int) ENTRY_BYTES);
        assertTrue(small > 20_000_000, small + " ns");
        assertEquals(small, costOfDebt(128 << 10), 1_000);
        LateClock punctual = new LateClock();
        punctual.overslept = 0;
        WriteThrottle slowed = new WriteThrottle(punctual, 1, MEMTABLE_BYTES, () -> Long.MAX_VALUE);
        assertTrue(slowed.wrote(0, 1 << 30));
        slowed.pay(1, 0);
        assertTrue(punctual.now > 6_000_000 && punctual.now <= 8_000_000, punctual.now + " ns: nobody waits for longer");
        assertTrue(slowed.wrote(0, 1 << 30));
        slowed.pay(0, 0);
        long before = punctual.now;
        assertTrue(slowed.wrote(0, PAYMENT_BYTES));
        slowed.pay(0.7, 0);
        assertTrue(punctual.now - before < 1_000_000, "what was free is not paid for later");
    }

    /** What small entries came to while a payment was for more is no large write when it is for less. */
    @Test
    void whatSmallWritesCameToIsNotPaidForAtOnce() {
        LateClock punctual = new LateClock();
        punctual.overslept = 0;
        WriteThrottle shared = new WriteThrottle(punctual, 2, 64 << 20, () -> Long.MAX_VALUE);
        for (int i = 0; i < 400; i++) {
            assertFalse(shared.wrote(0, ENTRY_BYTES));
        }
        shared.pay(0, 0.95);
        long before = punctual.now;
        assertTrue(shared.wrote(0, ENTRY_BYTES));
        shared.pay(0, 0.95);
        assertTrue(punctual.now - before < 3_000_000, punctual.now - before + " ns");
    }

    @Test
    void whatBecomesCheapAgainIsPaidForInLargeParts() {
        throttle.pay(0, 1);
        assertTrue(throttle.wrote(0, 300), "dear");
        throttle.pay(0, 0);
        assertFalse(throttle.wrote(0, 16_000));
    }

    /** A clock that stands still, as for writers that come at the same moment. */
    private static final class StandingClock implements Clock {
        private final List<Long> delays;
        private long now;

        StandingClock(List<Long> delays) {
            this.delays = delays;
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkNanos(long nanos) {
            delays.add(nanos);
        }
    }

    @Test
    void writersThatWereHeldUpHaveNotPaidForLong() {
        clock.overslept = 10_000_000_000L;
        throttle.pay(1, 0);
        clock.overslept = 0;
        long before = clock.now;
        for (int i = 0; i < 10; i++) {
            throttle.pay(1, 0);
        }
        long delay = 2_000_000;
        assertTrue(clock.now - before >= 9 * delay, clock.now - before + " ns for ten payments");
    }
}
