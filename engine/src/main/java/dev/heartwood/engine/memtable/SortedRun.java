package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;

/**
 * Addresses of committed records in the order of an ordered view: by key, then newest version first. Immutable. Beside each
 * address stands the record's key head, eight bytes behind the prefix that all keys share, so that most comparisons touch no
 * record.
 */
final class SortedRun {
    static final SortedRun EMPTY = new SortedRun(new long[0], new long[0], 0, 0);

    private static final int TOUCHED_LINE_BYTES = 64;
    private static final int TOUCHED_LINES_MAX = 4;

    private final long[] heads;
    private final long[] records;
    private final int count;
    private final int headOffset;

    SortedRun(long[] heads, long[] records, int count, int headOffset) {
        this.heads = heads;
        this.records = records;
        this.count = count;
        this.headOffset = headOffset;
    }

    int count() {
        return count;
    }

    /** The number of leading key bytes that are the same in all records of the view. */
    int headOffset() {
        return headOffset;
    }

    long head(int position) {
        return heads[position];
    }

    long record(int position) {
        return records[position];
    }

    /** Bytes of the arrays, on the Java heap. */
    long heapBytes() {
        return (long) (heads.length + records.length) * Long.BYTES;
    }

    /** The same run with heads further to the front, for when keys with a shorter common prefix have come in. */
    SortedRun withHeadOffset(int offset) {
        if (offset == headOffset) {
            return this;
        }
        long[] newHeads = new long[count];
        for (int i = 0; i < count; i++) {
            newHeads[i] = Records.head(records[i], offset);
        }
        return new SortedRun(newHeads, records, count, offset);
    }

    /** Position of the first record whose key is at or after the given one. */
    int lowerBound(long keyAddress, int keyLength) {
        if (count == 0) {
            return 0;
        }
        int outside = comparePrefix(keyAddress, keyLength);
        if (outside != 0) {
            return outside < 0 ? 0 : count;
        }
        long head = Records.headOfKey(keyAddress, keyLength, headOffset);
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            int order = Long.compareUnsigned(heads[middle], head);
            if (order == 0) {
                order = compareKey(records[middle], keyAddress, keyLength);
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Negative when the key lies before every key with the common prefix, positive when behind, 0 when it shares the prefix. */
    private int comparePrefix(long keyAddress, int keyLength) {
        long any = records[0];
        long prefix = any + Records.keyOffset(Records.meta(any));
        return Memory.compare(keyAddress, Math.min(keyLength, headOffset), prefix, headOffset);
    }

    private int compareKey(long record, long keyAddress, int keyLength) {
        long meta = Records.meta(record);
        return Memory.compare(
                record + Records.keyOffset(meta) + headOffset,
                Records.keyLength(meta) - headOffset,
                keyAddress + headOffset,
                keyLength - headOffset);
    }

    /** Both runs in one; of records with one key and one sequence those of {@code younger} come first. */
    static SortedRun merge(SortedRun older, SortedRun younger) {
        assert older.headOffset == younger.headOffset;
        int count = older.count + younger.count;
        long[] heads = new long[count];
        long[] records = new long[count];
        if (older.isBefore(younger)) {
            older.copyTo(heads, records, 0, 0);
            younger.copyTo(heads, records, 0, older.count);
            return new SortedRun(heads, records, count, older.headOffset);
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
        return new SortedRun(heads, records, count, older.headOffset);
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
        int order = Long.compareUnsigned(a.heads[aPosition], b.heads[bPosition]);
        return order != 0 ? order : Records.compare(a.records[aPosition], b.records[bPosition], a.headOffset);
    }

    /**
     * Reads one word in each of the first cache lines of the records from {@code from} up to {@code to}. The loads depend on
     * nothing, so their misses overlap. The sum is for the caller to keep, lest the loads be optimised away.
     */
    long touch(int from, int to) {
        int end = Math.min(to, count);
        long sum = 0;
        for (int i = from; i < end; i++) {
            sum += Records.meta(records[i]);
        }
        for (int i = from; i < end; i++) {
            long record = records[i];
            long last = record + Math.min(Records.bytes(Records.meta(record)), TOUCHED_LINES_MAX * TOUCHED_LINE_BYTES) - 8;
            for (long line = record + TOUCHED_LINE_BYTES; line < last; line += TOUCHED_LINE_BYTES) {
                sum += Memory.getLong(line);
            }
            sum += Memory.getLong(last);
        }
        return sum;
    }
}
