package dev.heartwood.soak;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** What a loading process says of itself at its end: how long the longest calls took, and how many were refused memory. Thread-safe. */
final class StressReport {
    private static final int NANOS_PER_MILLI = 1_000_000;

    private final Map<String, Long> longest = new TreeMap<>();
    private final LongAdder refused = new LongAdder();

    /** A call of a kind that began then has ended now. */
    void took(String kind, long startedNanos) {
        long millis = (System.nanoTime() - startedNanos) / NANOS_PER_MILLI;
        if (millis > 0) {
            synchronized (longest) {
                longest.merge(kind, millis, Math::max);
            }
        }
    }

    /** A call found no memory. */
    void refused() {
        refused.increment();
    }

    /** A line of words and numbers. */
    @Override
    public String toString() {
        synchronized (longest) {
            return "longest, ms: " + longest + ", refused " + refused;
        }
    }
}
