package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreTuning;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Tunes a store back to what it was, after a call that would have tuned it to something else failed half way: it decides by itself again. Runs in the
 * engine that {@link FailedOnceTest} has loaded.
 */
public final class HalfTuned implements Runnable {
    /** What timers run later. */
    private final Queue<Runnable> later = new ArrayDeque<>();

    @Override
    public void run() {
        Surroundings surroundings = new Surroundings(count -> new Timed(), Clock.SYSTEM, () -> 1, 1);
        EnvironmentOptions options = EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
        try (Environment environment = EngineEnvironment.open(options, new SimulatedMachine(1), surroundings);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, StoreOptions.defaults())) {
            StoreTuning before = store.tuning();
            assertEquals(CompactionPolicyKind.AUTO, before.policy());
            assertTrue(isDeciding());
            FailingOnce.arm();
            assertThrows(OutOfMemoryError.class, () -> store.tune(before.withPolicy(CompactionPolicyKind.SIZE_TIERED)));
            assertEquals(before, store.tuning());
            // Once what was decided last has found that nothing is to be decided.
            isDeciding();
            store.tune(before);
            assertTrue(isDeciding(), "nothing is decided any more");
        }
    }

    /** Lets the time of all timers come once; returns whether any was started again. */
    private boolean isDeciding() {
        for (int timers = later.size(); timers > 0; timers--) {
            later.remove().run();
        }
        return !later.isEmpty();
    }

    /** Tasks are run by who waits for them. */
    private final class Timed implements Workers {
        private final QueuedTasks tasks = new QueuedTasks(() -> {});

        @Override
        public void submit(Priority priority, Runnable task) {
            tasks.submit(priority, task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return delayNanos -> later.add(task);
        }

        @Override
        public boolean runOneHere() {
            return tasks.runOneHere();
        }

        @Override
        public int count() {
            return tasks.count();
        }

        @Override
        public void close() {
            tasks.close();
        }
    }
}
