package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A page that was to be written in the background could not be: whoever writes next is told, and not the one who waits for a checkpoint. */
class WriteBackFailureTest {
    private static final long SEED = 3;
    private static final int PUTS_MAX = 20_000;
    private static final byte[] VALUE = new byte[1000];
    private static final int NTH_MAX = 200;
    private static final int STEPS_MAX = 1000;

    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memory(ByteSize.mib(16))
            .memtable(ByteSize.kib(64))
            .checkpointDistance(1000)
            .build();

    private static byte[] key(int i) {
        return ByteBuffer.allocate(8).putInt(i * 0x9E3779B9).putInt(i).array();
    }

    @Test
    void theNextWriteIsRefused() {
        for (long nth = 1; nth < NTH_MAX; nth += 1 + nth / 2) {
            refused(nth);
        }
    }

    private static void refused(long nth) {
        SimulatedMachine machine = new SimulatedMachine(SEED);
        SteppedEnvironment environment =
                new SteppedEnvironment(SEED, EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(), machine::storage);
        List<Throwable> told = new ArrayList<>();
        StoreListener listener = new StoreListener() {
            @Override
            public void stopped(Throwable cause) {
                told.add(cause);
            }
        };
        KeyValueStore store =
                environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS.toBuilder().listener(listener).build());
        machine.faults().fail(OperationKind.WRITE, nth, Errno.EIO, Duration.ONCE);
        int puts = 0;
        while (machine.faults().injected() == 0 && puts < PUTS_MAX) {
            store.put(key(puts), VALUE);
            puts++;
            environment.step();
        }
        assertTrue(puts < PUTS_MAX, "nothing was written " + nth + " times");
        for (int steps = 0; steps < STEPS_MAX && told.isEmpty(); steps++) {
            environment.step();
        }
        assertEquals(1, told.size(), "nobody has to write to learn of it");
        assertTrue(Errno.EIO.isNamedBy(assertInstanceOf(StoreIoException.class, told.getFirst())));
        byte[] next = key(puts);
        assertThrows(PreviousFailureException.class, () -> store.put(next, VALUE), () -> "after write " + nth);
        assertThrows(PreviousFailureException.class, () -> store.delete(next));
        assertThrows(PreviousFailureException.class, store::sync);
        assertThrows(PreviousFailureException.class, store::checkpoint);
        assertArrayEquals(VALUE, store.get(key(0)));
        assertThrows(PreviousFailureException.class, environment::close);
        assertEquals(1, told.size(), "it is told once");
    }

    /** Also when there is a memtable left to pack, which nobody can any more. */
    @Test
    void theBackgroundOfAStoreThatFailedComesToRest() {
        SimulatedMachine machine = new SimulatedMachine(SEED);
        SteppedEnvironment environment =
                new SteppedEnvironment(SEED, EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(), machine::storage);
        KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS);
        for (int i = 0; i < 100; i++) {
            store.put(key(i), VALUE);
        }
        machine.faults().fail(OperationKind.SYNC_MAPPED, 1, Errno.EIO, Duration.ONCE);
        assertThrows(StoreIoException.class, store::sync);
        assertFalse(environment.isFinished(), "a memtable waits for being packed");
        for (int steps = 0; steps < STEPS_MAX && !environment.isFinished(); steps++) {
            environment.step();
        }
        assertTrue(environment.isFinished(), "it goes on for ever");
        assertThrows(PreviousFailureException.class, environment::close);
    }
}
