package dev.heartwood.engine.memtable;

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The arrays in which memtables are put in order, taken again and again: new ones for each would be 32 bytes of garbage for every record, most
 * of which a collection of the Java heap copies first. What is kept goes when the heap is short. Thread-safe.
 */
public final class SortArrays {
    /** Two memtables at a time take so many. */
    private static final int KEPT_MAX = 8;

    /** Shorter ones are not worth keeping. */
    private static final int LENGTH_MIN = 1 << 12;

    /** An array is longer than what it is taken for by at most this factor, so that none is held for little. */
    private static final int LENGTH_FACTOR_MAX = 2;

    // Guarded by this.
    private final List<SoftReference<long[]>> kept = new ArrayList<>(KEPT_MAX);

    /** An array of at least {@code count} numbers, whatever they are. */
    long[] take(int count) {
        long[] array = count < LENGTH_MIN ? null : takeKept(count);
        return array == null ? new long[withRoom(count)] : array;
    }

    private synchronized long[] takeKept(int count) {
        SoftReference<long[]> best = null;
        int bestLength = Integer.MAX_VALUE;
        for (Iterator<SoftReference<long[]>> all = kept.iterator(); all.hasNext(); ) {
            SoftReference<long[]> reference = all.next();
            long[] array = reference.get();
            if (array == null) {
                all.remove();
            } else if (array.length >= count && array.length < bestLength) {
                best = reference;
                bestLength = array.length;
            }
        }
        if (best == null || bestLength / LENGTH_FACTOR_MAX > count) {
            return null;
        }
        kept.remove(best);
        return best.get();
    }

    /** The next memtables have about as many records, a few more among them. */
    private static int withRoom(int count) {
        int step = Integer.highestOneBit(count) >>> 3;
        return count < LENGTH_MIN || count > Integer.MAX_VALUE / 2 ? count : (count + step - 1) / step * step;
    }

    /** Takes an array back that nobody looks at any more; null is none. */
    synchronized void giveBack(long[] array) {
        if (array == null || array.length < LENGTH_MIN) {
            return;
        }
        if (kept.size() == KEPT_MAX) {
            kept.removeFirst();
        }
        try {
            kept.add(new SoftReference<>(array));
        } catch (OutOfMemoryError heapIsFull) {
            // Whoever gives back frees memory: that must not fail, and there is nothing to spare for keeping.
        }
    }
}
