package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;
import java.util.Arrays;

/**
 * Sorts records into a {@link SortedRun}. For one sort and one thread.
 */
final class RunSorter {
    /*
     * Stable radix sort by the key heads, least significant digit first. The bits that vary among the heads are squeezed
     * together first (text keys vary in half of their bits), and only as many of the leading ones are sorted by as tell nearly
     * all records apart; the few groups that still tie are sorted by the rest. Squeezing keeps the order and is undone at the
     * end.
     *
     * Records whose whole heads tie are then ordered among themselves: a few by insertion with whole comparisons, many by eight
     * bytes of their keys after the other, and when the keys are used up by descending sequence, with the same radix sort. So
     * neither a long common prefix within a part of the keys nor thousands of versions of one key make it quadratic. Of a tie
     * of heads nothing is known but the prefix; of one of whole words, those words. The largest group of ties is taken on by a
     * loop and only the others by recursion, which bounds the depth by the logarithm of the count.
     *
     * While a group is ordered, its part of `heads` holds other words; orderAllTies() restores it.
     */
    private static final int INSERTION_COUNT_MAX = 32;
    private static final int DIGIT_BITS_MAX = 10;
    // A group that ties in log2(count) + this many bits is one record in 2 to this power, if the bits are random.
    private static final int SPARE_BITS = 5;

    private final KeyHeads keyHeads;
    private final SortArrays arrays;
    private final int count;
    private long[] heads;
    private long[] records;
    private long[] headsOther;
    private long[] recordsOther;
    private int[] digitCounts;
    // Result of descend() beside its return value.
    private int descendedOffset;

    private RunSorter(long[] records, int count, KeyHeads keyHeads, SortArrays arrays) {
        this.keyHeads = keyHeads;
        this.arrays = arrays;
        this.count = count;
        this.records = records;
        this.heads = arrays.take(count);
    }

    /**
     * Sorts the first {@code count} of {@code records}, the faster the more keys the heads tell apart. Records with one key and
     * one sequence stay in the order given. The array, as any taken of {@code arrays}, is used up.
     */
    static SortedRun sort(long[] records, int count, KeyHeads keyHeads, SortArrays arrays) {
        RunSorter sorter = new RunSorter(records, count, keyHeads, arrays);
        for (int i = 0; i < count; i++) {
            sorter.heads[i] = keyHeads.head(records[i]);
        }
        sorter.sortByWord(0, count);
        sorter.orderAllTies(count);
        arrays.giveBack(sorter.headsOther);
        arrays.giveBack(sorter.recordsOther);
        return new SortedRun(sorter.heads, sorter.records, count, keyHeads);
    }

    private void fillHeads(int low, int high, int offset) {
        for (int i = low; i < high; i++) {
            heads[i] = Records.head(records[i], offset);
        }
    }

    private void orderAllTies(int count) {
        for (int low = 0; low < count; ) {
            int high = endOfTies(low, count);
            if (high - low > 1) {
                long head = heads[low];
                orderTied(low, high, keyHeads.sharedBytes(head));
                Arrays.fill(heads, low, high, head);
            }
            low = high;
        }
    }

    /** Orders records of whose keys nothing is known but that they share {@code offset} bytes. */
    private void orderTied(int low, int high, int offset) {
        if (high - low <= INSERTION_COUNT_MAX) {
            sortByInsertion(low, high, offset);
            return;
        }
        int shared = offset + sharedBytes(low, high, offset);
        fillHeads(low, high, shared);
        sortByWord(low, high);
        for (int i = low; i < high; ) {
            int j = endOfTies(i, high);
            if (j - i > 1) {
                orderGroup(i, j, shared);
            }
            i = j;
        }
    }

    private int endOfTies(int low, int count) {
        int high = low + 1;
        while (high < count && heads[high] == heads[low]) {
            high++;
        }
        return high;
    }

    /** Orders records that share {@code offset} bytes of their keys and the head behind them. */
    private void orderGroup(int low, int high, int offset) {
        int from = descend(low, high, offset);
        while (from < high) {
            int shared = descendedOffset;
            int largestLow = from;
            int largestHigh = from;
            for (int i = from; i < high; ) {
                int j = endOfTies(i, high);
                boolean isLargest = j - i > 1 && j - i > largestHigh - largestLow;
                int otherLow = isLargest ? largestLow : i;
                int otherHigh = isLargest ? largestHigh : j;
                if (isLargest) {
                    largestLow = i;
                    largestHigh = j;
                }
                if (otherHigh - otherLow > 1) {
                    orderGroup(otherLow, otherHigh, shared);
                }
                i = j;
            }
            high = largestHigh;
            from = high - largestLow > 1 ? descend(largestLow, high, shared) : high;
        }
    }

    /**
     * Orders a group as far as one more word goes. Returns where the part begins, up to {@code high}, in which ties may remain:
     * it is sorted by the heads at {@code descendedOffset}. Returns {@code high} when none do.
     */
    private int descend(int low, int high, int offset) {
        if (high - low <= INSERTION_COUNT_MAX) {
            sortByInsertion(low, high, offset);
            return high;
        }
        // A head is padded with zeros: keys that end within it come first, the shorter before the longer.
        for (int i = low; i < high; i++) {
            heads[i] = Math.min(Records.keyLength(Records.meta(records[i])) - offset, Long.BYTES);
        }
        sortByWord(low, high);
        int from = low;
        while (from < high && heads[from] < Long.BYTES) {
            int end = endOfTies(from, high);
            sortVersions(from, end);
            from = end;
        }
        if (high - from > 1) {
            descendedOffset = offset + Long.BYTES + sharedBytes(from, high, offset + Long.BYTES);
            fillHeads(from, high, descendedOffset);
            sortByWord(from, high);
            return from;
        }
        return high;
    }

