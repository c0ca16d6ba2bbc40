package dev.heartwood.engine.log;

/** Counts the LSNs that are missing from an ascending series. One thread. */
final class LsnGaps {
    private long expected;
    private long first = -1;
    private long count;

    LsnGaps(long expected) {
        this.expected = expected;
    }

    /** Takes the next LSN present, not below the one expected. */
    void take(long lsn) {
        reach(lsn);
        expected = lsn + 1;
    }

    /** Everything not taken below {@code lsn} is missing. */
    void reach(long lsn) {
        if (lsn > expected) {
            first = first < 0 ? expected : first;
            count += lsn - expected;
            expected = lsn;
        }
    }

    /** The LSN after the last one taken or reached. */
    long expected() {
        return expected;
    }

    /** The first missing LSN: the one after the last when there is no gap. */
    long first() {
        return first < 0 ? expected : first;
    }

    long count() {
        return count;
    }
}
