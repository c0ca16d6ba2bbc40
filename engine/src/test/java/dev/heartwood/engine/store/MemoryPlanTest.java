package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPlanTest {
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
