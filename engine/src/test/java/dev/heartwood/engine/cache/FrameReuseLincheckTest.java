package dev.heartwood.engine.cache;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * A single frame for two pages, so that whatever is loaded reuses it: a shared lock is never one on a frame that has come to
 * hold another page.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:1")
public class FrameReuseLincheckTest {
    private final TwoPages pages = new TwoPages();

    public FrameReuseLincheckTest() {
        pages.leaveFrames(2);
    }

    @Operation
    public long lockAndRead(@Param(name = "page") int page) {
        return pages.lockAndRead(page);
    }

    @Operation
    public void evict() {
        pages.evict();
    }

    @Test
    void modelChecking() {
        TwoPages.twoThreads()
                .iterations(8)
                .invocationsPerIteration(25)
                .actorsBefore(1)
                .check(getClass());
    }
}
