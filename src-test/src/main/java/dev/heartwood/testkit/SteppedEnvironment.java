package dev.heartwood.testkit;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MemoryStats;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * An environment in which nothing happens by itself: no threads, a simulated clock, numbers from a seed. With storages of a {@link
 * SimulatedMachine} and calls from {@link SteppedCallers}, one seed is one history. One thread at a time.
 */
public final class SteppedEnvironment implements AutoCloseable {
    private final Environment environment;
    /** In how many steps open views are asked once to give memtables back. */
    private static final int STEPS_PER_RECALL = 8;

    private final SplittableRandom random;
    private final SplittableRandom recalls;
    private SteppedWorkers workers;

    /** An environment for two threads that write; everything undetermined follows from the seed. */
    public SteppedEnvironment(long seed, EnvironmentOptions options, Function<Path, Storage> storages) {
        random = new SplittableRandom(seed);
        SplittableRandom identities = random.split();
        recalls = new SplittableRandom(~seed);
        SimulatedClock clock = new SimulatedClock(random.nextLong());
        Surroundings surroundings = new Surroundings(this::newWorkers, clock, identities::nextLong, 2);
        environment = EngineEnvironment.open(options, storages, surroundings);
    }

    private SteppedWorkers newWorkers(int count) {
        workers = new SteppedWorkers(random.nextLong(), count);
        return workers;
    }

    /** Opens a store in the environment. */
    public KeyValueStore open(Path directory, StoreOptions options) {
        return environment.open(directory, options);
    }

    /** The memory of all stores now. */
    public MemoryStats memoryStats() {
        return environment.memoryStats();
    }

    /** Opens the one store of the environment, which closes with it. */
    KeyValueStore openOwned(Path directory, StoreOptions options) {
        try {
            return environment.openOwned(directory, options);
        } catch (Throwable failure) {
            environment.close();
            throw failure;
        }
    }

    /** Lets the background do a few of the tasks that wait, or none; sometimes somebody wants the memory of memtables. */
    public void step() {
        if (recalls.nextInt(STEPS_PER_RECALL) == 0) {
            EngineAccess.recallMemtables(environment);
        }
        for (int tasks = random.nextInt(3); tasks > 0; tasks--) {
            workers.runOneHere();
        }
    }

    /** Lets the background do everything that waits. */
    public void finish() {
        while (workers.runOneHere()) {
            // A task may submit further ones.
        }
    }

    /**
     * Checks that a store has no extents but those that its tree refers to: whatever it did since it was opened, it gave back what it took,
     * since what it lost track of would come back only when it is opened again. While no views are open.
     *
     * @throws dev.heartwood.StoreException when it takes no more writes, or has no space to settle
     */
    void requireNoLeak(KeyValueStore store) {
        store.settle();
        // What was passed over may be merged once the space of the last checkpoint is free, which the next one then is of.
        do {
            finish();
            store.checkpoint();
        } while (!isFinished());
        long taken = store.stats().liveBytes() / PageLayout.EXTENT_BYTES;
        // The superblocks' extent was never taken.
        long used = store.verify().usedExtents() - 1;
        DifferentialRun.check(taken == used, () -> taken + " extents are taken, and the tree refers to " + used);
    }

    /** Whether nothing waits for the background. */
    public boolean isFinished() {
        return workers.queued() == 0;
    }

    /** Lets so much time pass that what was to be done later is done, with everything that follows. */
    public void passTime() {
        workers.passTime();
        finish();
    }

    /** From now on time passes by {@link #passTime} alone, so that a second is as much as the driver of a test says. */
    public void holdTime() {
        workers.holdTime();
    }

    /** As the workers'. */
    public void holdCheckpoints() {
        workers.holdCheckpoints();
    }

    public void letCheckpointsGo() {
        workers.letCheckpointsGo();
    }

    @Override
    public void close() {
        environment.close();
    }
}
