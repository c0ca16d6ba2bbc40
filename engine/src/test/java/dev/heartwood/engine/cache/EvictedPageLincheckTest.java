package dev.heartwood.engine.cache;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/**
 * A page that is discarded, in every interleaving with evictions that keep copies: once it was discarded there is no copy of it until it is read
 * again.
 */
public class EvictedPageLincheckTest {
    private static final int PAGE = 0;

    private final TwoPages pages = TwoPages.kept();
    /** Whether somebody reads or discards the page: nobody may do one beside the other. */
    private final AtomicBoolean isUsed = new AtomicBoolean();

    private boolean isDiscarded;

    @Operation
    public void read() {
        if (isUsed.compareAndSet(false, true)) {
            requireNoCopy();
            isDiscarded = false;
            pages.read(PAGE);
            isUsed.set(false);
        }
    }

    @Operation
    public void discard() {
        if (isUsed.compareAndSet(false, true)) {
            requireNoCopy();
            pages.discard(PAGE);
            isDiscarded = true;
            isUsed.set(false);
        }
    }

    @Operation
    public void evict() {
        pages.evict();
    }

    private void requireNoCopy() {
        if (isDiscarded && pages.isKept(PAGE)) {
            throw new AssertionError("a copy of what was discarded");
        }
    }

    @Test
    void modelChecking() {
        TwoPages.twoThreads()
                .iterations(Integer.getInteger("heartwood.scenarios", 8))
                .invocationsPerIteration(500)
                .actorsPerThread(1)
                .actorsBefore(1)
                .actorsAfter(1)
                .check(getClass());
    }
}
