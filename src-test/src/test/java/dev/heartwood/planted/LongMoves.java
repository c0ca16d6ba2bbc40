package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What moves of cursors hold while they are under way; runs in the engine that {@link LongMovesTest} has loaded, which calls {@link #passes} there. */
public final class LongMoves implements Runnable {
    private static final int VALUE_BYTES = 10_000;

    /** Half a memtable. */
    private static final int WRITES_FOR_EACH_MOVE = 25;

    /** Some three times what there is for memtables. */
    private static final int WRITES = 1000;

    private static final int KEYS = 1000;
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memtable(ByteSize.kib(512)).build();

    /** What a thread does whenever a move of its passes a key. */
    private static final ThreadLocal<Runnable> PASSING = new ThreadLocal<>();

    private final Thread writer = Thread.currentThread();
    private final CountDownLatch writerWaits = new CountDownLatch(1);
    private int passed;

    /** A move has come to a key and holds what it reads. */
    public static void passes() {
        Runnable passing = PASSING.get();
        if (passing != null) {
            passing.run();
        }
    }

    /** Who looks for a task and finds none waits for nobody in the background. */
    private void foundNoTask() {
        if (Thread.currentThread() == writer) {
            writerWaits.countDown();
        }
    }

    private EngineEnvironment environment() {
        return EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1), new Surroundings(count -> new QueuedTasks(this::foundNoTask), Clock.SYSTEM, () -> 1, 2));
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    @Override
    public void run() {
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS)) {
            areWaitedFor(store);
        }
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS)) {
            giveWay(environment, store);
        }
    }

    /** Moves under way hold all memory of memtables, until the writer waits for them. */
    private void areWaitedFor(KeyValueStore store) {
        List<Thread> moves = new ArrayList<>();
        try {
            for (int i = 0; i < WRITES; i++) {
                store.put(key(i), new byte[VALUE_BYTES], Durability.NONE);
                if (i % WRITES_FOR_EACH_MOVE == 0) {
                    moves.add(move(store));
                }
            }
            assertEquals(0, writerWaits.getCount(), "there was memory without that of the moves");
        } finally {
            writerWaits.countDown();
            moves.forEach(Waits::join);
        }
    }

    /** A thread within a move. */
    private Thread move(KeyValueStore store) {
        CountDownLatch begun = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            PASSING.set(() -> {
                begun.countDown();
                Waits.await(writerWaits);
            });
            try (Cursor cursor = store.cursor()) {
                cursor.next();
            } finally {
                begun.countDown();
            }
        });
        Waits.await(begun);
        return thread;
    }

    /** A move that passes many deleted keys gives memory back that is wanted, and comes to the right key. */
    private void giveWay(EngineEnvironment environment, KeyValueStore store) {
        for (boolean forwards : new boolean[] {true, false}) {
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), key(i));
            }
            for (int i = 1; i < KEYS - 1; i++) {
                store.delete(key(i));
            }
            try (Cursor cursor = store.cursor()) {
                assertTrue(forwards ? cursor.first() : cursor.last());
                passed = 0;
                PASSING.set(() -> passBy(environment, store));
                assertTrue(forwards ? cursor.next() : cursor.previous());
                PASSING.remove();
                assertTrue(passed > KEYS / 2);
                assertArrayEquals(key(forwards ? KEYS - 1 : 0), cursor.key());
                assertArrayEquals(cursor.key(), cursor.value());
            }
        }
    }

    private void passBy(EngineEnvironment environment, KeyValueStore store) {
        passed++;
        if (passed == KEYS / 4) {
            store.checkpoint();
            environment.recallMemtables();
            assertTrue(environment.memoryStats().memtableBytes() > 0);
        } else if (passed == KEYS / 2) {
            store.checkpoint();
            assertEquals(0, environment.memoryStats().memtableBytes());
        }
    }
}
