package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An operator that a read calls holds no memory of memtables, however long it takes: it may write as much as it likes. */
class WritingOperatorTest {
    private static final int VALUE_BYTES = 10_000;

    /** Some three times what there is for memtables. */
    private static final int WRITES = 1000;

    private static final byte[] BEFORE = {0};
    private static final byte[] MERGED = {1};
    private static final byte[] AFTER = {2};
    private static final byte[] OPERAND = {3};

    private final WritingOperator operator = new WritingOperator();
    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(512))
            .mergeOperator(operator)
            .build();

    /** Writes when a reader calls it. */
    private static final class WritingOperator implements MergeOperator {
        private Thread reader;
        private KeyValueStore store;
        private boolean removes;
        private int calls;

        @Override
        public String name() {
            return "writing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            if (Thread.currentThread() != reader) {
                return operands.getLast();
            }
            calls++;
            reader = null;
            for (int i = 0; i < WRITES; i++) {
                store.put(ByteBuffer.allocate(4).putInt(Integer.MIN_VALUE + i).array(), new byte[VALUE_BYTES], Durability.NONE);
            }
            return removes ? null : operands.getLast();
        }
    }

    private interface Read {
        void in(KeyValueStore store);
    }

    /** Fills memtables, so that what reads begins with some that are large; then reads, once with an operator that writes. */
    private void read(boolean removes, Read read) {
        try (TestDirectory directory = new TestDirectory("moves");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            store.put(BEFORE, BEFORE);
            store.put(AFTER, AFTER);
            store.merge(MERGED, OPERAND);
            for (int i = 0; i < 40; i++) {
                store.put(new byte[] {-1, (byte) i}, new byte[VALUE_BYTES], Durability.NONE);
            }
            operator.store = store;
            operator.removes = removes;
            operator.reader = Thread.currentThread();
            read.in(store);
            assertEquals(1, operator.calls);
        }
    }

    private static void expect(byte[] key, Cursor cursor) {
        assertArrayEquals(key, cursor.key());
    }

    @Test
    void forwards() {
        read(false, store -> {
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.next());
                assertTrue(cursor.next());
                expect(MERGED, cursor);
                assertArrayEquals(OPERAND, cursor.value());
                assertTrue(cursor.next());
                expect(AFTER, cursor);
                assertTrue(cursor.previous());
                assertTrue(cursor.previous());
                expect(BEFORE, cursor);
                assertFalse(cursor.previous());
            }
        });
    }

    @Test
    void forwardsPastAKeyThatIsRemoved() {
        read(true, store -> {
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.next());
                assertTrue(cursor.next());
                expect(AFTER, cursor);
            }
        });
    }

    @Test
    void backwards() {
        read(false, store -> {
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.seekBackwards(AFTER));
                assertTrue(cursor.previous());
                expect(MERGED, cursor);
                assertArrayEquals(OPERAND, cursor.value());
                assertTrue(cursor.previous());
                expect(BEFORE, cursor);
                assertFalse(cursor.previous());
            }
        });
    }

    @Test
    void backwardsPastAKeyThatIsRemoved() {
        read(true, store -> {
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.seekBackwards(AFTER));
                assertTrue(cursor.previous());
                expect(BEFORE, cursor);
                assertFalse(cursor.previous());
            }
        });
    }

    @Test
    void get() {
        read(false, store -> assertArrayEquals(OPERAND, store.get(MERGED)));
    }

    @Test
    void getInASnapshot() {
        read(false, store -> {
            try (Snapshot snapshot = store.snapshot()) {
                assertArrayEquals(OPERAND, snapshot.get(MERGED));
            }
        });
    }
}
