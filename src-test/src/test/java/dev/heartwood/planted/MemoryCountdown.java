package dev.heartwood.planted;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FaultLoop;
import dev.heartwood.testkit.FaultLoop.OtherFault;
import dev.heartwood.testkit.FaultLoop.Part;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.SteppedCallers;
import dev.heartwood.testkit.TailMergeOperator;

/**
 * Carries a history out while the pools of native memory refuse the first, the second, the third block; runs in the engine that
 * {@link MemoryCountdownTest} has loaded, whose pools ask {@link #refuses} first.
 */
public final class MemoryCountdown implements OtherFault, Runnable {
    private static long allowed = Long.MAX_VALUE;
    private static boolean once;
    private static boolean struck;

    /** Whether a pool refuses the block that it is asked for now. */
    public static synchronized boolean refuses() {
        if (allowed == Long.MAX_VALUE) {
            return false;
        }
        if (--allowed > 0) {
            return false;
        }
        struck = true;
        if (once) {
            allowed = Long.MAX_VALUE;
        }
        return true;
    }

    @Override
    public void arm(long nth, Duration duration) {
        synchronized (MemoryCountdown.class) {
            allowed = nth;
            once = duration == Duration.ONCE;
            struck = false;
        }
    }

    @Override
    public boolean hasStruck() {
        synchronized (MemoryCountdown.class) {
            return struck;
        }
    }

    @Override
    public boolean heal() {
        synchronized (MemoryCountdown.class) {
            allowed = Long.MAX_VALUE;
            return struck;
        }
    }

    /** Refuses nothing any more. */
    void grant() {
        synchronized (MemoryCountdown.class) {
            allowed = Long.MAX_VALUE;
        }
    }

    @Override
    public void run() {
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .fanout(4)
                .checkpointDistance(2)
                .mergeOperator(new TailMergeOperator())
                .build();
        try (SteppedCallers callers = new SteppedCallers(2)) {
            FaultLoop loop = new FaultLoop(1, options, callers);
            for (Part part : Part.values()) {
                loop.run(part, this, Duration.ONCE);
                loop.run(part, this, Duration.FOR_GOOD);
            }
            Campaign.report(MemoryCountdown.class, loop.runs(), "histories that were refused a block of memory");
        }
    }
}
