package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.concurrent.CountDownLatch;

/**
 * Moves a cursor while the store that is being closed lets go of what the cursor reads; runs in the engine that {@link
 * ClosedBesideMoveTest} has loaded, which calls {@link #takes}, {@link #moves} and {@link #letsGo} there.
 */
public final class ClosedBesideMove implements Runnable {
    private static final byte[][] KEYS = {{1}, {2}, {3}};

    private static Thread closer;
    private static CountDownLatch closing;
    private static CountDownLatch moving;
    private static volatile boolean isMoving;
    private static volatile boolean hasLetGo;
    private static volatile boolean wasMoving;

    /** Who closes has found no cursor moving, and is about to take this one. */
    public static void takes() {
        if (Thread.currentThread() == closer) {
            closing.countDown();
            Waits.await(moving);
        }
    }

    /** A move has said that it is under way, and is about to look whether the store is closed. */
    public static void moves() {
        if (closing.getCount() == 0) {
            isMoving = true;
            moving.countDown();
            while (!hasLetGo && closer.isAlive() && closer.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            isMoving = false;
        }
    }

    /** Who closes has the cursor let go of what it reads. */
    public static void letsGo() {
        wasMoving = isMoving;
        hasLetGo = true;
    }

    @Override
    public void run() {
        closing = new CountDownLatch(1);
        moving = new CountDownLatch(1);
        EnvironmentOptions options = EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
        try (Environment environment = EngineEnvironment.open(options, new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, StoreOptions.builder().build());
            for (byte[] key : KEYS) {
                store.put(key, key);
            }
            store.checkpoint();
            Cursor cursor = store.cursor();
            cursor.next();
            closer = new Thread(store::close);
            closer.start();
            Waits.await(closing);
            assertThrows(ClosedException.class, cursor::next);
            Waits.join(closer);
            assertFalse(wasMoving, "closed within a move");
        }
    }
}
