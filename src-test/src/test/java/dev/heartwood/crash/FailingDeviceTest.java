package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreTuning;
import dev.heartwood.engine.store.StorePolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.History.Moment;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The Nth operation of a kind fails, for growing N until a run passes untouched. Whatever the store answers, what it had
 * acknowledged is there after the next loss of power.
 */
class FailingDeviceTest {
    private static final int STEPS = 500;
    private static final byte[] VALUE = new byte[1000];

    /** What is written stays in the log. */
    private static final StoreOptions LARGE_MEMTABLE = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.mib(1))
            .checkpointDistance(1000)
            .build();

    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"READ", "WRITE", "SYNC", "SYNC_MAPPED", "ALLOCATE", "MAP", "DELETE", "SYNC_DIRECTORY", "WRITE_FILE"})
    void nothingAcknowledgedIsLostWhateverFails(OperationKind kind) {
        Campaign.run(getClass(), 1, seed -> {
            boolean struck = true;
            for (long nth = 1; struck; nth += 1 + nth / 2) {
                struck = run(seed, kind, nth, Errno.EIO, Duration.ONCE);
                run(seed, kind, nth, Errno.EIO, Duration.FOR_GOOD);
            }
        });
    }

    @Test
    void afterAFailedSyncNothingIsWrittenUntilReopened() {
        SimulatedMachine machine = new SimulatedMachine(1);
        StoreOptions options = PowerLossTest.options(1);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            store.put(new byte[] {1}, new byte[] {1}, Durability.SYNC);
            machine.faults().fail(OperationKind.SYNC_MAPPED, 1, Errno.EIO, Duration.ONCE);
            machine.faults().fail(OperationKind.SYNC, 1, Errno.EIO, Duration.ONCE);
            assertThrows(StoreException.class, () -> store.put(new byte[] {2}, new byte[] {2}, Durability.SYNC));
            assertThrows(PreviousFailureException.class, () -> store.put(new byte[] {3}, new byte[] {3}));
            assertThrows(PreviousFailureException.class, () -> store.delete(new byte[] {3}));
            assertThrows(PreviousFailureException.class, store::sync);
            assertThrows(PreviousFailureException.class, () -> store.discard(KeyRange.all()));
            assertThrows(PreviousFailureException.class, () -> StorePolicies.of(store)
                    .set(KeyRange.all(), new Heights(0, 0), CompactionPolicyKind.LEVEL_TIERED));
            StoreTuning tuning = store.tuning();
            assertThrows(PreviousFailureException.class, () -> store.tune(tuning.withCheckpointDistance(77)));
            assertEquals(tuning, store.tuning());
            assertTrue(store.contains(new byte[] {1}));
        } catch (StoreException closing) {
            assertInstanceOf(PreviousFailureException.class, closing);
        }
        machine.faults().heal();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            assertTrue(store.contains(new byte[] {1}));
            store.put(new byte[] {3}, new byte[] {3}, Durability.SYNC);
        }
    }

    /** The operating system takes for written what a sync has failed to write: what is opened again has to be written anew. */
    @Test
    void whatAFailedSyncDidNotWriteIsNotInTheWayOfWhatIsSyncedLater() {
        Campaign.run(getClass(), 8, seed -> {
            SimulatedMachine machine = new SimulatedMachine(seed);
            StoreOptions options = PowerLossTest.options(seed);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                store.put(key(1), VALUE, Durability.SYNC);
                machine.faults().fail(OperationKind.SYNC_MAPPED, 1, Errno.EIO, Duration.ONCE);
                assertThrows(StoreIoException.class, () -> store.put(key(2), VALUE, Durability.SYNC));
            } catch (StoreException closing) {
                assertInstanceOf(PreviousFailureException.class, closing);
            }
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                for (int i = 3; i < 6; i++) {
                    store.put(key(i), VALUE, Durability.SYNC);
                    SimulatedMachine left = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
                    try (KeyValueStore found = SimulatedStoreHost.open(left, options)) {
                        assertTrue(found.contains(key(1)));
                        for (int j = 3; j <= i; j++) {
                            assertTrue(found.contains(key(j)), "key " + j + " after key " + i + " was acknowledged");
                        }
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void aFullDiskRefusesWritesKeepsReadingAndHeals(Durability durability) {
        Campaign.run(getClass(), 4, seed -> {
            History history = new History(seed, 3000, durability);
            SimulatedMachine machine = new SimulatedMachine(seed);
            StoreOptions options = PowerLossTest.options(seed);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                store.put("first".getBytes(), new byte[] {1});
                machine.capacity(machine.usedBytes() + (1 + seed % 16 << 19));
                boolean refused = false;
                for (int i = 0; i < 3000 && !refused; i++) {
                    try {
                        store.put(String.format("fill%06d", i).getBytes(), new byte[4000], durability);
                    } catch (NoSpaceException full) {
                        refused = true;
                    }
                }
                assertTrue(refused, "12 MB went into a disk that had no room for them");
                assertTrue(store.contains("first".getBytes()));
                assertTrue(store.contains("fill000000".getBytes()));
                machine.capacity(Long.MAX_VALUE);
                store.put("healed".getBytes(), new byte[] {1});
                history.advance(store);
                store.checkpoint();
            }
            SimulatedStoreHost.verify(machine);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                assertTrue(store.contains("healed".getBytes()));
                assertTrue(store.contains("fill000000".getBytes()));
            }
        });
    }

    /** The store was ended by it, although nobody needed the segment yet. */
    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EMFILE", "ENFILE", "ENOMEM"})
    void aSegmentThatCannotBeMadeAheadIsMadeWhenItIsNeeded(Errno errno) {
        SimulatedMachine machine = new SimulatedMachine(1);
        int written = 0;
        try (SteppedEnvironment environment = stepped(machine);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, LARGE_MEMTABLE)) {
            store.put(key(written++), VALUE);
            machine.faults().fail(OperationKind.MAP, 1, errno, Duration.ONCE);
            while (machine.faults().injected() == 0) {
                store.put(key(written++), VALUE);
                environment.finish();
            }
            while (written < STEPS) {
                store.put(key(written++), VALUE);
                environment.finish();
            }
            checkAll(machine.crash(CrashKind.KILL, new SplittableRandom(1)), written);
        }
        checkAll(machine, written);
    }

    /** Full segments of the log were closed and opened again, for which there may be no descriptor. */
    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EMFILE", "ENFILE", "ENOMEM"})
    void aSyncOpensNothing(Errno errno) {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (SteppedEnvironment environment = stepped(machine);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, LARGE_MEMTABLE)) {
            int written = fillSegments(environment, store);
            machine.faults().fail(OperationKind.MAP_EXISTING, 1, errno, Duration.FOR_GOOD);
            store.sync();
            machine.faults().heal();
            checkAll(machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1)), written);
        }
    }

    /**
     * The operating system could not write full segments of the log back, and nobody asked until a sync. They were closed by then, and it knew
     * nothing of it.
     */
    @Test
    void aSyncIsToldThatTheLogCouldNotBeWrittenBack() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (SteppedEnvironment environment = stepped(machine);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, LARGE_MEMTABLE)) {
            byte[] refusedKey = key(fillSegments(environment, store));
            machine.failWriteBack(SimulatedStoreHost.DIRECTORY, machine.files(SimulatedStoreHost.DIRECTORY).stream()
                    .filter(name -> name.endsWith(".seg"))
                    .findFirst()
                    .orElseThrow());
            assertThrows(StoreIoException.class, () -> store.put(refusedKey, VALUE, Durability.SYNC));
            assertThrows(PreviousFailureException.class, () -> store.put(refusedKey, VALUE));
            checkAll(machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1)), 0);
        } catch (StoreException closing) {
            assertInstanceOf(PreviousFailureException.class, closing);
        }
    }

    /** Writes what takes several segments of the log, of which nothing is synced; returns the number of keys. */
    private static int fillSegments(SteppedEnvironment environment, KeyValueStore store) {
        int written = 0;
        while (written < STEPS) {
            store.put(key(written++), VALUE, Durability.BUFFERED);
            environment.finish();
        }
        return written;
    }

    private static SteppedEnvironment stepped(SimulatedMachine machine) {
        return new SteppedEnvironment(1, OptionMatrix.environment(LARGE_MEMTABLE), machine);
    }

    private static byte[] key(int i) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(i).array();
    }

    /** The store opens, and the first so many keys are there. */
    private static void checkAll(SimulatedMachine machine, int keys) {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, LARGE_MEMTABLE)) {
            for (int i = 0; i < keys; i++) {
                assertArrayEquals(VALUE, store.get(key(i)), "key " + i + " of " + keys);
            }
        }
        SimulatedStoreHost.verify(machine);
    }

    /** One history with one fault; returns whether it struck. */
    private static boolean run(long seed, OperationKind kind, long nth, Errno errno, Duration duration) {
        History history = new History(seed, STEPS, Durability.SYNC, Durability.BUFFERED);
        SimulatedMachine machine = new SimulatedMachine(seed);
        StoreOptions options = PowerLossTest.options(seed);
        machine.faults().fail(kind, nth, errno, duration);
        int acknowledged = drive(machine, options, history);
        Moment moment = new Moment(acknowledged, history.begun());
        boolean struck = machine.faults().injected() > 0;
        SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed + nth));
        try (KeyValueStore store = SimulatedStoreHost.open(next, options)) {
            String complaint = history.explain(CrashKind.POWER_LOSS, moment, store);
            assertNull(complaint, () -> "with " + kind + " number " + nth + " failing " + duration + ": " + complaint);
        }
        SimulatedStoreHost.verify(next);
        return struck;
    }

    /** Takes steps until one fails; only exceptions of the store may come out. Returns the steps acknowledged. */
    private static int drive(SimulatedMachine machine, StoreOptions options, History history) {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            while (history.begun() < history.size()) {
                history.advance(store);
            }
            store.checkpoint();
        } catch (StoreException expected) {
            return history.acknowledged();
        }
        return history.acknowledged();
    }
}
