package dev.heartwood;

/** The device or the store's own limit is full. Nothing of the refused write has happened; reads and deletes go on. */
public final class NoSpaceException extends StoreException {
    /** Says what is full. */
    public NoSpaceException(String message) {
        super(message, null);
    }
}
