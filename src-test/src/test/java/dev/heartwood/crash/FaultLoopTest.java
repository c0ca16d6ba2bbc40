package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultLoop;
import dev.heartwood.testkit.FaultLoop.Part;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SteppedCallers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every single operation on the storage fails, once and for good, from the making of a store to its closing. */
class FaultLoopTest {
    /** Beside so many a store has less of its log in memory than a segment has, and has to bring in what follows. */
    private static final int NEIGHBOURS = 8;

    private static SteppedCallers callers;

    @BeforeAll
    static void startCallers() {
        callers = new SteppedCallers(2);
    }

    @AfterAll
    static void stopCallers() {
        callers.close();
    }

    @ParameterizedTest
    @EnumSource(OperationKind.class)
    void everyOperationOfAKindMayFail(OperationKind kind) {
        Campaign.run(getClass(), 1, seed -> {
            int neighbours = kind == OperationKind.SLIDE ? NEIGHBOURS : 0;
            FaultLoop loop = new FaultLoop(seed, PowerLossTest.options(seed), neighbours, callers);
            for (Part part : Part.values()) {
                loop.run(part, kind, Errno.EIO, Duration.ONCE);
                loop.run(part, kind, Errno.EIO, Duration.FOR_GOOD);
            }
            Campaign.report(getClass(), loop.runs(), "histories with a failing " + kind);
            assertTrue(loop.struck() > 0, "no " + kind + " ever failed");
        });
    }

    /** Blocks are allocated before they are written, so only these can find no space. */
    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"ALLOCATE", "MAP"})
    void everyOperationOfAKindMayFindTheDiskFullOnce(OperationKind kind) {
        Campaign.run(getClass(), 1, seed -> {
            FaultLoop loop = new FaultLoop(seed, PowerLossTest.options(seed), callers);
            for (Part part : Part.values()) {
                loop.run(part, kind, Errno.ENOSPC, Duration.ONCE);
            }
            Campaign.report(getClass(), loop.runs(), "histories whose disk was full for one " + kind);
            assertTrue(loop.struck() > 0, "no " + kind + " ever found the disk full");
        });
    }

    @ParameterizedTest
    @EnumSource(Errno.class)
    void anyErrnoIsATypedException(Errno errno) {
        Campaign.run(getClass(), 1, seed -> {
            FaultLoop loop = new FaultLoop(seed, PowerLossTest.options(seed), callers);
            for (long nth = 1; loop.runOne(Part.SECOND, null, nth, errno, Duration.FOR_GOOD); nth += 1 + nth / 2) {
                loop.runOne(Part.FIRST, null, nth, errno, Duration.FOR_GOOD);
            }
            Campaign.report(getClass(), loop.runs(), "histories with " + errno);
            assertTrue(loop.struck() > 0, "nothing ever failed with " + errno);
        });
    }
}
