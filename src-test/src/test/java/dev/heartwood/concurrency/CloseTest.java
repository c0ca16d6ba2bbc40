package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MemoryStats;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreTuning;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Every call on something closed throws {@link ClosedException}; closing in the middle of calls harms nobody. */
class CloseTest {
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(64))
            .build();

    /**
     * A store that closes its environment waited for every call while it held the lock that a checkpoint was waiting for: neither
     * ended.
     */
    @Test
    void closingAStoreThatOwnsItsEnvironmentLetsWaitingCheckpointsGo() throws InterruptedException {
        for (int round = 0; round < 30; round++) {
            try (TestDirectory directory = new TestDirectory("owned")) {
                KeyValueStore store = Heartwood.open(directory.path(), options);
                List<Thread> callers = new ArrayList<>();
                AtomicInteger refused = new AtomicInteger();
                for (int i = 0; i < 3; i++) {
                    Thread caller = new Thread(() -> {
                        try {
                            while (true) {
                                store.put(KEY, VALUE);
                                store.checkpoint();
                            }
                        } catch (ClosedException expected) {
                            refused.incrementAndGet();
                        }
                    });
                    callers.add(caller);
                    caller.start();
                }
                store.checkpoint();
                store.close();
                for (Thread caller : callers) {
                    caller.join();
                }
                assertEquals(3, refused.get());
            }
        }
    }

    /** What the cache had taken was subtracted from pools that had none of it any more. */
    @Test
    void aClosedEnvironmentUsesNothing() {
        try (TestDirectory directory = new TestDirectory("used")) {
            Environment environment = Heartwood.openEnvironment(EnvironmentOptions.builder().memory(options.memory()).build());
            KeyValueStore store = environment.open(directory.path(), options);
            for (int i = 0; i < 100; i++) {
                store.put(new byte[] {(byte) i}, new byte[4000]);
            }
            assertArrayEquals(new byte[4000], store.get(new byte[] {0}));
            store.close();
            assertTrue(environment.memoryStats().cacheCapacityBytes() > 0);
            environment.close();
            assertEquals(new MemoryStats(options.memory().bytes(), 0, 0, 0, 0, 0, 0), environment.memoryStats());
        }
    }

    /** Under a steady load settling has no end of its own, and closing waited for one. */
    @Test
    void closingEndsASettlingThatWritesKeepFromItsEnd() {
        try (TestDirectory directory = new TestDirectory("settled")) {
            KeyValueStore store = Heartwood.open(directory.path(), options);
            CountDownLatch written = new CountDownLatch(20_000);
            Threads.Body writer = () -> {
                SplittableRandom random = new SplittableRandom(Thread.currentThread().threadId());
                Threads.untilClosed(() -> {
                    store.put(Long.toString(random.nextLong()).getBytes(), new byte[100]);
                    written.countDown();
                });
            };
            Threads.run(List.of(writer, writer, () -> Threads.untilClosed(store::settle), () -> {
                written.await();
                store.close();
            }));
        }
    }

    @Test
    void everyCallOnAClosedStoreSaysSo() {
        try (TestDirectory directory = new TestDirectory("closed");
                Arena arena = Arena.ofConfined()) {
            KeyValueStore store = Heartwood.open(directory.path(), options);
            store.put(KEY, VALUE);
            WriteBatch batch = store.newBatch();
            batch.put(KEY, VALUE);
            Snapshot snapshot = store.snapshot();
            Cursor cursor = store.cursor();
            cursor.next();
            StoreTuning tuning = store.tuning();
            store.close();
            store.close();
            MemorySegment key = MemorySegment.ofArray(KEY);
            MemorySegment nativeKey = arena.allocate(1);
            List<Executable> calls = List.of(
                    () -> store.put(KEY, VALUE),
                    () -> store.put(key, nativeKey),
                    () -> store.put(KEY, VALUE, Durability.NONE),
                    () -> store.put(key, key, Durability.SYNC),
                    () -> store.delete(KEY),
                    () -> store.delete(key),
                    () -> store.delete(KEY, Durability.BUFFERED),
                    () -> store.get(KEY),
                    () -> store.get(key),
                    () -> store.get(key, nativeKey),
                    () -> store.get(key, value -> {}),
                    () -> store.get(KEY, value -> {}),
                    () -> store.getAll(List.of(KEY)),
                    () -> store.getAll(List.of()),
                    () -> store.contains(KEY),
                    () -> store.write(batch),
                    () -> store.write(batch, Durability.SYNC),
                    store::snapshot,
                    store::cursor,
                    () -> store.cursor(KeyRange.prefix(KEY)),
                    store::sync,
                    store::checkpoint,
                    store::settle,
                    () -> store.merge(KEY, VALUE),
                    store::newBatch,
                    store::verify,
                    () -> store.backup(directory.path().resolve("backup")),
                    () -> store.discard(KeyRange.all()),
                    () -> store.tune(tuning),
                    store::stats,
                    store::tuning,
                    store::options);
            assertSayClosed(calls);
            assertSayClosed(callsOf(snapshot, cursor));
            cursor.close();
            snapshot.close();
            batch.close();
            assertThrows(ClosedException.class, () -> batch.put(KEY, VALUE));
        }
    }

    private static List<Executable> callsOf(Snapshot snapshot, Cursor cursor) {
        return List.of(
                    () -> snapshot.get(KEY),
                    () -> snapshot.get(MemorySegment.ofArray(KEY)),
                    () -> snapshot.get(MemorySegment.ofArray(KEY), MemorySegment.ofArray(new byte[1])),
                    () -> snapshot.get(MemorySegment.ofArray(KEY), value -> {}),
                    () -> snapshot.get(KEY, value -> {}),
                    () -> snapshot.getAll(List.of(KEY)),
                    () -> snapshot.getAll(List.of()),
                    () -> snapshot.contains(KEY),
                    () -> snapshot.contains(MemorySegment.ofArray(KEY)),
                    () -> snapshot.cursor(KeyRange.all()),
                    snapshot::cursor,
                    cursor::next,
                    cursor::previous,
                    cursor::first,
                    cursor::last,
                    () -> cursor.seek(KEY),
                    () -> cursor.seekBackwards(KEY),
                    () -> cursor.enterGroup(KEY),
                    cursor::valid,
                    cursor::key,
                    cursor::keySegment,
                    cursor::value,
                    cursor::valueSegment);
    }

    private static void assertSayClosed(List<Executable> calls) {
        for (Executable call : calls) {
            assertThrows(ClosedException.class, call);
        }
    }

    @Test
    void everyCallOnAClosedViewOrBatchOfAnOpenStoreSaysSo() {
        try (TestDirectory directory = new TestDirectory("closed");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            store.put(KEY, VALUE);
            WriteBatch batch = store.newBatch();
            batch.put(KEY, VALUE);
            Snapshot snapshot = store.snapshot();
            Cursor cursor = store.cursor();
            cursor.next();
            for (AutoCloseable closed : List.of(cursor, snapshot, batch, cursor, snapshot, batch)) {
                assertDoesNotThrow(closed::close);
            }
            assertSayClosed(callsOf(snapshot, cursor));
            assertSayClosed(List.of(
                    () -> batch.put(KEY, VALUE), () -> batch.delete(KEY), batch::clear, () -> store.write(batch)));
            assertEquals(0, batch.count());
            assertEquals(0, batch.bytes());
        }
    }

    /** Stops in the middle of a cursor's move until it is let go on; merges in the background ask it, too, and go on. */
    private static final class Stopping implements MergeOperator {
        private volatile Thread mover;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);

        @Override
        public String name() {
            return "stopping";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            if (Thread.currentThread() == mover) {
                reached.countDown();
                Threads.await(release);
            }
            return operands.getLast();
        }
    }

    @Test
    void closingWaitsForAMoveThatIsUnderWay() throws InterruptedException {
        for (boolean forwards : new boolean[] {true, false}) {
            Stopping operator = new Stopping();
            AtomicReference<Object> shown = new AtomicReference<>();
            AtomicReference<Throwable> later = new AtomicReference<>();
            CountDownLatch closed = new CountDownLatch(1);
            try (TestDirectory directory = new TestDirectory("moving")) {
                KeyValueStore store =
                        Heartwood.open(directory.path(), options.toBuilder().mergeOperator(operator).build());
                byte[][] keys = forwards ? new byte[][] {{1}, {2}, {3}} : new byte[][] {{3}, {2}, {1}};
                store.put(keys[0], VALUE);
                store.merge(keys[1], KEY);
                store.put(keys[2], VALUE);
                store.checkpoint();
                Cursor cursor = store.cursor();
                Thread mover = new Thread(() -> {
                    shown.set(forwards ? cursor.first() && cursor.next() : cursor.last() && cursor.previous());
                    try {
                        boolean more = forwards ? cursor.next() : cursor.previous();
                        later.set(new AssertionError("moved to " + more));
                    } catch (ClosedException expected) {
                        later.set(expected);
                    }
                });
                operator.mover = mover;
                mover.start();
                operator.reached.await();
                Thread closer = new Thread(() -> {
                    store.close();
                    closed.countDown();
                });
                closer.start();
                // It has said that the store is closed, and waits.
                while (closer.isAlive() && (closer.getState() != Thread.State.TIMED_WAITING || !isClosed(store))) {
                    Thread.onSpinWait();
                }
                assertEquals(1, closed.getCount(), "closed in the middle of a move");
                operator.release.countDown();
                closer.join();
                mover.join();
                assertEquals(true, shown.get());
                assertEquals(ClosedException.class, later.get().getClass());
            }
        }
    }

    private static boolean isClosed(KeyValueStore store) {
        try {
            store.contains(KEY);
            return false;
        } catch (ClosedException e) {
            return true;
        }
    }

    @Test
    void anEnvironmentClosesItsStores() {
        try (TestDirectory directory = new TestDirectory("environment")) {
            Environment environment = Heartwood.openEnvironment(
                    EnvironmentOptions.builder().memory(ByteSize.mib(16)).build());
            KeyValueStore one = environment.open(directory.path().resolve("one"), options);
            KeyValueStore two = environment.open(directory.path().resolve("two"), options);
            one.put(KEY, VALUE);
            two.put(KEY, KEY);
            environment.close();
            environment.close();
            assertThrows(ClosedException.class, () -> one.get(KEY));
            assertThrows(ClosedException.class, () -> two.put(KEY, VALUE));
            assertThrows(ClosedException.class, () -> environment.open(directory.path(), options));
            try (KeyValueStore again = Heartwood.open(directory.path().resolve("two"), options)) {
                assertEquals(KEY[0], again.get(KEY)[0]);
            }
        }
    }

    @Test
    void closingRacesWithEveryCall() {
        Campaign.run(getClass(), 12, seed -> {
            try (TestDirectory directory = new TestDirectory("race")) {
                KeyValueStore store = Heartwood.open(directory.path(), options);
                AtomicInteger calls = new AtomicInteger();
                int closeAfter = new SplittableRandom(seed).nextInt(20_000);
                List<Threads.Body> bodies = new ArrayList<>();
                bodies.add(untilClosed(calls, i -> store.put(key(i), new byte[i % 300])));
                bodies.add(untilClosed(calls, i -> store.get(key(i % 1000))));
                bodies.add(untilClosed(calls, i -> store.get(key(i % 1000), value -> value.byteSize())));
                bodies.add(untilClosed(calls, i -> {
                    try (Snapshot snapshot = store.snapshot()) {
                        snapshot.get(key(i));
                    }
                }));
                bodies.add(untilClosed(calls, i -> {
                    try (Cursor cursor = store.cursor(KeyRange.from(key(i)))) {
                        for (int n = 0; n < 20 && cursor.next(); n++) {
                            cursor.value();
                        }
                    }
                }));
                bodies.add(untilClosed(calls, i -> {
                    try (WriteBatch batch = store.newBatch()) {
                        batch.put(key(i), VALUE);
                        batch.delete(key(i + 1));
                        store.write(batch);
                    }
                }));
                bodies.add(() -> {
                    while (calls.get() < closeAfter) {
                        Thread.onSpinWait();
                    }
                    store.close();
                });
                Threads.run(bodies);
                Heartwood.open(directory.path(), options).close();
            }
        });
    }

    /** Also what was sealed and packed while the store closed. */
    @Test
    void whatWasAcknowledgedWithoutALogIsKept() {
        Campaign.run(getClass(), 6, seed -> {
            try (TestDirectory directory = new TestDirectory("unlogged")) {
                KeyValueStore store = Heartwood.open(directory.path(), options);
                AtomicInteger calls = new AtomicInteger();
                int closeAfter = new SplittableRandom(seed).nextInt(5_000);
                int writers = 2;
                int[] written = new int[writers];
                List<Threads.Body> bodies = new ArrayList<>();
                for (int w = 0; w < writers; w++) {
                    int writer = w;
                    bodies.add(untilClosed(calls, i -> {
                        store.put(key(writers * i + writer), new byte[i % 300], Durability.NONE);
                        written[writer] = i + 1;
                    }));
                }
                bodies.add(() -> {
                    while (calls.get() < closeAfter) {
                        Thread.onSpinWait();
                    }
                    store.close();
                });
                Threads.run(bodies);
                try (KeyValueStore again = Heartwood.open(directory.path(), options)) {
                    for (int w = 0; w < writers; w++) {
                        for (int i = 0; i < written[w]; i++) {
                            assertArrayEquals(new byte[i % 300], again.get(key(writers * i + w)));
                        }
                    }
                }
            }
        });
    }

    private static byte[] key(int i) {
        return Integer.toString(i).getBytes();
    }

    private static Threads.Body untilClosed(AtomicInteger calls, IntConsumer call) {
        return () -> {
            for (int i = 0; ; i++) {
                try {
                    call.accept(i);
                } catch (ClosedException expected) {
                    return;
                }
                calls.incrementAndGet();
            }
        };
    }
}
