package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * A batch that is filled where the stack ends, as by a recursion that adds at every level, is as it was when adding throws. One that could
 * not grow took the next entry to an array that it had given up, and wrote zeroes in the place of its key and value.
 */
class BatchStackTest {
    /** More than a batch has room for at first. */
    private static final int LARGE_BYTES = 1000;

    private static final int SMALL_BYTES = 20;
    private static final int DEPTHS = 400;
    private static final int ROUNDS = 4;
    private static final long STACK_BYTES = 1 << 18;

    private int refused;

    /** Does something {@code depth} levels down. */
    private static int descend(int depth, Runnable action) {
        if (depth == 0) {
            action.run();
            return 0;
        }
        return descend(depth - 1, action) + 1;
    }

    private static int deepest() {
        int reached = 0;
        int missed = 1 << 20;
        while (reached + 1 < missed) {
            int depth = (reached + missed) / 2;
            try {
                descend(depth, () -> {});
                reached = depth;
            } catch (StackOverflowError end) {
                missed = depth;
            }
        }
        return reached;
    }

    private static byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        Arrays.fill(value, (byte) 7);
        return value;
    }

    private void write(KeyValueStore store, int depth) {
        byte[] key = ("key" + depth).getBytes();
        byte[] large = value(LARGE_BYTES);
        byte[] value = large;
        try (WriteBatch batch = store.newBatch()) {
            try {
                descend(depth, () -> batch.put(key, large));
            } catch (StackOverflowError end) {
                refused++;
                assertEquals(0, batch.count());
                assertEquals(0, batch.bytes());
                value = value(SMALL_BYTES);
                batch.put(key, value);
            }
            assertEquals(1, batch.count());
            assertEquals(key.length + value.length, batch.bytes());
            store.write(batch);
        }
        assertArrayEquals(value, store.get(key));
    }

    private void writeAll(KeyValueStore store) {
        for (int round = 0; round < ROUNDS; round++) {
            int deepest = deepest();
            for (int depth = deepest - DEPTHS; depth <= deepest; depth++) {
                write(store, depth);
            }
        }
    }

    @Test
    void isAsItWasWhereTheStackEnds() throws InterruptedException {
        try (KeyValueStore store = SimulatedStoreHost.open(new SimulatedMachine(1), StoreOptions.builder().build())) {
            write(store, 1);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread thread = new Thread(null, () -> writeAll(store), "fills batches", STACK_BYTES);
            thread.setUncaughtExceptionHandler((ended, e) -> failure.set(e));
            thread.start();
            thread.join();
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
            assertTrue(refused > 0, "no stack was too short");
        }
    }
}
