package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedWorkers;
import java.nio.ByteBuffer;

/**
 * Closes a store while a writer is about to have a memtable packed; runs in the engine that {@link ClosedWhilePackingTest} has loaded,
 * which calls {@link #looked} there.
 */
public final class ClosedWhilePacking implements Runnable {
    private static final Runnable NOTHING = () -> {};
    private static Runnable whenLooked = NOTHING;

    private SteppedWorkers workers;

    /** Whoever wants a memtable packed has seen that the store is open, and has looked which one it is. */
    public static void looked() {
        Runnable now = whenLooked;
        whenLooked = NOTHING;
        now.run();
    }

    @Override
    public void run() {
        Surroundings surroundings = new Surroundings(this::newWorkers, Clock.SYSTEM, () -> 1, 1);
        EnvironmentOptions options = EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
        try (Environment environment = EngineEnvironment.open(options, new SimulatedMachine(1), surroundings)) {
            KeyValueStore store = environment.open(
                    SimulatedStoreHost.DIRECTORY, StoreOptions.builder().memtable(ByteSize.kib(64)).build());
            boolean[] closed = {false};
            whenLooked = () -> {
                store.close();
                finish();
                closed[0] = true;
            };
            assertThrows(ClosedException.class, () -> {
                for (int i = 0; !closed[0]; i++) {
                    store.put(ByteBuffer.allocate(4).putInt(i).array(), new byte[1000]);
                }
            });
            assertEquals(0, workers.queued(), "tasks of a store that is closed");
        }
    }

    private SteppedWorkers newWorkers(int count) {
        workers = new SteppedWorkers(1, count);
        return workers;
    }

    private void finish() {
        while (workers.runOneHere()) {
            // A task may submit further ones.
        }
    }
}
