package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.ExhaustiveCrashes;
import dev.heartwood.testkit.ExhaustiveCrashes.Thoroughness;
import org.junit.jupiter.api.Test;

/**
 * All sequences of up to three operations, crashed before every operation on the storage, and again during recovery, three deep.
 * {@code -Dheartwood.thorough} tries many more ways of each crash.
 */
class ExhaustiveCrashTest {
    private static final int LENGTH_MAX = 3;
    private static final Thoroughness SHORT = new Thoroughness(3, 1, 3, 10, 8);
    private static final Thoroughness LONG = new Thoroughness(6, 6, 3, 1, 1);

    @Test
    void everyShortSequenceSurvivesACrashAnywhere() {
        Campaign.run(getClass(), 1, seed -> {
            Thoroughness thoroughness = Boolean.getBoolean("heartwood.thorough") ? LONG : SHORT;
            try (ExhaustiveCrashes crashes = new ExhaustiveCrashes(seed, PowerLossTest.options(seed), thoroughness)) {
                for (int length = 0; length <= LENGTH_MAX; length++) {
                    crashes.runAll(length);
                }
                assertTrue(crashes.images() > 10_000, "only " + crashes.images() + " images");
                Campaign.report(getClass(), crashes.images(), "images of crashed disks");
            }
        });
    }
}
