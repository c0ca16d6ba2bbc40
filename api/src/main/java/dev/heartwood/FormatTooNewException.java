package dev.heartwood;

/** The store's format is too new for this version of Heartwood. Nothing has changed. */
public final class FormatTooNewException extends StoreException {
    private final int found;

    /**
     * Names the format found and the ones understood.
     *
     * @param directory the store
     * @param found the format version found
     * @param limit the newest version understood
     */
    public FormatTooNewException(String directory, int found, int limit) {
        super(directory + " has format " + found + ", too new: this version reads up to format " + limit, null);
        this.found = found;
    }

    /** The format version found. */
    public int found() {
        return found;
    }
}
