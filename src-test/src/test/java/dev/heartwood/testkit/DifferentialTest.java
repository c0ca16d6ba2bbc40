package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Differential.Sizes;
import dev.heartwood.testkit.TreeStore.Bug;
import dev.heartwood.testkit.TreeStoreHost.Crashes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The driver on a store that is right, where it must say nothing, and on stores with a planted bug, where it must find it. */
class DifferentialTest {
    private static final Sizes SIZES = new Sizes(150, 2000, 20_000);

    @Test
    void aCorrectStorePasses() {
        Campaign.run(getClass(), 10, seed -> Differential.run(
                seed,
                Campaign.operations(3000),
                SIZES,
                () -> new TreeStoreHost(Bug.NONE, Crashes.KEEP_EVERYTHING)));
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aPlantedBugIsFoundAndCutDown(Bug bug) {
        AssertionError found = assertThrows(
                AssertionError.class,
                () -> Differential.run(1, 4000, SIZES, () -> new TreeStoreHost(bug, Crashes.KEEP_EVERYTHING)));
        assertTrue(found.getMessage().contains("operations alone"), found::getMessage);
    }

    @Test
    void aLostKeyAfterACrashIsFound() {
        assertThrows(
                AssertionError.class,
                () -> Differential.run(1, 4000, SIZES, () -> new TreeStoreHost(Bug.NONE, Crashes.LOSE_A_KEY)));
    }
}
