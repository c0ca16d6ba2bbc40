package dev.heartwood.engine.store;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** The sequence numbers that open snapshots and cursors see, with how many see each. Thread-safe. */
final class LiveSnapshots {
    private final TreeMap<Long, Integer> counts = new TreeMap<>();

    /** Draws a sequence number and registers it, in one step against {@link #sequences}. */
    synchronized long open(LongSupplier newest) {
        long sequence = newest.getAsLong();
        counts.merge(sequence, 1, Integer::sum);
        return sequence;
    }

    /** Registers a number that is registered already, once more. */
    synchronized void openAgain(long sequence) {
        counts.merge(sequence, 1, Integer::sum);
    }

    synchronized void close(long sequence) {
        counts.computeIfPresent(sequence, (s, count) -> count == 1 ? null : count - 1);
    }

    /** The numbers, ascending. */
    synchronized long[] sequences() {
        long[] sequences = new long[counts.size()];
        int i = 0;
        for (Map.Entry<Long, Integer> entry : counts.entrySet()) {
            sequences[i++] = entry.getKey();
        }
        return sequences;
    }

    /** How many snapshots and cursors are open. */
    synchronized int count() {
        int count = 0;
        for (int c : counts.values()) {
            count += c;
        }
        return count;
    }
}