    /** Newest first: all of one key. */
    private void sortVersions(int low, int high) {
        for (int i = low; i < high; i++) {
            heads[i] = ~Records.sequence(records[i]);
        }
        sortByWord(low, high);
    }

    private int sharedBytes(int low, int high, int offset) {
        long first = records[low];
        long firstMeta = Records.meta(first);
        int shared = Records.keyLength(firstMeta) - offset;
        for (int i = low + 1; i < high && shared > 0; i++) {
            shared = sharedBytes(first, records[i], offset, shared);
        }
        return shared;
    }

    /** How many bytes from {@code offset} on, at most {@code sharedMax}, two records' keys have in common. */
    static int sharedBytes(long a, long b, int offset, int sharedMax) {
        long bMeta = Records.meta(b);
        return Memory.commonPrefix(
                a + Records.keyOffset(Records.meta(a)) + offset,
                b + Records.keyOffset(bMeta) + offset,
                Math.min(sharedMax, Records.keyLength(bMeta) - offset));
    }

    private void sortByInsertion(int low, int high, int offset) {
        for (int i = low + 1; i < high; i++) {
            long record = records[i];
            int j = i;
            while (j > low && Records.compare(records[j - 1], record, offset) > 0) {
                records[j] = records[j - 1];
                j--;
            }
            records[j] = record;
        }
    }

    /** Sorts a range by the unsigned words in {@code heads}; stable. */
    private void sortByWord(int low, int high) {
        if (high - low <= INSERTION_COUNT_MAX) {
            sortWordsByInsertion(low, high);
            return;
        }
        long first = heads[low];
        long varying = 0;
        for (int i = low + 1; i < high; i++) {
            varying |= heads[i] ^ first;
        }
        if (varying == 0) {
            return;
        }
        for (int i = low; i < high; i++) {
            heads[i] = Long.compress(heads[i], varying);
        }
        int bits = Long.bitCount(varying);
        int leadingBits = Math.min(bits, Integer.SIZE - Integer.numberOfLeadingZeros(high - low) + SPARE_BITS);
        sortByBits(low, high, bits - leadingBits, bits);
        if (leadingBits < bits) {
            sortRest(low, high, bits - leadingBits);
        }
        long constant = first & ~varying;
        for (int i = low; i < high; i++) {
            heads[i] = Long.expand(heads[i], varying) | constant;
        }
    }

    /** Sorts by bits {@code bitLow} to {@code bitHigh - 1}, in passes over as many bits each. */
    private void sortByBits(int low, int high, int bitLow, int bitHigh) {
        if (digitCounts == null) {
            digitCounts = new int[1 << DIGIT_BITS_MAX];
            headsOther = arrays.take(count);
            recordsOther = arrays.take(count);
        }
        int passes = (bitHigh - bitLow + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
        int digitBits = (bitHigh - bitLow + passes - 1) / passes;
        for (int pass = 0; pass < passes; pass++) {
            scatter(low, high, bitLow + pass * digitBits, digitBits);
        }
        if ((passes & 1) != 0 && high - low < count) {
            // The range lies in the other arrays now, which lack the rest.
            swapArrays();
            System.arraycopy(headsOther, low, heads, low, high - low);
            System.arraycopy(recordsOther, low, records, low, high - low);
        }
    }

    private void scatter(int low, int high, int shift, int digitBits) {
        long[] fromHeads = heads;
        long[] fromRecords = records;
        long[] toHeads = headsOther;
        long[] toRecords = recordsOther;
        int[] places = digitCounts;
        int mask = (1 << digitBits) - 1;
        Arrays.fill(places, 0, mask + 1, 0);
        for (int i = low; i < high; i++) {
            places[(int) (fromHeads[i] >>> shift) & mask]++;
        }
        int place = low;
        for (int i = 0; i <= mask; i++) {
            int count = places[i];
            places[i] = place;
            place += count;
        }
        for (int i = low; i < high; i++) {
            long head = fromHeads[i];
            int to = places[(int) (head >>> shift) & mask]++;
            toHeads[to] = head;
            toRecords[to] = fromRecords[i];
        }
        swapArrays();
    }

    /** Sorts every group that has the bits from {@code shift} up in common by the bits below. */
    private void sortRest(int low, int high, int shift) {
        for (int i = low; i < high; ) {
            int j = i + 1;
            while (j < high && heads[j] >>> shift == heads[i] >>> shift) {
                j++;
            }
            if (j - i > 1) {
                sortByWord(i, j);
            }
            i = j;
        }
    }

    private void swapArrays() {
        long[] swappedHeads = heads;
        heads = headsOther;
        headsOther = swappedHeads;
        long[] swappedRecords = records;
        records = recordsOther;
        recordsOther = swappedRecords;
    }

    private void sortWordsByInsertion(int low, int high) {
        for (int i = low + 1; i < high; i++) {
            long head = heads[i];
            long record = records[i];
            int j = i;
            while (j > low && Long.compareUnsigned(heads[j - 1], head) > 0) {
                heads[j] = heads[j - 1];
                records[j] = records[j - 1];
                j--;
            }
            heads[j] = head;
            records[j] = record;
        }
    }
}
