package dev.heartwood.engine.store;

import java.util.TreeMap;
import java.util.function.LongSupplier;

/** The sequence numbers that open snapshots and cursors see, with how many see each. Thread-safe. */
final class LiveSnapshots {
    private final TreeMap<Long, int[]> counts = new TreeMap<>();

    /** Draws a sequence number and registers it, in one step against {@link #sequences}; it is to be given to {@link #close} as it is. */
    synchronized Long open(LongSupplier newest) {
        Long sequence = newest.getAsLong();
        counts.computeIfAbsent(sequence, s -> new int[1])[0]++;
        return sequence;
    }

    /** Allocates nothing, so that a full Java heap keeps nobody from it. */
    synchronized void close(Long sequence) {
        if (--counts.get(sequence)[0] == 0) {
            counts.remove(sequence);
        }
    }

    /** The numbers, ascending. */
    synchronized long[] sequences() {
        long[] sequences = new long[counts.size()];
        int i = 0;
        for (Long sequence : counts.keySet()) {
            sequences[i++] = sequence;
        }
        return sequences;
    }

    /** How many snapshots and cursors are open. */
    synchronized int count() {
        int count = 0;
        for (int[] each : counts.values()) {
            count += each[0];
        }
        return count;
    }
}
