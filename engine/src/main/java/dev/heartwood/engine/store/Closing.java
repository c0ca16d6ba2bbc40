package dev.heartwood.engine.store;

/**
 * What is closed one after the other, whatever any of it throws. Made ahead, so that a full Java heap does not keep the closing from
 * beginning. Used once, by one thread.
 */
final class Closing {
    private final Runnable[] steps;

    Closing(Runnable... steps) {
        this.steps = steps;
    }

    /** Takes all steps, in order; returns what was thrown first, or null. */
    Throwable run() {
        Throwable failure = null;
        for (Runnable step : steps) {
            failure = join(failure, run(step));
        }
        return failure;
    }

    /** Takes one step; returns what it threw, or null. */
    static Throwable run(Runnable step) {
        try {
            step.run();
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    /** The first of two failures, each of which may be null, with the other suppressed. */
    static Throwable join(Throwable first, Throwable later) {
        // The JVM may throw one and the same OutOfMemoryError twice.
        if (first == null || later == null || first == later) {
            return first == null ? later : first;
        }
        try {
            first.addSuppressed(later);
        } catch (OutOfMemoryError full) {
            // The first tells what went wrong.
        }
        return first;
    }

    /** Throws a failure, if it is one. */
    static void throwIfAny(Throwable failure) {
        switch (failure) {
            case null -> {}
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new AssertionError("no step throws a checked exception", failure);
        }
    }
}
