package dev.heartwood.input;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;

/** A process that fills a store until it is refused, deletes and fills it again; any other refusal ends it. */
final class LimitedFiles {
    private static final int VALUE_BYTES = 1000;

    private final BitSet present = new BitSet();
    private final int recordsMax;
    private final KeyValueStore store;

    private LimitedFiles(KeyValueStore store, long limitMax) {
        this.store = store;
        this.recordsMax = (int) (2 * limitMax / VALUE_BYTES);
    }

    private static KeyValueStore open(Path directory) {
        return Heartwood.open(directory, StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build());
    }

    /** Arguments: the directory, and the most bytes that a file can have. Prints how many records it put at first. */
    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        long limitMax = Long.parseLong(args[1]);
        LimitedFiles process;
        int first;
        try (KeyValueStore store = open(directory)) {
            process = new LimitedFiles(store, limitMax);
            first = process.fill();
            require(process.present.cardinality() < process.recordsMax, "nothing was refused");
            int deleted = process.deleteHalf();
            store.settle();
            int again = process.fill();
            require(again >= deleted * 2 / 3, again + " after " + deleted + " were deleted");
            process.check(store);
        }
        try (KeyValueStore store = open(directory)) {
            process.check(store);
        }
        System.out.println(first);
    }

    private static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new AssertionError(otherwise);
        }
    }

    private int fill() {
        int put = 0;
        try {
            for (int i = present.nextClearBit(0); i < recordsMax; i = present.nextClearBit(i)) {
                store.put(FillRecords.key(i), FillRecords.value(i, VALUE_BYTES));
                present.set(i);
                put++;
            }
        } catch (NoSpaceException full) {
            return put;
        }
        return put;
    }

    private int deleteHalf() {
        int deleted = 0;
        for (int i = present.nextSetBit(0); i >= 0; i = present.nextSetBit(i + 1)) {
            if (i % 2 == 0) {
                store.delete(FillRecords.key(i));
                present.clear(i);
                deleted++;
            }
        }
        return deleted;
    }

    private void check(KeyValueStore opened) {
        for (int i = 0; i < recordsMax; i++) {
            byte[] expected = present.get(i) ? FillRecords.value(i, VALUE_BYTES) : null;
            require(Arrays.equals(expected, opened.get(FillRecords.key(i))), "record " + i);
        }
    }
}
