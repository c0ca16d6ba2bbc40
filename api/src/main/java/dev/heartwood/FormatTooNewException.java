package dev.heartwood;

/** The store's format, or an option that it was written with, is too new for this version of Heartwood. Nothing has changed. */
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

    /**
     * Says that a format which is understood comes with options that are not, as a later version may print them.
     *
     * @param directory the store
     * @param found the format version found
     * @param option what is not understood
     */
    public FormatTooNewException(String directory, int found, String option) {
        super(
                directory + " has options that this version does not understand, so that a later one has written it: " + option,
                null);
        this.found = found;
    }

    /** The format version found; one that is understood where options are not. */
    public int found() {
        return found;
    }
}
