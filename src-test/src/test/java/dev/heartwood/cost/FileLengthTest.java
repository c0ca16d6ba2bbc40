package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** That the data file of a store is as long as what it holds asks for, however often the store is opened and whatever is dropped. */
class FileLengthTest {
    private static final int RECORDS = 60_000;
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    /** What is free in the file is used before it grows, in the next life as well. */
    @Test
    void aStoreThatIsOpenedAgainAndAgainDoesNotGrow() {
        long first = 0;
        try (SteppedEnvironment environment = environment()) {
            for (int life = 0; life < 12; life++) {
                try (KeyValueStore store = environment.open(Path.of("store"), OPTIONS)) {
                    for (int i = 0; i < RECORDS; i++) {
                        // All of it at first, then the same fifth of it in every life.
                        if (life == 0 || i % 5 == 0) {
                            store.put(Load.key(i), Load.value(i + life));
                        }
                        if (i % 500 == 0) {
                            environment.finish();
                        }
                    }
                    store.settle();
                }
                try (KeyValueStore store = environment.open(Path.of("store"), OPTIONS)) {
                    long bytes = store.stats().diskBytes();
                    first = life < 2 ? bytes : first;
                    assertTrue(bytes <= first * 5 / 4, "life " + life + ": " + bytes + " bytes, after the second " + first);
                }
            }
        }
    }

    /** One whose background works in steps, so that every run has the same files. */
    private static SteppedEnvironment environment() {
        return new SteppedEnvironment(1, OptionMatrix.environment(OPTIONS), new SimulatedMachine(1));
    }

    /** Without a write the next checkpoint would not come. */
    @Test
    void aStoreAtRestGivesUpWhatWasDiscarded() {
        try (SteppedEnvironment environment = environment()) {
            environment.holdTime();
            KeyValueStore store = environment.open(Path.of("store"), OPTIONS);
            Load.random(store, RECORDS);
            store.settle();
            store.checkpoint();
            for (int second = 0; second < 30; second++) {
                environment.passTime();
            }
            long before = store.stats().liveBytes();
            store.discard(KeyRange.all());
            for (int second = 0; second < 15; second++) {
                environment.passTime();
            }
            long after = store.stats().liveBytes();
            assertTrue(after < before / 4, after + " bytes are live, before " + before);
        }
    }
}
