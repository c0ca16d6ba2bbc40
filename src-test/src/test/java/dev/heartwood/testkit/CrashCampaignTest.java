package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Durability;
import dev.heartwood.testkit.JournaledStore.Mistake;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The crash campaign on a durable store that is right, and on ones that make the mistakes it is there to find. */
class CrashCampaignTest {
    private static final int STEPS = 200;

    private static int run(Mistake mistake, long seed, CrashKind kind, Durability... levels) {
        return new CrashCampaign(new JournaledStore(mistake), seed, STEPS, levels).run(kind);
    }

    @Test
    void aCorrectStorePassesPowerLosses() {
        Campaign.run(getClass(), 4, seed -> assertTrue(
                run(Mistake.NONE, seed, CrashKind.POWER_LOSS, Durability.SYNC, Durability.BUFFERED) >= 14));
    }

    @Test
    void aCorrectStorePassesKills() {
        Campaign.run(getClass(), 4, seed -> run(Mistake.NONE, seed, CrashKind.KILL, Durability.BUFFERED));
    }

    @ParameterizedTest
    @EnumSource(value = Mistake.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aMistakeIsFound(Mistake mistake) {
        assertThrows(AssertionError.class, () -> {
            for (long seed = 1; seed <= 12; seed++) {
                run(mistake, seed, CrashKind.POWER_LOSS, Durability.SYNC);
                run(mistake, seed, CrashKind.POWER_LOSS, Durability.BUFFERED);
                run(mistake, seed, CrashKind.KILL, Durability.BUFFERED);
            }
        });
    }
}
