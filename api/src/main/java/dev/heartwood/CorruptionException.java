package dev.heartwood;

/** Bytes read from the device are not what was written there. The rest of the store stays readable. */
public final class CorruptionException extends StoreException {
    private final String file;
    private final long page;
    private final String pageType;
    private final String expected;
    private final String actual;

    /**
     * Describes one damaged page or record.
     *
     * @param file its path
     * @param page the page number in the file, or the byte offset divided by 4096
     * @param pageType what the page should have been
     * @param expected what was expected of it
     * @param actual what was found
     */
    public CorruptionException(String file, long page, String pageType, String expected, String actual) {
        super(
                file + ": page " + page + " (" + pageType + ") is damaged: expected " + expected + ", found " + actual,
                null);
        this.file = file;
        this.page = page;
        this.pageType = pageType;
        this.expected = expected;
        this.actual = actual;
    }

    /** The path of the damaged file. */
    public String file() {
        return file;
    }

    /** The page number in the file. */
    public long page() {
        return page;
    }

    /** What the page should have been. */
    public String pageType() {
        return pageType;
    }

    /** What was expected. */
    public String expected() {
        return expected;
    }

    /** What was found. */
    public String actual() {
        return actual;
    }
}
