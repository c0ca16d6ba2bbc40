package dev.heartwood.engine.store;

import dev.heartwood.PreviousFailureException;

/** Remembers the first failure of a write or a sync; after it the store takes no more writes. Thread-safe. */
final class FailStop {
    private volatile Throwable cause;

    /** Latches the first failure; later ones are ignored. */
    synchronized void fail(Throwable failure) {
        if (cause == null) {
            cause = failure;
        }
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
