package dev.heartwood;

/**
 * A page was found damaged. Each page is reported once while a store is open, whoever meets it how often.
 *
 * @param foundBy what was reading
 * @param file the file
 * @param page the page number in the file
 * @param pageType what the page should have been
 * @param expected what was expected of it
 * @param actual what was found
 */
public record CorruptionEvent(
        FoundBy foundBy, String file, long page, String pageType, String expected, String actual) {
    /** What reads pages. */
    public enum FoundBy {
        /** A call of the user, or a merge. */
        READ,
        /** The background scrubber. */
        SCRUB,
        /** {@link KeyValueStore#verify} or {@link KeyValueStore#backup}. */
        VERIFY
    }

    /** The line for a log. */
    @Override
    public String toString() {
        return "damage found by " + foundBy + ": " + file + ": page " + page + " (" + pageType + "): expected " + expected
                + ", found " + actual;
    }
}
