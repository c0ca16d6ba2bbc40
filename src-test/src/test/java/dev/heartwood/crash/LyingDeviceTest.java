package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.DeceitLoop;
import dev.heartwood.testkit.DeceitLoop.Deceit;
import dev.heartwood.testkit.SteppedCallers;
import org.junit.jupiter.api.Test;

/** Every single read and write of a life lies: is misdirected, is lost, or comes with one bit wrong. */
class LyingDeviceTest {
    /** What is there instead was written for the same place at another time. */
    @Test
    void noLostWriteIsBelieved() {
        believeNone(Deceit.LOST_WRITE, "generation");
    }

    @Test
    void noMisdirectedWriteIsBelieved() {
        believeNone(Deceit.MISDIRECTED_WRITE, "address");
    }

    @Test
    void noMisdirectedReadIsBelieved() {
        believeNone(Deceit.MISDIRECTED_READ, "address");
    }

    @Test
    void noFlippedBitIsBelieved() {
        believeNone(Deceit.FLIPPED_READ, "checksum");
    }

    /** Some lies have to be told by {@code field} of a page's header, though most are by others too. */
    private void believeNone(Deceit deceit, String field) {
        Campaign.run(getClass(), 1, seed -> {
            try (SteppedCallers callers = new SteppedCallers(2)) {
                DeceitLoop loop = new DeceitLoop(seed, PowerLossTest.options(seed), callers);
                loop.run(deceit);
                Campaign.report(
                        getClass(), loop.lives(), "lives with a " + deceit + ", of which " + loop.noticed() + " noticed it");
                assertTrue(loop.tells().contains(field), () -> "told by " + loop.tells() + " alone");
            }
        });
    }
}
