package dev.heartwood;

/** The store's format is too old for this version of Heartwood. Nothing has changed. */
public final class FormatTooOldException extends StoreException {
    private final int found;

    /**
     * Names the format found and the ones understood.
     *
     * @param directory the store
     * @param found the format version found
     * @param limit the oldest version understood
     */
    public FormatTooOldException(String directory, int found, int limit) {
        super(directory + " has format " + found + ", too old: this version reads from format " + limit, null);
        this.found = found;
    }

    /** The format version found. */
    public int found() {
        return found;
    }
}
