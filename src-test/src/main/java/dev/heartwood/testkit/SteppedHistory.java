package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A {@link History} carried out in a {@link SteppedEnvironment} by two callers in turn, with what the disk saw of it.
 *
 * @param trace every operation on the storage, in order
 * @param contents the hashes of all files at the end
 */
record SteppedHistory(List<String> trace, List<String> contents) {
    private static final int CALLERS = 2;
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;

    static SteppedHistory run(long seed, int steps) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        List<String> trace = new ArrayList<>();
        machine.faults().listen((kind, ordinal, path) -> trace.add(ordinal + " " + kind + " " + path));
        StoreOptions options = new OptionMatrix(seed).next(new SplittableRandom(seed));
        History history = new History(seed, steps, Durability.values());
        SplittableRandom random = new SplittableRandom(seed);
        try (SteppedCallers callers = new SteppedCallers(CALLERS)) {
            SteppedEnvironment environment =
                    new SteppedEnvironment(seed, OptionMatrix.environment(options), machine);
            KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, options));
            for (int i = 0; i < steps; i++) {
                callers.call(random.nextInt(CALLERS), () -> {
                    history.advance(store);
                    environment.step();
                    return null;
                });
            }
            callers.call(0, () -> {
                environment.close();
                return null;
            });
        }
        List<String> contents = machine.files(DIRECTORY).stream()
                .map(name -> name + " " + machine.size(DIRECTORY, name) + " "
                        + Integer.toHexString(Arrays.hashCode(machine.contents(DIRECTORY, name))))
                .toList();
        return new SteppedHistory(trace, contents);
    }
}
