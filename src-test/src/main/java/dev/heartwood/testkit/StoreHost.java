package dev.heartwood.testkit;

import dev.heartwood.KeyValueStore;
import java.util.random.RandomGenerator;

/** Where a differential run finds its store: opens it again and again, and can crash what it lives on. */
public interface StoreHost extends AutoCloseable {
    /** Opens the store; what was written before is there. The options may differ from one open to the next. */
    KeyValueStore open(RandomGenerator random);

    /** Whether {@link #crash} may be called. */
    default boolean canCrash() {
        return false;
    }

    /**
     * Ends the machine as it is now; the next {@link #open} finds what survived. The store opened last is still to be closed, which
     * changes nothing that matters any more.
     */
    default void crash(CrashKind kind, RandomGenerator random) {
        throw new UnsupportedOperationException("this host does not crash");
    }

    /** Called after every operation: lets the background work where it does not by itself. */
    default void step() {}

    /** Checks the closed store's files as a whole; throws when something is wrong. */
    default void verify() {}

    @Override
    default void close() {}

    /** Checks that the store that is open, of which no views are, has lost track of no space, if that can be told. */
    default void requireNoLeak() {}
}
