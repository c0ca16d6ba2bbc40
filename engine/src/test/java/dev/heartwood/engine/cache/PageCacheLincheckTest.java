package dev.heartwood.engine.cache;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Loads, look-ups, shared locks and evictions of a few pages in every interleaving: a page is always what it should be, and
 * nothing gets stuck.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:1")
public class PageCacheLincheckTest {
    private final TwoPages pages = new TwoPages();

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
                .iterations(4)
                .invocationsPerIteration(12)
                .actorsBefore(0)
                .check(getClass());
    }

    @Test
    void stress() {
        new StressOptions()
                .iterations(8)
                .invocationsPerIteration(100)
                .threads(3)
                .actorsPerThread(4)
                .check(getClass());
    }
}
