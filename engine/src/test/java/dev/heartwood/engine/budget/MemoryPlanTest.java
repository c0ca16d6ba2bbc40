package dev.heartwood.engine.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPlanTest {
    /** The largest block for calls, a power of two, has small ones beside it: one that has few of them would soon be cut. */
    @Test
    void theLargestBlockForCallsHasRoomBesideIt() {
        for (long mebibytes = 16; mebibytes <= 4096; mebibytes++) {
            MemoryPlan plan = MemoryPlan.of(EnvironmentOptions.builder().memory(ByteSize.mib(mebibytes)).build());
            long beside = plan.foregroundBytes() - Long.highestOneBit(plan.foregroundBytes());
            assertTrue(beside >= 128 << 10, plan::toString);
        }
    }

    /** A part of each budget was nobody's. */
    @ParameterizedTest
    @ValueSource(longs = {16, 17, 64, 100, 256, 1024, 4096, 65_536})
    void allOfABudgetIsForSomething(long mebibytes) {
        ByteSize budget = ByteSize.mib(mebibytes);
        MemoryPlan plan = MemoryPlan.of(EnvironmentOptions.builder().memory(budget).build());
        long[] pools = {plan.memtablesBytes(), plan.mergeBytes(), plan.foregroundBytes(), plan.cacheBytes(), plan.recordBytes(), plan.logBytes()};
        long sum = 0;
        for (long pool : pools) {
            assertTrue(pool > 0, plan::toString);
            sum += pool;
        }
        assertEquals(budget.bytes(), sum, plan::toString);
        assertTrue(plan.framesBytes() > plan.cacheBytes() / 2, plan::toString);
    }
}
