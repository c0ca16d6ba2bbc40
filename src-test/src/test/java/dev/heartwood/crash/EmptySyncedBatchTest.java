package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * An empty batch written with {@link Durability#SYNC} returned at once and synced nothing. The buffered writes before it
 * were lost with the power although a later write, the batch, had been acknowledged as synced: what was recovered was no
 * prefix that holds every acknowledged write. Neither did such a batch notice that the store was closed or had failed.
 */
class EmptySyncedBatchTest {
    private static final int WRITES = 5;

    private static void writeEmptyBatch(KeyValueStore store, Durability durability) {
        try (WriteBatch batch = store.newBatch()) {
            store.write(batch, durability);
        }
    }

    @Test
    void itMakesWhatWasLoggedBeforeSurviveThePowerLoss() {
        Campaign.run(getClass(), 16, seed -> {
            SimulatedMachine machine = new SimulatedMachine(seed);
            StoreOptions options = PowerLossTest.options(seed);
            SimulatedMachine next;
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                for (int i = 0; i < WRITES; i++) {
                    store.put(new byte[] {(byte) i}, new byte[100 * i], Durability.BUFFERED);
                }
                writeEmptyBatch(store, Durability.SYNC);
                next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            }
            try (KeyValueStore store = SimulatedStoreHost.open(next, options)) {
                for (int i = 0; i < WRITES; i++) {
                    assertTrue(store.contains(new byte[] {(byte) i}), "write " + i + " is lost");
                }
            }
        });
    }

    @Test
    void itSyncsOnlyAtTheLevelThatPromisesIt() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, PowerLossTest.options(1))) {
            // The first sync of a segment syncs the claim to it, too; and synced writes have a segment of their own.
            store.put(new byte[] {0}, new byte[] {1}, Durability.BUFFERED);
            writeEmptyBatch(store, Durability.SYNC);
            store.put(new byte[] {1}, new byte[] {1}, Durability.BUFFERED);
            long before = machine.faults().count(OperationKind.SYNC_MAPPED);
            writeEmptyBatch(store, Durability.NONE);
            writeEmptyBatch(store, Durability.BUFFERED);
            assertEquals(before, machine.faults().count(OperationKind.SYNC_MAPPED));
            writeEmptyBatch(store, Durability.SYNC);
            assertEquals(before + 1, machine.faults().count(OperationKind.SYNC_MAPPED));
            writeEmptyBatch(store, Durability.SYNC);
            assertEquals(before + 1, machine.faults().count(OperationKind.SYNC_MAPPED), "nothing new to sync");
        }
    }

    @Test
    void itIsRefusedOnceTheStoreHasFailedOrIsClosed() {
        SimulatedMachine machine = new SimulatedMachine(1);
        KeyValueStore store = SimulatedStoreHost.open(machine, PowerLossTest.options(1));
        WriteBatch batch = store.newBatch();
        store.put(new byte[] {1}, new byte[] {1}, Durability.BUFFERED);
        machine.faults().fail(OperationKind.SYNC_MAPPED, 1, Errno.EIO, Duration.ONCE);
        assertThrows(StoreException.class, () -> store.write(batch, Durability.SYNC));
        assertThrows(PreviousFailureException.class, () -> store.write(batch, Durability.NONE));
        assertThrows(PreviousFailureException.class, store::close);
        assertThrows(ClosedException.class, () -> store.write(batch, Durability.NONE));
        batch.close();
    }
}
