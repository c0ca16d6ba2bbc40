package dev.heartwood;

/** The path is not a Heartwood store: missing, not a directory, or holding something else. Nothing has changed. */
public final class NotAStoreException extends StoreException {
    /** Names the path and what was found there. */
    public NotAStoreException(String path, String found) {
        super(path + " is not a Heartwood store: " + found, null);
    }
}
