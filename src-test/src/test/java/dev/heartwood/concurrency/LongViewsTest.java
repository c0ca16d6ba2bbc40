package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Snapshots and cursors that are open for long see what they saw, and give back memtables that the tree has by now when their memory is wanted. */
class LongViewsTest {
    private static final int KEYS = 100;
    private static final int VALUE_BYTES = 10_000;

    /** All of them together write some ten times what there is for memtables. */
    private static final int ROUNDS = 40;

    private final EnvironmentOptions memory =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private final StoreOptions options =
            StoreOptions.builder().memtable(ByteSize.kib(512)).build();

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static byte[] value(int round, int number) {
        byte[] value = new byte[VALUE_BYTES];
        ByteBuffer.wrap(value).putInt(round).putInt(number);
        return value;
    }

    private static boolean isDeleted(int round, int number) {
        return (round + number) % 7 == 0;
    }

    private static void writeRound(KeyValueStore store, int round) {
        for (int i = 0; i < KEYS; i++) {
            if (isDeleted(round, i)) {
                store.delete(key(i), Durability.NONE);
            } else {
                store.put(key(i), value(round, i), Durability.NONE);
            }
        }
    }

    private static int after(int round, int number) {
        int next = number + 1;
        while (next < KEYS && isDeleted(round, next)) {
            next++;
        }
        return next;
    }

    private static int before(int round, int number) {
        int previous = number - 1;
        while (previous >= 0 && isDeleted(round, previous)) {
            previous--;
        }
        return previous;
    }

    /** What was opened after a round; the cursor stands where it was left. */
    private record View(int round, Snapshot snapshot, Cursor untouched, Cursor cursor, int at) implements AutoCloseable {
        static View open(KeyValueStore store, int round) {
            Snapshot snapshot = store.snapshot();
            Cursor cursor = round % 2 == 0 ? store.cursor() : snapshot.cursor(KeyRange.all());
            int target = round * 37 % KEYS;
            int at = isDeleted(round, target) ? after(round, target) : target;
            assertEquals(at < KEYS, cursor.seek(key(target)));
            return new View(round, snapshot, store.cursor(), cursor, at);
        }

        void expectAll() {
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(isDeleted(round, i) ? null : value(round, i), snapshot.get(key(i)));
            }
            if (at < KEYS) {
                expectFrom(cursor, at);
            }
            expectFrom(untouched, -1);
        }

        /** What stands at a key, or before the first, goes on from there, to both ends. */
        private void expectFrom(Cursor walking, int begin) {
            int number = begin;
            if (number >= 0) {
                expectAt(walking, number);
            }
            if (round % 3 == 0 && number >= 0) {
                for (number = before(round, number); number >= 0; number = before(round, number)) {
                    assertTrue(walking.previous());
                    expectAt(walking, number);
                }
                assertFalse(walking.previous());
            }
            for (number = after(round, number); number < KEYS; number = after(round, number)) {
                assertTrue(walking.next());
                expectAt(walking, number);
            }
            assertFalse(walking.next());
        }

        private void expectAt(Cursor walking, int number) {
            assertArrayEquals(key(number), walking.key());
            assertArrayEquals(value(round, number), walking.value());
        }

