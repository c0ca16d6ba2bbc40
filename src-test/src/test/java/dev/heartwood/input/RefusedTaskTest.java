package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.ThreadWorkers;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a full Java heap keeps from being submitted stops the store: nobody waits for it, and the store closes and opens again. The error
 * is another here, since the test framework ends with that of a full heap.
 */
class RefusedTaskTest {
    private static final Path DIRECTORY = Path.of("store");
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
    private static final int KEYS = 1_000_000;

    /** Refuses one task of a priority, once it is told to. */
    private record Refusing(Workers workers, Priority refused, AtomicBoolean refuses) implements Workers {
        @Override
        public void submit(Priority priority, Runnable task) {
            if (priority == refused && refuses.compareAndSet(true, false)) {
                throw new InternalError("for a test");
            }
            workers.submit(priority, task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return workers.timer(priority, task);
        }

        @Override
        public int count() {
            return workers.count();
        }

        @Override
        public void close() {
            workers.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SEAL", "COMPACT", "CHECKPOINT"})
    void stopsTheStore(Priority refused) {
        AtomicBoolean refuses = new AtomicBoolean();
        Surroundings surroundings = new Surroundings(
                count -> new Refusing(new ThreadWorkers("refusing", count), refused, refuses), Clock.SYSTEM, () -> 1, 2);
        SimulatedMachine machine = new SimulatedMachine(1);
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine, surroundings)) {
            int[] written = {0};
            KeyValueStore store = environment.open(DIRECTORY, StoreOptions.builder().build());
            refuses.set(true);
            assertThrows(PreviousFailureException.class, () -> {
                while (written[0] < KEYS) {
                    if (put(store, written[0])) {
                        written[0]++;
                    } else {
                        refuses.set(true);
                    }
                }
            });
            assertThrows(PreviousFailureException.class, store::close);
            try (KeyValueStore again = environment.open(DIRECTORY, StoreOptions.builder().build())) {
                for (int i = 0; i < written[0]; i++) {
                    assertArrayEquals(value(i), again.get(key(i)));
                }
            }
        }
    }

    /** False when the write asked for a log segment to be made ahead, and was refused with that. */
    private static boolean put(KeyValueStore store, int i) {
        try {
            store.put(key(i), value(i));
            return true;
        } catch (InternalError refused) {
            return false;
        }
    }

    private static byte[] key(int i) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(i * 0x9E3779B1).array();
    }

    private static byte[] value(int i) {
        return ByteBuffer.allocate(100).putInt(i).array();
    }
}
