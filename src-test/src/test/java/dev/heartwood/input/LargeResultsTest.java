package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Merge operators and compaction filters that make values larger than any that could be written, up to more than the whole memory. */
class LargeResultsTest {
    private static final byte[] KEY = {1};
    private static final byte[] OTHER = {2};

    /** The result has as many mebibytes as the operands say, together, and begins with how many operands there were. */
    private static final class Growing implements MergeOperator {
        private final boolean combines;

        Growing(boolean combines) {
            this.combines = combines;
        }

        @Override
        public String name() {
            return "growing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            int before = existing == null ? 0 : ByteBuffer.wrap(existing).getInt();
            int after = before;
            for (byte[] operand : operands) {
                after += ByteBuffer.wrap(operand).getInt();
            }
            return result(after);
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return combines ? merge(key, null, operands) : null;
        }
    }

    private static byte[] result(int mebibytes) {
        byte[] result = new byte[Math.max(4, mebibytes << 20)];
        Arrays.fill(result, (byte) mebibytes);
        ByteBuffer.wrap(result).putInt(mebibytes);
        return result;
    }

    private static byte[] operand(int mebibytes) {
        return ByteBuffer.allocate(4).putInt(mebibytes).array();
    }

    private static StoreOptions.Builder options() {
        return StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).memtable(ByteSize.kib(64));
    }

    private static void checkScan(KeyValueStore store, byte[] first, byte[] second) {
        try (Cursor cursor = store.cursor()) {
            assertTrue(cursor.next());
            assertArrayEquals(first, cursor.value());
            assertTrue(cursor.next());
            assertArrayEquals(second, cursor.value());
            assertFalse(cursor.next());
        }
    }

    /** Where operands are combined the values that merges read again are large, too. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofOperands(boolean combines) {
        StoreOptions growing = options().mergeOperator(new Growing(combines)).build();
        try (TestDirectory directory = new TestDirectory("results")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), growing)) {
                int total = 0;
                for (int mebibytes : new int[] {4, 1, 11, 4}) {
                    store.merge(KEY, operand(mebibytes));
                    store.merge(KEY, operand(0));
                    total += mebibytes;
                    store.checkpoint();
                    assertArrayEquals(result(total), store.get(KEY));
                }
                store.put(OTHER, operand(0));
                store.merge(OTHER, operand(3));
                store.settle();
                assertArrayEquals(result(total), store.get(KEY));
                checkScan(store, result(total), result(3));
                assertEquals(0, store.stats().filterFailures());
                assertEquals(0, store.stats().debtBytes());
                assertEquals(List.of(), store.verify().problems());
            }
            FileStoreHost.verify(directory.path());
            try (KeyValueStore store = Heartwood.open(directory.path(), growing)) {
                checkScan(store, result(20), result(3));
                store.merge(KEY, operand(1));
                store.delete(OTHER);
                store.settle();
                assertArrayEquals(result(21), store.get(KEY));
                assertNull(store.get(OTHER));
            }
        }
    }

    @Test
    void ofFilters() {
        CompactionFilter growing = new CompactionFilter() {
            @Override
            public String name() {
                return "growing";
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                return value.byteSize() == 4 ? Decision.replace(result(20)) : Decision.KEEP;
            }
        };
        try (TestDirectory directory = new TestDirectory("results")) {
            try (KeyValueStore store = Heartwood.open(
                    directory.path(), options().compactionFilter(growing).build())) {
                for (int i = 0; i < 3; i++) {
                    // So that the runs overlap, and are merged when the store settles.
                    store.put(KEY, operand(i));
                    store.put(OTHER, operand(i));
                    store.checkpoint();
                }
                store.settle();
                checkScan(store, result(20), result(20));
                assertEquals(0, store.stats().filterFailures());
            }
            FileStoreHost.verify(directory.path());
        }
    }
}
