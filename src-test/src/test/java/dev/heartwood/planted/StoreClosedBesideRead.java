package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Reads that find no frame and wait for others' calls, while the store is closed; runs in the engine that {@link ClosedBesideReadTest} has
 * loaded.
 */
public final class StoreClosedBesideRead implements Runnable {
    private static final byte[] KEY = {1};
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    @Override
    public void run() {
        closeBeside(store -> new WaitingRead(() -> store.get(KEY)));
        closeBeside(store -> {
            Snapshot snapshot = store.snapshot();
            return new WaitingRead(() -> snapshot.get(KEY));
        });
    }

    /** In an environment that stays open: one that belongs to the store would wait for the read when it is closed with it. */
    private static void closeBeside(Function<KeyValueStore, WaitingRead> reader) {
        try (Environment environment = EngineAccess.open(ENVIRONMENT, new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, StoreOptions.defaults());
            store.put(KEY, new byte[100]);
            WaitingRead read = reader.apply(store);
            Thread closer = Thread.ofPlatform().start(store::close);
            boolean waits = false;
            while (!waits && closer.isAlive()) {
                List<String> stack = Arrays.stream(closer.getStackTrace()).map(StackTraceElement::getMethodName).toList();
                waits = stack.contains("awaitUsers") && stack.contains("parkNanos");
            }
            read.goOn();
            Waits.join(read.thread());
            Waits.join(closer);
            assertTrue(waits, "the store was closed beneath a read");
            assertInstanceOf(ClosedException.class, read.failure());
        }
    }
}
