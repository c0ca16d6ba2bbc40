package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reading ahead ends with an error, as of a full Java heap, when a part of its pages is marked as being loaded; runs in the engine that {@link
 * BrokenReadAheadTest} has loaded, which calls {@link #takes}, {@link #verifies} and {@link #waits} there.
 */
public final class BrokenReadAhead implements Runnable {
    private static final int RECORDS = 20_000;
    private static final int VALUE_BYTES = 100;

    /** Nobody has to look as often as that for a page that is being loaded. */
    private static final int LOOKS_MAX = 100_000;

    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final StoreOptions OPTIONS = StoreOptions.builder().build();

    private static final AtomicBoolean ARMED = new AtomicBoolean();
    private static final AtomicInteger LOOKS = new AtomicInteger();

    /** A frame is about to be looked for, after {@code before} others for the same read. */
    public static void takes(int before) {
        if (before > 0) {
            strike();
        }
    }

    /** A page that was read is about to be verified. */
    public static void verifies() {
        strike();
    }

    private static void strike() {
        if (ARMED.getAndSet(false)) {
            throw new InternalError("for a test");
        }
    }

    /** Somebody waits for a page that is being read ahead. */
    public static void waits() {
        if (LOOKS.incrementAndGet() > LOOKS_MAX) {
            throw new AssertionError("a page is waited for that nobody loads");
        }
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    @Override
    public void run() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS)) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(key(i), new byte[VALUE_BYTES]);
            }
        }
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS)) {
            ARMED.set(true);
            assertThrows(InternalError.class, () -> scan(store));
            scan(store);
            for (int i = 0; i < RECORDS; i++) {
                assertArrayEquals(new byte[VALUE_BYTES], store.get(key(i)));
            }
        }
    }

    private static void scan(KeyValueStore store) {
        try (Cursor cursor = store.cursor()) {
            for (int i = 0; i < RECORDS; i++) {
                assertTrue(cursor.next());
                assertArrayEquals(key(i), cursor.key());
            }
            assertFalse(cursor.next());
        }
    }
}
