package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedEnvironment;
import java.lang.StackWalker.StackFrame;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One page of the data file cannot be written by a checkpoint: it is reported, and nothing is written until the store is opened again. */
class FailedDataWriteTest {
    private static final byte[] VALUE = new byte[200];
    private static final int FAR = 100;

    /** Who writes the page. */
    private enum Writer {
        /** Pages of branches and filters. */
        WRITE_BACK("WriteBack"),
        /** Pages of trunk nodes. */
        NODE_PAGES("NodePages");

        private final String className;

        Writer(String className) {
            this.className = className;
        }

        private boolean isCalling() {
            return StackWalker.getInstance()
                    .walk(frames -> frames.map(StackFrame::getClassName).anyMatch(name -> name.endsWith("." + className)));
        }

        /** Makes its next write fail, once. */
        void failNext(SimulatedMachine machine) {
            machine.faults().listen((kind, number, path) -> {
                if (kind == OperationKind.WRITE && isCalling()) {
                    machine.faults().listen(null);
                    machine.faults().fail(OperationKind.WRITE, 1, Errno.EIO, Duration.ONCE);
                }
            });
        }
    }

    /** Checkpoints after so many memtables: after every one, or when they are asked for alone. */
    private static StoreOptions options(int checkpointDistance) {
        return PowerLossTest.options(1).toBuilder().checkpointDistance(checkpointDistance).build();
    }

    private static byte[] key(int i) {
        return ("key" + i).getBytes();
    }

    private static void requireStopped(KeyValueStore store) {
        assertThrows(PreviousFailureException.class, () -> store.put(key(0), VALUE));
        assertThrows(PreviousFailureException.class, () -> store.delete(key(0)));
        assertThrows(PreviousFailureException.class, store::sync);
        assertThrows(PreviousFailureException.class, store::checkpoint);
        assertArrayEquals(VALUE, store.get(key(0)));
    }

    private static void requireWhole(SimulatedMachine machine, int count) {
        assertEquals(1, machine.faults().injected());
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(FAR))) {
            for (int i = 0; i < count; i++) {
                assertArrayEquals(VALUE, store.get(key(i)), "key " + i);
            }
            store.put(key(count), VALUE);
            store.checkpoint();
        }
        SimulatedStoreHost.verify(machine);
    }

    @ParameterizedTest
    @EnumSource(Writer.class)
    void whoAskedForTheCheckpointIsTold(Writer writer) {
        SimulatedMachine machine = new SimulatedMachine(1);
        KeyValueStore store = SimulatedStoreHost.open(machine, options(FAR));
        store.put(key(0), VALUE);
        writer.failNext(machine);
        assertThrows(StoreException.class, store::checkpoint);
        requireStopped(store);
        assertThrows(PreviousFailureException.class, store::close);
        requireWhole(machine, 1);
    }

    @ParameterizedTest
    @EnumSource(Writer.class)
    void whoClosesIsTold(Writer writer) {
        SimulatedMachine machine = new SimulatedMachine(1);
        KeyValueStore store = SimulatedStoreHost.open(machine, options(FAR));
        store.put(key(0), VALUE);
        writer.failNext(machine);
        assertThrows(StoreException.class, store::close);
        requireWhole(machine, 1);
    }

    @ParameterizedTest
    @EnumSource(Writer.class)
    void afterACheckpointThatNobodyAskedForTheNextCallerIsTold(Writer writer) {
        SimulatedMachine machine = new SimulatedMachine(1);
        int count = 0;
        try (SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(options(1)), machine)) {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, options(1));
            writer.failNext(machine);
            while (machine.faults().injected() == 0) {
                store.put(key(count++), VALUE);
                environment.finish();
            }
            requireStopped(store);
            assertThrows(PreviousFailureException.class, store::close);
        }
        requireWhole(machine, count);
    }

    /** What was written without a log is lost. */
    @ParameterizedTest
    @EnumSource(Writer.class)
    void afterACheckpointThatNobodyAskedForWhoClosesIsTold(Writer writer) {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(options(1)), machine)) {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, options(1));
            writer.failNext(machine);
            for (int i = 0; machine.faults().injected() == 0; i++) {
                store.put(key(i), VALUE, Durability.NONE);
                environment.finish();
            }
            PreviousFailureException told = assertThrows(PreviousFailureException.class, store::close);
            assertInstanceOf(StoreException.class, told.getCause());
        }
    }
}
