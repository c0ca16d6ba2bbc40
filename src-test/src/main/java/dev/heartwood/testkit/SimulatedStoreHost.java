package dev.heartwood.testkit;

import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;

/** The engine on a {@link SimulatedMachine}. */
public final class SimulatedStoreHost implements StoreHost {
    /** Where the store is. */
    public static final Path DIRECTORY = Path.of("simulated", "store");

    /** After how many operations open views are asked to give memtables back, beside a background on threads. */
    private static final int STEPS_PER_RECALL = 16;

    private final OptionMatrix matrix;
    private SimulatedMachine machine;

    /** The environment of the store that is open, when nothing happens in it by itself; else null. */
    private SteppedEnvironment stepped;

    /** The environment of the store that is open, when it works on threads of its own; else null. */
    private Environment threaded;

    /** The store that is open in {@link #stepped}. */
    private KeyValueStore opened;

    private int steps;

    private final Running running;

    /** How the background works. */
    public enum Running {
        /** On threads of its own. */
        IN_THREADS,
        /** Step by step, so that one seed is one history. */
        IN_STEPS
    }

    /** A host of an empty store on a machine of its own. */
    public SimulatedStoreHost(long seed, Running running) {
        this.running = running;
        matrix = new OptionMatrix(seed);
        machine = new SimulatedMachine(seed);
    }

    /** The machine as it is now. */
    public SimulatedMachine machine() {
        return machine;
    }

    @Override
    public KeyValueStore open(RandomGenerator random) {
        StoreOptions options = matrix.next(random);
        if (running == Running.IN_THREADS) {
            threaded = EngineAccess.open(OptionMatrix.environment(options), machine);
            return openOwned(threaded, options);
        }
        stepped = new SteppedEnvironment(random.nextLong(), OptionMatrix.environment(options), machine);
        opened = stepped.openOwned(DIRECTORY, options);
        return opened;
    }

    @Override
    public void requireNoLeak() {
        if (stepped != null) {
            stepped.requireNoLeak(opened);
        }
    }

    @Override
    public void step() {
        if (stepped != null) {
            stepped.step();
        } else if (++steps % STEPS_PER_RECALL == 0) {
            EngineAccess.recallMemtables(threaded);
        }
    }

    /** Opens the store of any machine in an environment of its own. */
    public static KeyValueStore open(SimulatedMachine machine, StoreOptions options) {
        return openOwned(EngineAccess.open(OptionMatrix.environment(options), machine), options);
    }

    private static KeyValueStore openOwned(Environment environment, StoreOptions options) {
        try {
            return environment.openOwned(DIRECTORY, options);
        } catch (Throwable failure) {
            environment.close();
            throw failure;
        }
    }

    @Override
    public boolean canCrash() {
        return true;
    }

    @Override
    public void crash(CrashKind kind, RandomGenerator random) {
        machine = machine.crash(kind, random);
    }

    @Override
    public void verify() {
        verify(machine);
    }

    /** Checks the closed store of a machine as a whole. */
    public static void verify(SimulatedMachine machine) {
        try (Storage storage = machine.storage(DIRECTORY)) {
            List<String> problems = EngineAccess.problems(storage);
            if (!problems.isEmpty()) {
                throw new AssertionError("verification found:\n" + String.join("\n", problems));
            }
        }
    }
}
