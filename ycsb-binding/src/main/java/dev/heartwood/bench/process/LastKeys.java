package dev.heartwood.bench.process;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.heartwood.bench.workload.KeySpace;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.PriorityQueue;

/**
 * The last of a store's keys in their order: a scan that may return as many records returns fewer only where it begins among them, and
 * then those from there on. Immutable. Of the keys it has the digits, in which alone they differ.
 */
final class LastKeys {
    private final MemorySegment digits;
    private final int digitBytes;
    private final int count;

    private LastKeys(MemorySegment digits, int digitBytes, int count) {
        this.digits = digits;
        this.digitBytes = digitBytes;
        this.count = count;
    }

    /** The last {@code count} keys of records 0 to {@code records} - 1, found by making all of them once. */
    static LastKeys of(KeySpace space, long records, int count) {
        PriorityQueue<byte[]> last = new PriorityQueue<>(Arrays::compareUnsigned);
        byte[] key = new byte[space.keyBytes()];
        MemorySegment segment = MemorySegment.ofArray(key);
        int digitsBegin = key.length - space.digits();
        for (long number = 0; number < records; number++) {
            space.write(number, segment);
            byte[] least = last.peek();
            if (last.size() == count && Arrays.compareUnsigned(key, digitsBegin, key.length, least, 0, least.length) < 0) {
                continue;
            }
            byte[] taken = last.size() == count ? last.poll() : new byte[space.digits()];
            System.arraycopy(key, digitsBegin, taken, 0, taken.length);
            last.add(taken);
        }
        byte[] inOrder = new byte[last.size() * space.digits()];
        int found = last.size();
        for (int i = 0; i < found; i++) {
            System.arraycopy(last.remove(), 0, inOrder, i * space.digits(), space.digits());
        }
        return new LastKeys(MemorySegment.ofArray(inOrder), space.digits(), found);
    }

    /** How many there are from {@code key} on. */
    int countFrom(MemorySegment key) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            if (compare((long) middle * digitBytes, key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return count - low;
    }

    /** Compares the digits there with those of a key; makes no object. */
    private int compare(long at, MemorySegment key) {
        long keyAt = key.byteSize() - digitBytes;
        long same = MemorySegment.mismatch(digits, at, at + digitBytes, key, keyAt, keyAt + digitBytes);
        return same < 0 ? 0 : Byte.compareUnsigned(digits.get(JAVA_BYTE, at + same), key.get(JAVA_BYTE, keyAt + same));
    }
}
