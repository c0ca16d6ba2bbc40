package dev.heartwood;

/** The memory budget, or the machine, has not enough memory for the operation. Nothing of it has happened. */
public final class InsufficientMemoryException extends StoreException {
    /** Says what was needed. */
    public InsufficientMemoryException(String message) {
        super(message, null);
    }
}