        @Override
        public void close() {
            cursor.close();
            untouched.close();
            snapshot.close();
        }
    }

    @Test
    void viewsGiveBackTheMemoryOfMemtables() {
        try (TestDirectory directory = new TestDirectory("views");
                Environment environment = Heartwood.openEnvironment(memory);
                KeyValueStore store = environment.open(directory.path(), options)) {
            List<View> views = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                writeRound(store, round);
                views.add(View.open(store, round));
            }
            views.forEach(View::expectAll);
            views.forEach(View::close);
        }
    }

    /** Another store finds the memory, too, which no memtable of its own has to be packed for. */
    @Test
    void viewsOfOneStoreGiveWayToAnother() {
        try (TestDirectory directory = new TestDirectory("views");
                Environment environment = Heartwood.openEnvironment(memory);
                KeyValueStore store = environment.open(directory.path().resolve("one"), options);
                KeyValueStore other = environment.open(directory.path().resolve("other"), options)) {
            List<View> views = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                writeRound(store, round);
                views.add(View.open(store, round));
                writeRound(other, round);
            }
            views.forEach(View::expectAll);
            views.forEach(View::close);
        }
    }

    /** Every batch writes all keys, and some by operands; whoever reads beside it sees one batch, however often its memtables go. */
    @Test
    void readersSeeOneMomentWhileMemtablesGo() {
        Campaign.run(getClass(), 2, seed -> {
            StoreOptions adding = StoreOptions.builder()
                    .memtable(ByteSize.kib(64))
                    .checkpointDistance(2)
                    .mergeOperator(new Adding())
                    .build();
            try (TestDirectory directory = new TestDirectory("views");
                    Environment environment = Heartwood.openEnvironment(memory);
                    KeyValueStore store = environment.open(directory.path(), adding)) {
                new Batches(environment, store).run(seed, Campaign.operations(3000));
                assertEquals(0, store.stats().snapshots());
            }
        });
    }

    /** Adds operands to a value that is a number. */
    private static final class Adding implements MergeOperator {
        @Override
        public String name() {
            return "adding";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            int sum = existing == null ? 0 : ByteBuffer.wrap(existing).getInt();
            for (byte[] operand : operands) {
                sum += ByteBuffer.wrap(operand).getInt();
            }
            return key(sum);
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return merge(key, null, operands);
        }
    }

    /** A writer of batches, each of which raises all values by one, readers beside it, and somebody who always wants the memory of memtables. */
    private record Batches(Environment environment, KeyValueStore store) {
        private static final int READERS = 3;
        private static final byte[] ONE = key(1);

        void run(long seed, int count) {
            AtomicBoolean done = new AtomicBoolean();
            AtomicReference<Snapshot> shared = new AtomicReference<>();
            write(1);
            List<Threads.Body> bodies = new ArrayList<>();
            bodies.add(() -> {
                try {
                    for (int i = 2; i <= count; i++) {
                        write(i);
                        if (i % 50 == 0) {
                            Snapshot old = shared.getAndSet(store.snapshot());
                            if (old != null) {
                                old.close();
                            }
                        }
                    }
                } finally {
                    done.set(true);
                    Snapshot last = shared.getAndSet(null);
                    if (last != null) {
                        last.close();
                    }
                }
            });
            for (int reader = 0; reader < READERS; reader++) {
                SplittableRandom random = new SplittableRandom(seed + reader);
                bodies.add(() -> {
                    while (!done.get()) {
                        read(random);
                        readShared(shared, random);
                    }
                });
            }
            bodies.add(() -> {
                while (!done.get()) {
                    EngineAccess.recallMemtables(environment);
                }
            });
            Threads.run(bodies);
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(key(count), store.get(key(i)));
            }
        }

        private void write(int number) {
            try (WriteBatch batch = store.newBatch()) {
                for (int i = 0; i < KEYS; i++) {
                    if (i % 2 == 0) {
                        batch.put(key(i), key(number));
                    } else {
                        batch.merge(key(i), ONE);
                    }
                }
                store.write(batch, Durability.NONE);
            }
        }

        /** With one cursor to and fro, until it has met some memtables' end. */
        private void read(SplittableRandom random) {
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.next());
                byte[] seen = cursor.value();
                int at = 0;
                for (int moves = 20 + random.nextInt(2000); moves > 0; moves--) {
                    int move = random.nextInt(20);
                    if (move == 0) {
                        at = random.nextInt(KEYS);
                        assertTrue(cursor.seek(key(at)));
                    } else if (move < 7) {
                        at--;
                        assertEquals(at >= 0, cursor.previous());
                    } else {
                        at++;
                        assertEquals(at < KEYS, cursor.next());
                    }
                    at = Math.clamp(at, -1, KEYS);
                    if (cursor.valid()) {
                        assertArrayEquals(key(at), cursor.key());
                        assertArrayEquals(seen, cursor.value());
                    }
                }
            }
        }

        /** Of a snapshot that others read, too, and the writer closes. */
        private void readShared(AtomicReference<Snapshot> shared, SplittableRandom random) {
            Snapshot snapshot = shared.get();
            if (snapshot == null) {
                return;
            }
            try {
                byte[] seen = snapshot.get(key(0));
                for (int i = 0; i < 200; i++) {
                    assertArrayEquals(seen, snapshot.get(key(random.nextInt(KEYS))));
                }
                assertNull(snapshot.get(key(KEYS)));
            } catch (dev.heartwood.ClosedException closed) {
                // By the writer.
            }
        }
    }

    @Test
    void aCursorCannotBeMovedOrClosedFromWithinItsMove() {
        AtomicReference<Cursor> moving = new AtomicReference<>();
        MergeOperator operator = new MergeOperator() {
            @Override
            public String name() {
                return "moving";
            }

            @Override
            public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
                Cursor cursor = moving.get();
                if (cursor != null) {
                    assertThrows(IllegalStateException.class, cursor::next);
                    assertThrows(IllegalStateException.class, cursor::last);
                    assertThrows(IllegalStateException.class, cursor::close);
                }
                return operands.getLast();
            }
        };
        try (TestDirectory directory = new TestDirectory("views");
                KeyValueStore store = Heartwood.open(
                        directory.path(), StoreOptions.builder().mergeOperator(operator).build())) {
            store.merge(key(1), key(2));
            try (Cursor cursor = store.cursor()) {
                moving.set(cursor);
                assertTrue(cursor.next());
                moving.set(null);
                assertArrayEquals(key(2), cursor.value());
                assertFalse(cursor.next());
            }
        }
    }
}
