package dev.heartwood.engine.background;

import dev.heartwood.PreviousFailureException;

/** Remembers the first failure of a write or a sync; after it the store takes no more writes. Thread-safe. */
public final class FailStop {
    private volatile Throwable cause;
    private volatile Runnable whenFailed = () -> {};

    /** Sets what is called when the first failure is latched, by whoever met it, who may hold anything; it throws nothing. */
    public void whenFailed(Runnable action) {
        whenFailed = action;
    }

    /** Latches the first failure; later ones are ignored. */
    public void fail(Throwable failure) {
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
    public Throwable cause() {
        return cause;
    }

    /** Throws when something failed earlier. */
    public void check() {
        Throwable first = cause;
        if (first != null) {
            throw new PreviousFailureException(first);
        }
    }

    public boolean isFailed() {
        return cause != null;
    }
}
