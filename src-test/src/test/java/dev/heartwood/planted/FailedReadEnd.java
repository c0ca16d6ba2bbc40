package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TailMergeOperator;
import java.lang.foreign.MemorySegment;

/**
 * Closes a store after reads of a snapshot that had operands to apply and failed as they ended; runs in the engine that {@link FailedOnceTest} has
 * loaded.
 */
public final class FailedReadEnd implements Runnable {
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    @Override
    public void run() {
        EnvironmentOptions options =
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        StoreOptions merging = StoreOptions.builder().mergeOperator(new TailMergeOperator()).build();
        try (Environment environment = EngineAccess.open(options, new SimulatedMachine(1));
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, merging)) {
            store.merge(KEY, VALUE);
            try (Snapshot snapshot = store.snapshot()) {
                FailingOnce.arm();
                assertThrows(OutOfMemoryError.class, () -> snapshot.get(KEY));
                FailingOnce.arm();
                MemorySegment room = MemorySegment.ofArray(new byte[8]);
                assertThrows(OutOfMemoryError.class, () -> snapshot.get(MemorySegment.ofArray(KEY), room));
                assertArrayEquals(VALUE, snapshot.get(KEY));
            }
        }
    }
}
