package dev.heartwood;

/**
 * The memory budget, or the machine, has not enough memory for the operation. Nothing of a write that is refused has happened; {@link
 * Environment#open} and {@link KeyValueStore#backup} say what they leave.
 */
public final class InsufficientMemoryException extends StoreException {
    /** Says what was needed. */
    public InsufficientMemoryException(String message) {
        super(message, null);
    }
}
