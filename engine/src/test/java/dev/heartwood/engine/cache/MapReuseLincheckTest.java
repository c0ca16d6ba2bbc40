package dev.heartwood.engine.cache;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Two frames for two pages that are not in one part of the map, so that a frame is now a page and now such a part: what is read is
 * always the page that was asked for.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:1")
public class MapReuseLincheckTest {
    private final TwoPages pages = TwoPages.farApart();

    public MapReuseLincheckTest() {
        pages.leaveFrames(2);
    }

    @Operation
    public long read(@Param(name = "page") int page) {
        return pages.read(page);
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
