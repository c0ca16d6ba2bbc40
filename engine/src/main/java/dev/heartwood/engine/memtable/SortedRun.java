package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;

/**
 * Addresses of committed records in the order of an ordered view: by key, then newest version first. Immutable. Beside each
 * address stands the record's key head, a few of its bytes as a number ({@link KeyHeads}), so that most comparisons touch no
 * record.
 */
final class SortedRun {
    private final long[] heads;
    private final long[] records;
    private final int count;
    private final KeyHeads keyHeads;

    SortedRun(long[] heads, long[] records, int count, KeyHeads keyHeads) {
        this.heads = heads;
        this.records = records;
        this.count = count;
        this.keyHeads = keyHeads;
    }

    int count() {
        return count;
    }

    /** How the heads are made. */
    KeyHeads keyHeads() {
        return keyHeads;
    }

    long head(int position) {
        return heads[position];
    }

    long record(int position) {
        return records[position];
    }

    /** Gives the arrays to others: the run must not be looked at any more, nor any that {@link #with} has made of it. */
    void giveBack(SortArrays arrays) {
        arrays.giveBack(heads);
        arrays.giveBack(records);
    }

    /** Bytes of the arrays, on the Java heap. */
    long heapBytes() {
        return (long) (heads.length + records.length) * Long.BYTES;
    }

    /** The same run with heads that are made in another way. */
    SortedRun with(KeyHeads other) {
        if (other == keyHeads) {
            return this;
        }
        long[] newHeads = new long[count];
        for (int i = 0; i < count; i++) {
            newHeads[i] = other.head(records[i]);
        }
        return new SortedRun(newHeads, records, count, other);
    }

    /** How many records have none of the prefixes that heads lie behind. */
    int outliers() {
        int outliers = count;
        for (int i = 0; i < keyHeads.prefixCount(); i++) {
            outliers -= headBound(keyHeads.lastHead(i), true) - headBound(keyHeads.firstHead(i), false);
        }
        return outliers;
    }

    /** Position of the first record whose head is at or after the given one, or after it. */
    private int headBound(long head, boolean after) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            int order = Long.compareUnsigned(heads[middle], head);
            if (order < 0 || order == 0 && after) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Position of the first record whose key is at or after the given one. */
    int lowerBound(long keyAddress, int keyLength) {
        long head = keyHeads.headOfKey(keyAddress, keyLength);
        int shared = keyHeads.sharedBytes(head);
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            int order = Long.compareUnsigned(heads[middle], head);
            if (order == 0) {
                order = compareKey(records[middle], keyAddress, keyLength, shared);
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static int compareKey(long record, long keyAddress, int keyLength, int shared) {
        long meta = Records.meta(record);
        return Memory.compare(
                record + Records.keyOffset(meta) + shared,
                Records.keyLength(meta) - shared,
                keyAddress + shared,
                keyLength - shared);
    }

    /** Both runs in one; of records with one key and one sequence those of {@code younger} come first. */
    static SortedRun merge(SortedRun older, SortedRun younger) {
        assert older.keyHeads == younger.keyHeads;
        int count = older.count + younger.count;
        long[] heads = new long[count];
        long[] records = new long[count];
        if (older.isBefore(younger)) {
            older.copyTo(heads, records, 0, 0);
            younger.copyTo(heads, records, 0, older.count);
            return new SortedRun(heads, records, count, older.keyHeads);
        }
        int a = 0;
        int b = 0;
        int to = 0;
        while (a < older.count && b < younger.count) {
            boolean takeOlder = compare(older, a, younger, b) < 0;
            heads[to] = takeOlder ? older.heads[a] : younger.heads[b];
            records[to++] = takeOlder ? older.records[a++] : younger.records[b++];
        }
        older.copyTo(heads, records, a, to);
        younger.copyTo(heads, records, b, to + older.count - a);
        return new SortedRun(heads, records, count, older.keyHeads);
    }

    private boolean isBefore(SortedRun other) {
        return count == 0 || other.count == 0 || compare(this, count - 1, other, 0) < 0;
    }

    private void copyTo(long[] toHeads, long[] toRecords, int from, int to) {
        System.arraycopy(heads, from, toHeads, to, count - from);
        System.arraycopy(records, from, toRecords, to, count - from);
    }

    /** Compares a record of each run by key, then by sequence, newest first; 0 when both are the same. */
    static int compare(SortedRun a, int aPosition, SortedRun b, int bPosition) {
        assert a.keyHeads == b.keyHeads;
        long head = a.heads[aPosition];
        int order = Long.compareUnsigned(head, b.heads[bPosition]);
        return order != 0
                ? order
                : Records.compare(a.records[aPosition], b.records[bPosition], a.keyHeads.sharedBytes(head));
    }

    /**
     * Reads from each of the first cache lines of the records from {@code from} up to {@code to}. The loads depend on
     * nothing, so their misses overlap. The sum is for the caller to keep, lest the loads be optimised away.
     */
    long touch(int from, int to) {
        int end = Math.min(to, count);
        long sum = 0;
        for (int i = from; i < end; i++) {
            sum += Records.meta(records[i]);
        }
        for (int i = from; i < end; i++) {
            sum += Memory.touchLines(records[i], Records.bytes(Records.meta(records[i])));
        }
        return sum;
    }
}
