package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A cursor leaves a leaf, and noting what that has cost fails; runs in the engine that {@link FailedOnceTest} has loaded. */
abstract class FailedScanCount implements Runnable {
    private static final int KEYS = 6_000;
    private static final int VALUE_BYTES = 300;

    @Override
    public void run() {
        StoreOptions options = OptionMatrix.smallTree();
        try (Environment environment = EngineAccess.open(OptionMatrix.environment(options), new SimulatedMachine(1));
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, options)) {
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), value(i));
            }
            run(environment, store);
            assertFalse(FailingOnce.isArmed(), "failed");
        }
    }

    abstract void run(Environment environment, KeyValueStore store);

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static byte[] value(int number) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private static void assertNext(Cursor cursor, int from, int to) {
        for (int i = from; i < to; i++) {
            assertTrue(cursor.next());
            assertStandsOn(i, cursor);
        }
    }

    private static void assertStandsOn(int number, Cursor cursor) {
        assertArrayEquals(key(number), cursor.key());
        assertArrayEquals(value(number), cursor.value());
    }

    /** The page that the cursor stands on is let go of, which closing the store waits for. */
    public static final class WhileClosed extends FailedScanCount {
        @Override
        void run(Environment environment, KeyValueStore store) {
            store.checkpoint();
            Cursor cursor = store.cursor();
            assertNext(cursor, 0, 10);
            FailingOnce.arm();
            assertThrows(OutOfMemoryError.class, cursor::close);
        }
    }

    /** What the cursor walks next is none of what was taken from it. */
    public static final class WhileGivenBack extends FailedScanCount {
        @Override
        void run(Environment environment, KeyValueStore store) {
            try (Cursor cursor = store.cursor()) {
                assertNext(cursor, 0, 10);
                store.checkpoint();
                FailingOnce.arm();
                EngineAccess.recallMemtables(environment);
                assertFalse(FailingOnce.isArmed(), "failed as it was taken");
                for (int i = 0; i < KEYS; i++) {
                    store.put(key(i), value(i + 1)); // into memory that was given back
                }
                assertNext(cursor, 10, KEYS);
            }
        }
    }

    /** The leaf is opened anew when the cursor comes back to it. */
    public static final class WhileMoved extends FailedScanCount {
        @Override
        void run(Environment environment, KeyValueStore store) {
            store.checkpoint();
            store.settle();
            try (Cursor cursor = store.cursor()) {
                int[] at = {0};
                FailingOnce.arm();
                assertThrows(OutOfMemoryError.class, () -> {
                    while (at[0] < KEYS) {
                        assertNext(cursor, at[0], at[0] + 1);
                        at[0]++;
                    }
                });
                for (int i = at[0] - 1; i >= 0; i--) {
                    assertTrue(cursor.seek(key(i)));
                    assertStandsOn(i, cursor);
                }
            }
        }
    }
}
