package dev.heartwood;

/** A write or a sync failed earlier, so the store takes no more writes until it is reopened. The cause is that failure. */
public final class PreviousFailureException extends StoreException {
    /** Names the first failure. */
    public PreviousFailureException(Throwable cause) {
        super("the store stopped taking writes after an earlier failure: " + cause.getMessage(), cause);
    }
}
