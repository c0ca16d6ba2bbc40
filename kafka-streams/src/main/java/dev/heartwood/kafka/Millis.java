package dev.heartwood.kafka;

import java.time.Duration;

/** Durations as Kafka Streams counts them. */
final class Millis {
    private static final long SEGMENT_MIN = 60_000;

    private Millis() {}

    /**
     * A duration in milliseconds.
     *
     * @throws IllegalArgumentException when it is negative or too long; the message begins with the name
     */
    static long of(String name, Duration duration) {
        long millis;
        try {
            millis = duration.toMillis();
        } catch (NullPointerException | ArithmeticException e) {
            throw new IllegalArgumentException(name + " cannot be counted in milliseconds: " + duration, e);
        }
        if (millis < 0) {
            throw new IllegalArgumentException(name + " cannot be negative: " + duration);
        }
        return millis;
    }

    /** The length of a time segment, unless something else is known of how a store is read: half the retention, a minute at least. */
    static long segment(long retentionMillis) {
        return Math.max(retentionMillis / 2, SEGMENT_MIN);
    }
}
