package dev.heartwood.engine.auto;

/**
 * Decides whether records or pages are to have memory that is lent: those of which more is found in each byte that they have. Belongs to one
 * thread at a time.
 */
public final class LoanChoice {
    /** How many times as much has to be found for the other to have it, and how often in an interval at least. */
    private static final double TIMES = 2;

    private static final long FOUND_MIN = 100;

    private final Damping damping = new Damping();
    private boolean isForRecords = true;

    /**
     * Whether records are to have what is lent, and not pages, after an interval.
     *
     * @param recordsFound those that were not looked for on a page, in {@code recordBytes}
     * @param pagesFound those that were not read from the device, in {@code pageBytes} of lent memory
     */
    public boolean isForRecords(long recordsFound, long recordBytes, long pagesFound, long pageBytes) {
        // By bytes of both, so that nothing is divided by none.
        double forRecords = (double) recordsFound * pageBytes;
        double forPages = (double) pagesFound * recordBytes;
        boolean isWanted = isForRecords
                ? pagesFound >= FOUND_MIN && forPages > TIMES * forRecords
                : recordsFound >= FOUND_MIN && forRecords > TIMES * forPages;
        if (damping.allows(isWanted)) {
            isForRecords = !isForRecords;
            damping.changed();
        }
        return isForRecords;
    }
}
