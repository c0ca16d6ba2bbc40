package dev.heartwood.engine.read;

import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/** The sequence numbers that open snapshots and cursors see, with how many see each. Thread-safe. */
public final class LiveSnapshots {
    /** What {@link #remove} returns when others that are as old, or older, are open. */
    private static final long NOT_THE_OLDEST = -1;

    private final TreeMap<Long, int[]> counts = new TreeMap<>();
    private LongConsumer whenOldestGoes = oldest -> {};

    /**
     * Sets what is called whenever no number is as small any more as the smallest was, with that which is now, Long.MAX_VALUE when there is
     * none. Once, before the first is opened; must be quick and as a rule allocate nothing, as it is part of closing every cursor.
     */
    public void whenOldestGoes(LongConsumer action) {
        whenOldestGoes = action;
    }

    /** Draws a sequence number and registers it, in one step against {@link #sequences}; it is to be given to {@link #close} as it is. */
    synchronized Long open(LongSupplier newest) {
        Long sequence = newest.getAsLong();
        counts.computeIfAbsent(sequence, s -> new int[1])[0]++;
        return sequence;
    }

    /** Allocates nothing, so that a full Java heap keeps nobody from it. */
    void close(Long sequence) {
        long oldest = remove(sequence);
        if (oldest != NOT_THE_OLDEST) {
            whenOldestGoes.accept(oldest);
        }
    }

    /** Returns the smallest number that is left if a smaller one is gone. */
    private synchronized long remove(Long sequence) {
        if (--counts.get(sequence)[0] > 0) {
            return NOT_THE_OLDEST;
        }
        boolean wasOldest = counts.firstKey().longValue() == sequence.longValue();
        counts.remove(sequence);
        if (!wasOldest) {
            return NOT_THE_OLDEST;
        }
        return counts.isEmpty() ? Long.MAX_VALUE : counts.firstKey();
    }

    /** The numbers, ascending. */
    public synchronized long[] sequences() {
        long[] sequences = new long[counts.size()];
        int i = 0;
        for (Long sequence : counts.keySet()) {
            sequences[i++] = sequence;
        }
        return sequences;
    }

    /** How many snapshots and cursors are open. */
    public synchronized int count() {
        int count = 0;
        for (int[] each : counts.values()) {
            count += each[0];
        }
        return count;
    }
}
