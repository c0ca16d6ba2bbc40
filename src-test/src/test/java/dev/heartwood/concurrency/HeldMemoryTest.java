package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Moves of cursors that do not end hold all memory of memtables: a write fails by name instead of waiting for ever. */
class HeldMemoryTest {
    private static final int VALUE_BYTES = 10_000;

    private static final byte[] SMALL = {1};
    private static final int WRITERS = 4;

    /** Half a memtable. */
    private static final int WRITES_FOR_EACH_MOVE = 25;

    private static final int DELETES_FOR_EACH_MOVE = 100;

    /** Before all others. */
    private static final byte[] MERGED = {0};

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(512))
            .mergeOperator(new LongMove.Operator())
            .build();

    /** A thread within the move of a cursor, which an operator keeps from ending: so it reads what it read when it began. */
    private static final class LongMove implements AutoCloseable {
        private static final ThreadLocal<LongMove> CURRENT = new ThreadLocal<>();

        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);
        private final Thread thread;

        /** In a store whose first key has an operand. */
        LongMove(KeyValueStore store) {
            thread = Thread.ofPlatform().start(() -> {
                CURRENT.set(this);
                try (Cursor cursor = store.cursor()) {
                    cursor.next();
                }
            });
            await(begun);
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            end.countDown();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** Waits in threads that make a long move. */
        static final class Operator implements MergeOperator {
            @Override
            public String name() {
                return "last";
            }

            @Override
            public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
                LongMove move = CURRENT.get();
                if (move != null) {
                    move.begun.countDown();
                    await(move.end);
                }
                return operands.getLast();
            }
        }
    }

    /** Ended before the store is closed, which waits for them. */
    private static final class LongMoves implements AutoCloseable {
        private final List<LongMove> moves = new ArrayList<>();

        void begin(KeyValueStore store) {
            moves.add(new LongMove(store));
        }

        /** Ends two of four. */
        void closeHalf() {
            for (int i = 0; i < moves.size(); i++) {
                if (i % 4 < 2) {
                    moves.get(i).close();
                }
            }
        }

        @Override
        public void close() {
            moves.forEach(LongMove::close);
        }
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static byte[] value(int number) {
        byte[] value = new byte[VALUE_BYTES];
        ByteBuffer.wrap(value).putInt(number);
        return value;
    }

    /** Writes and has a move begin in every half memtable, until a write is refused; returns how many were not. */
    private static int writeUntilRefused(KeyValueStore store, LongMoves moves) {
        store.merge(MERGED, SMALL);
        for (int i = 0; ; i++) {
            int number = i;
            try {
                store.put(key(number), value(number));
            } catch (InsufficientMemoryException refused) {
                return number;
            }
            if (i % WRITES_FOR_EACH_MOVE == 0) {
                moves.begin(store);
            }
        }
    }

    /** What is too little for a value takes small writes: fills that, too. */
    private static void deleteUntilRefused(KeyValueStore store, LongMoves moves) {
        for (int i = 0; ; i++) {
            try {
                store.delete(key(-1));
            } catch (InsufficientMemoryException refused) {
                return;
            }
            if (i % DELETES_FOR_EACH_MOVE == 0) {
                moves.begin(store);
            }
        }
    }

    private static void expect(KeyValueStore store, int count) {
        for (int i = 0; i < count; i++) {
            assertArrayEquals(value(i), store.get(key(i)), "key " + i);
        }
    }

    @Test
    void aWriteThatNothingCanMakeRoomForFails() {
        try (TestDirectory directory = new TestDirectory("held")) {
            int written;
            try (KeyValueStore store = Heartwood.open(directory.path(), options);
                    LongMoves moves = new LongMoves()) {
                written = writeUntilRefused(store, moves);
                deleteUntilRefused(store, moves);
                assertTrue(written > 100, "refused after " + written + " writes");
                // So are all others, of every kind and level, and nothing of them is there.
                for (Durability level : Durability.values()) {
                    assertThrows(InsufficientMemoryException.class, () -> store.put(key(-1), value(1), level));
                    assertThrows(InsufficientMemoryException.class, () -> store.delete(key(0), level));
                    try (WriteBatch batch = store.newBatch()) {
                        batch.delete(key(0));
                        batch.put(key(-1), value(1));
                        assertThrows(InsufficientMemoryException.class, () -> store.write(batch, level));
                    }
                }
                expect(store, written);
                assertEquals(null, store.get(key(-1)));
                moves.close();
                for (int i = written; i < 2 * written; i++) {
                    store.put(key(i), value(i), Durability.SYNC);
                }
                expect(store, 2 * written);
            }
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                expect(store, 2 * written);
                assertEquals(List.of(), store.verify().problems());
            }
        }
    }

    /** The memory is shared: who holds it may be another store. */
    @Test
    void movesInAnotherStoreMayHoldTheMemory() {
        EnvironmentOptions shared =
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory parent = new TestDirectory("held");
                Environment environment = Heartwood.openEnvironment(shared);
                KeyValueStore holder = environment.open(parent.path().resolve("holder"), options);
                KeyValueStore other = environment.open(parent.path().resolve("other"), options);
                LongMoves moves = new LongMoves()) {
            int held = writeUntilRefused(holder, moves);
            assertThrows(InsufficientMemoryException.class, () -> other.put(key(0), value(0)));
            expect(holder, held);
            moves.close();
            other.put(key(0), value(0));
            expect(other, 1);
        }
    }

    /** What another store holds in an active memtable comes back, so the writer waits for it. */
    @Test
    void memoryThatAnotherStoreCanGiveBackIsWaitedFor() {
        EnvironmentOptions shared =
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory parent = new TestDirectory("held"); Environment environment = Heartwood.openEnvironment(shared)) {
            List<KeyValueStore> stores = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                stores.add(environment.open(parent.path().resolve("store" + i), options));
            }
            // Together they want more than twice the memory that there is for memtables.
            for (int i = 0; i < 50; i++) {
                for (KeyValueStore store : stores) {
                    store.put(key(i), value(i));
                }
            }
            stores.forEach(store -> expect(store, 50));
        }
    }

    /** A record takes more in a memtable than in the log: such a batch was tried for ever beside other writers, and sealed what they wrote. */
    @Test
    void aBatchThatFitsIntoNoMemtableIsRefusedAtOnce() {
        try (TestDirectory directory = new TestDirectory("held");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            store.put(key(0), value(0));
            assertThrows(InsufficientMemoryException.class, () -> deleteAll(store, 40_000));
            assertEquals(0, store.stats().memtablesSealed());
            expect(store, 1);
            deleteAll(store, 10_000);
            assertNull(store.get(key(0)));
        }
    }

    private static void deleteAll(KeyValueStore store, int count) {
        try (WriteBatch batch = store.newBatch()) {
            for (int i = 0; i < count; i++) {
                batch.delete(key(i));
            }
            store.write(batch);
        }
    }

    /** Half of the memory is held, in pieces; what is left is enough for small writes, so that the memtable is never empty. */
    @Test
    void aLargeBatchIsRefusedByNameAlsoBesideAWriter() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        try (TestDirectory directory = new TestDirectory("held");
                KeyValueStore store = Heartwood.open(directory.path(), options);
                LongMoves moves = new LongMoves()) {
            int written = writeUntilRefused(store, moves);
            moves.closeHalf();
            CountDownLatch writes = new CountDownLatch(WRITERS);
            List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                writers.add(Thread.ofPlatform().start(() -> {
                    store.put(key(written), SMALL);
                    writes.countDown();
                    while (!stop.get()) {
                        store.put(key(written), SMALL);
                    }
                }));
            }
            writes.await();
            try {
                assertThrows(InsufficientMemoryException.class, () -> deleteAll(store, 20_000));
                for (Thread writer : writers) {
                    assertTrue(writer.isAlive());
                }
            } finally {
                stop.set(true);
                for (Thread writer : writers) {
                    writer.join();
                }
            }
            expect(store, written);
            assertArrayEquals(SMALL, store.get(key(written)));
        }
    }
}
