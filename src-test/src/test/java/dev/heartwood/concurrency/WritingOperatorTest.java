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

/**
 * An operator that a read calls holds no memory of memtables, however long it takes. Here each has half a memtable written and reads in its turn,
 * so that all those reads, one within the other, began with other memtables: together more than there is memory for.
 */
class WritingOperatorTest {
    private static final int VALUE_BYTES = 10_000;

    /** Half a memtable. */
    private static final int WRITES = 25;

    /** All of them together write some four times what there is for memtables. */
    private static final int READS = 60;

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

    /** Has something written, and reads, when a reader calls it. */
    private static final class WritingOperator implements MergeOperator {
        private Thread reader;
        private KeyValueStore store;
        private boolean removes;
        private Read read;
        private int reads;
        private int refusals;

        @Override
        public String name() {
            return "writing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            if (Thread.currentThread() != reader) {
                return operands.getLast();
            }
            if (reads == READS) {
                return removes ? null : operands.getLast();
            }
            reads++;
            write();
            read.in(store);
            return removes ? null : operands.getLast();
        }

        /** By another thread, for which it waits: it may not itself. */
        private void write() {
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; i < WRITES; i++) {
                        byte[] key = ByteBuffer.allocate(4).putInt(Integer.MIN_VALUE + WRITES * reads + i).array();
                        store.put(key, new byte[VALUE_BYTES], Durability.NONE);
                    }
                } catch (Throwable e) {
                    refusals++;
                }
            });
            writer.start();
            boolean isInterrupted = false;
            while (writer.isAlive()) {
                try {
                    writer.join();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private interface Read {
        void in(KeyValueStore store);
    }

    private void read(boolean removes, Read read) {
        try (TestDirectory directory = new TestDirectory("moves");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            store.put(BEFORE, BEFORE);
            store.put(AFTER, AFTER);
            store.merge(MERGED, OPERAND);
            operator.store = store;
            operator.removes = removes;
            operator.read = read;
            operator.reader = Thread.currentThread();
            read.in(store);
            assertEquals(READS, operator.reads);
            assertEquals(0, operator.refusals);
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
