package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A process was killed, or a sync failed, while a checkpoint wrote its superblocks, and the machine loses its power while the store is opened again: of
 * what the opening read nothing may have been durable.
 */
class PowerLossWhileOpeningTest {
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memory(ByteSize.mib(16)).build();

    private static final byte[] KEY = {7};
    private static final int SEEDS = 12;

    @Test
    void afterAKillAtAnyStepOfACheckpoint() {
        List<SimulatedMachine> killed = new ArrayList<>();
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            write(store);
            machine.faults().listen((kind, ordinal, path) ->
                    killed.add(machine.crash(CrashKind.KILL, new SplittableRandom(1))));
            store.checkpoint();
            machine.faults().listen(null);
        }
        assertTrue(killed.size() > 4, "data and two superblocks, written and synced: " + killed.size());
        int opened = 0;
        for (SimulatedMachine image : killed) {
            opened += openAfterPowerLossWhileOpening(image);
        }
        assertTrue(opened > 10 * killed.size(), "power was lost during " + opened + " steps");
    }

    @Test
    void afterAnySyncOfACheckpointThatFailed() {
        int tried = 0;
        while (failSyncs(tried + 1)) {
            tried++;
        }
        assertTrue(tried >= 3, "the data and both superblocks are synced: " + tried);
    }

    /** Fails the nth sync of a checkpoint, in several ways to lose what it was of; false when there are fewer. */
    private static boolean failSyncs(int nth) {
        boolean failed = false;
        for (int seed = 0; seed < SEEDS; seed++) {
            SimulatedMachine machine = new SimulatedMachine(seed);
            KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS);
            write(store);
            machine.faults().fail(OperationKind.SYNC, nth, Errno.EIO, Duration.ONCE);
            boolean isReported = fails(store::checkpoint);
            failed = machine.faults().injected() > 0;
            assertEquals(failed, isReported, "sync " + nth);
            machine.faults().heal();
            fails(store::close);
            openAfterPowerLossWhileOpening(machine);
        }
        return failed;
    }

    private static boolean fails(Runnable call) {
        try {
            call.run();
            return false;
        } catch (StoreException reported) {
            return true;
        }
    }

    private static void write(KeyValueStore store) {
        store.put(KEY, new byte[] {1});
        store.checkpoint();
        for (int i = 0; i < 100; i++) {
            store.put(new byte[] {8, (byte) i}, new byte[50], Durability.SYNC);
        }
    }

    /** Loses the power at every step of an opening, everything unsynced being garbage, or none of it there; returns at how many. */
    private static int openAfterPowerLossWhileOpening(SimulatedMachine image) {
        List<SimulatedMachine> dark = new ArrayList<>();
        image.faults().listen((kind, ordinal, path) -> {
            BitSet all = new BitSet();
            all.set(0, image.undecided());
            dark.add(image.powerLoss(new BitSet(), all));
            dark.add(image.powerLoss(new BitSet(), new BitSet()));
        });
        try (KeyValueStore store = SimulatedStoreHost.open(image, OPTIONS)) {
            image.faults().listen(null);
            check(store);
        }
        for (SimulatedMachine machine : dark) {
            try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
                check(store);
            }
        }
        return dark.size();
    }

    private static void check(KeyValueStore store) {
        assertArrayEquals(new byte[] {1}, store.get(KEY));
        for (int i = 0; i < 100; i++) {
            assertTrue(store.contains(new byte[] {8, (byte) i}), "synced write " + i);
        }
    }
}
