package dev.heartwood.differential;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.Differential;
import dev.heartwood.testkit.Differential.Sizes;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SimulatedStoreHost.Running;
import dev.heartwood.testkit.SteppedCallers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Random operations on the engine and on a sorted map, with options that follow from the seed. */
class EngineDifferentialTest {
    private static final Sizes SMALL_RECORDS = new Sizes(4000, 200, 300);

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void onRealFiles() {
        Campaign.run(getClass(), 4, seed -> Differential.run(
                seed, Campaign.operations(6000), Sizes.USUAL, () -> new FileStoreHost(seed)));
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void onRealFilesWithManySmallRecords() {
        Campaign.run(getClass(), 2, seed -> Differential.run(
                seed, Campaign.operations(20_000), SMALL_RECORDS, () -> new FileStoreHost(seed)));
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void onAMachineThatCrashes() {
        Campaign.run(getClass(), 6, seed -> Differential.run(
                seed,
                Campaign.operations(4000),
                Sizes.USUAL,
                () -> new SimulatedStoreHost(seed, Running.IN_THREADS)));
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void onAMachineThatCrashesStepByStep() {
        try (SteppedCallers callers = new SteppedCallers(1)) {
            Campaign.run(getClass(), 3, seed -> callers.call(0, () -> {
                Differential.run(
                        seed,
                        Campaign.operations(4000),
                        Sizes.USUAL,
                        () -> new SimulatedStoreHost(seed, Running.IN_STEPS));
                return null;
            }));
        }
    }
}
