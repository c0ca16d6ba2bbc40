package dev.heartwood.kafka;

/**
 * How long windows or sessions are shown and kept, in stream time, by their starts or ends.
 *
 * @param periodMillis what Kafka Streams asks for, by which it also sets the retention of changelogs
 * @param shownMillis what is older than that is not shown
 * @param emittedMillis what is older than that, no less than the other, is not even shown to who emits sessions that have closed
 */
record Retention(long periodMillis, long shownMillis, long emittedMillis) {
    /** The least that Kafka Streams keeps beyond the period. */
    private static final long SLACK_MILLIS_MIN = 60_000;

    /** Of a store whose results are emitted as they change. */
    static Retention of(long periodMillis) {
        return new Retention(periodMillis, periodMillis - 1, periodMillis - 1);
    }

    /**
     * Of a window store whose results are emitted when windows close. As a rule the period is the size of a window and its grace: so one closes when
     * it is exactly as old, and is shown until then.
     */
    static Retention ofClosingWindows(long periodMillis) {
        return new Retention(periodMillis, periodMillis, periodMillis);
    }

    /**
     * Of a session store whose results are emitted when sessions close. As a rule the period is the gap and its grace: so a session is written until
     * it is exactly as old, and has closed when it is older. Those are emitted once a second at most, and after a restart: what is kept for that is
     * as much as Kafka Streams' own stores keep at the most.
     */
    static Retention ofClosingSessions(long periodMillis) {
        long slack = Math.max(periodMillis / 2, SLACK_MILLIS_MIN);
        return new Retention(periodMillis, periodMillis, periodMillis + Math.min(slack, Long.MAX_VALUE - periodMillis));
    }

    /** What is older than that need not be kept. */
    long keptMillis() {
        return Math.max(periodMillis, emittedMillis);
    }
}
