package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A read that has gathered operands, and is about to have the operator apply them, while the store is closed; runs in the engine that
 * {@link ClosedBesideReadTest} has loaded, which calls {@link #takes} and {@link #looked} there.
 */
public final class StoreClosedBesideOperator implements Runnable, MergeOperator {
    private static final byte[] KEY = {1};
    private static final byte[] OPERAND = {2};
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final ThreadLocal<StoreClosedBesideOperator> READER = new ThreadLocal<>();
    /** How often who closes has looked for calls and found one. */
    private static final AtomicInteger FOUND = new AtomicInteger();

    private volatile Thread closer;
    private boolean waits;

    /** A read is about to take the operands that it has gathered. */
    public static void takes() {
        StoreClosedBesideOperator read = READER.get();
        if (read != null) {
            // What is found once more may have been looked for before.
            int enough = FOUND.get() + 2;
            while (FOUND.get() < enough && read.isCloserIn("awaitEnd")) {
                Thread.onSpinWait();
            }
        }
    }

    /** Who closes has looked whether some call uses the store. */
    public static void looked(boolean isUsed) {
        if (isUsed) {
            FOUND.incrementAndGet();
        }
    }

    private boolean isCloserIn(String... methods) {
        List<String> stack = Arrays.stream(closer.getStackTrace()).map(StackTraceElement::getMethodName).toList();
        return stack.containsAll(List.of(methods));
    }

    @Override
    public String name() {
        return "beside";
    }

    @Override
    public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
        while (READER.get() == this && !waits && closer.isAlive()) {
            waits = isCloserIn("awaitEnd", "parkNanos");
        }
        return operands.getLast();
    }

    @Override
    public byte[] combine(byte[] key, List<byte[]> operands) {
        return operands.getLast();
    }

    @Override
    public void run() {
        try (Environment environment = EngineAccess.open(ENVIRONMENT, new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(
                    SimulatedStoreHost.DIRECTORY, StoreOptions.builder().mergeOperator(this).build());
            store.merge(KEY, OPERAND);
            WaitingRead read = new WaitingRead(() -> {
                READER.set(this);
                return store.get(KEY);
            });
            closer = Thread.ofPlatform().start(store::close);
            while (FOUND.get() == 0 && closer.isAlive()) {
                Thread.onSpinWait();
            }
            read.goOn();
            Waits.join(read.thread());
            Waits.join(closer);
            assertNull(read.failure());
            assertArrayEquals(OPERAND, read.value());
            assertTrue(waits, "the store was closed before the operator was called");
        }
    }
}
