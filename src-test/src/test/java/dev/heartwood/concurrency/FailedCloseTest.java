package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Whatever closing one thing throws, everything else is closed all the same, and the first failure is thrown. */
class FailedCloseTest {
    private static final Path ONE = Path.of("one");
    private static final Path TWO = Path.of("two");
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
    private static final StoreOptions OPTIONS = StoreOptions.builder().build();
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    /** The error of the first store ended the closing: the second kept its lock, and the environment its memory and threads. */
    @Test
    void anEnvironmentClosesItsStoresWhateverOneThrows() {
        int regions = MemoryRegions.count();
        SimulatedMachine machine = new SimulatedMachine(1);
        Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
        KeyValueStore one = environment.open(ONE, OPTIONS);
        KeyValueStore two = environment.open(TWO, OPTIONS);
        one.put(KEY, VALUE);
        two.put(KEY, VALUE);
        InternalError error = new InternalError("for a test");
        machine.faults().listen((kind, ordinal, path) -> {
            if (kind == OperationKind.SYNC && path.startsWith(ONE.toString())) {
                throw error;
            }
        });
        assertSame(error, assertThrows(InternalError.class, environment::close));
        machine.faults().listen(null);
        assertThrows(ClosedException.class, () -> one.get(KEY));
        assertThrows(ClosedException.class, () -> two.get(KEY));
        environment.close();
        assertEquals(regions, MemoryRegions.count());
        try (Environment later = EngineEnvironment.open(ENVIRONMENT, machine)) {
            assertArrayEquals(VALUE, later.open(ONE, OPTIONS).get(KEY));
            assertArrayEquals(VALUE, later.open(TWO, OPTIONS).get(KEY));
        }
    }
}
