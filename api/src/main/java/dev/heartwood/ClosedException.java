package dev.heartwood;

/** The store, snapshot, cursor, batch or environment was used after it was closed. */
public final class ClosedException extends StoreException {
    /** Names what is closed. */
    public ClosedException(String what) {
        super(what + " is closed", null);
    }
}
