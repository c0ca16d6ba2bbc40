package dev.heartwood;

/** A store of {@link KeyOrder#HASHED} keys was asked for something that needs sorted ones. Nothing has changed. */
public final class UnorderedStoreException extends UnsupportedOperationException {
    private static final long serialVersionUID = 1L;

    /**
     * Names what was asked for.
     *
     * @param what the call
     */
    public UnorderedStoreException(String what) {
        super(what + " needs keys in order, and this store was made with keyOrder HASHED");
    }
}
