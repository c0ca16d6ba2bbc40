package dev.heartwood.bench.process;

import dev.heartwood.bench.workload.KeySpace;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.PriorityQueue;

/**
 * The last of a store's keys in their order: a scan that may return as many records returns fewer only where it begins among them, and
 * then those from there on. Immutable.
 */
final class LastKeys {
    private final MemorySegment[] keys;

    private LastKeys(MemorySegment[] keys) {
        this.keys = keys;
    }

    /** The last {@code count} keys of records 0 to {@code records} - 1, found by making all of them once. */
    static LastKeys of(KeySpace space, long records, int count) {
        PriorityQueue<byte[]> last = new PriorityQueue<>(Arrays::compareUnsigned);
        byte[] key = new byte[space.keyBytes()];
        MemorySegment segment = MemorySegment.ofArray(key);
        for (long number = 0; number < records; number++) {
            space.write(number, segment);
            if (last.size() < count) {
                last.add(key.clone());
            } else if (Arrays.compareUnsigned(key, last.peek()) > 0) {
                last.poll();
                last.add(key.clone());
            }
        }
        return new LastKeys(last.stream().sorted(Arrays::compareUnsigned).map(MemorySegment::ofArray).toArray(MemorySegment[]::new));
    }

    /** How many there are from {@code key} on. */
    int countFrom(MemorySegment key) {
        int low = 0;
        int high = keys.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (Worker.compare(keys[middle], key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return keys.length - low;
    }
}
