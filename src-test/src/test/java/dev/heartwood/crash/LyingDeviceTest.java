package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.DeceitLoop;
import dev.heartwood.testkit.DeceitLoop.Deceit;
import dev.heartwood.testkit.SteppedCallers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every single read and write of a life lies: is misdirected, is lost, or comes with one bit wrong. */
class LyingDeviceTest {
    @ParameterizedTest
    @EnumSource
    void noLieIsBelieved(Deceit deceit) {
        Campaign.run(getClass(), 1, seed -> {
            try (SteppedCallers callers = new SteppedCallers(2)) {
                DeceitLoop loop = new DeceitLoop(seed, PowerLossTest.options(seed), callers);
                loop.run(deceit);
                Campaign.report(
                        getClass(), loop.lives(), "lives with a " + deceit + ", of which " + loop.noticed() + " noticed it");
                assertTrue(loop.noticed() > 0, "nothing was ever noticed");
            }
        });
    }
}
