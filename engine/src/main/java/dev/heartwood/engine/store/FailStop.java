package dev.heartwood.engine.store;

import dev.heartwood.PreviousFailureException;

/** Remembers the first failure of a write or a sync; after it the store takes no more writes. Thread-safe. */
final class FailStop {
    private volatile Throwable cause;
    private volatile Runnable whenFailed = () -> {};

    /** Sets what is called when the first failure is latched, by whoever met it, who may hold anything; it throws nothing. */
    void whenFailed(Runnable action) {
        whenFailed = action;
    }

    /** Latches the first failure; later ones are ignored. */
    void fail(Throwable failure) {
        if (latch(failure)) {
            whenFailed.run();
        }
    }

    private synchronized boolean latch(Throwable failure) {
        boolean isFirst = cause == null;
        if (isFirst) {
            cause = failure;
        }
        return isFirst;
    }

    /** The first failure; null when there was none. */
    Throwable cause() {
        return cause;
    }

    /** Throws when something failed earlier. */
    void check() {
        Throwable first = cause;
        if (first != null) {
            throw new PreviousFailureException(first);
        }
    }

    boolean isFailed() {
        return cause != null;
    }
}
