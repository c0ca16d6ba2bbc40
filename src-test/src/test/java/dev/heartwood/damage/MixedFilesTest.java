package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Files of another store, or of another time, lie where a store's own should be. */
class MixedFilesTest {
    private static void put(KeyValueStore store, int from, int count, Durability durability) {
        for (int i = from; i < from + count; i++) {
            store.put(Integer.toString(i).getBytes(), new byte[100], durability);
        }
    }

    private static List<byte[]> keysWritten(int count) {
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add(Integer.toString(i).getBytes());
        }
        return keys;
    }

    /** A store that was closed, written again and closed or killed, with the data file of the first close. */
    private static SimulatedMachine withOldDataFile(Durability durability, CrashKind kill, int writes) {
        SimulatedMachine machine = new SimulatedMachine(writes);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            put(store, 0, 100, Durability.BUFFERED);
        }
        byte[] old = machine.contents(Specimen.DIRECTORY, Specimen.DATA);
        SimulatedMachine after = machine;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            put(store, 100, writes, durability);
            if (kill != null) {
                after = machine.crash(kill, new SplittableRandom(1));
            }
        }
        after.place(Specimen.DIRECTORY, Specimen.DATA, old);
        return after;
    }

    @Test
    void anOlderDataFileIsRefusedOrTheLogMakesUpForIt() {
        int refused = 0;
        for (Durability durability : Durability.values()) {
            for (CrashKind kill : new CrashKind[] {null, CrashKind.KILL}) {
                for (int writes : new int[] {1, 50, 5000, 20000}) {
                    SimulatedMachine machine = withOldDataFile(durability, kill, writes);
                    String what = durability + ", " + (kill == null ? "closed" : "killed") + ", " + writes;
                    try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                        boolean isPromised = kill == null || durability != Durability.NONE;
                        for (byte[] key : keysWritten(100 + (isPromised ? writes : 0))) {
                            assertTrue(store.contains(key), what + ": " + new String(key) + " is silently gone");
                        }
                    } catch (CorruptionException refusal) {
                        refused++;
                    }
                }
            }
        }
        assertTrue(refused > 0, "nothing was refused");
    }

    @Test
    void theDataFileOfAnotherStoreIsRefused() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine other = new SimulatedMachine(2);
        for (SimulatedMachine each : List.of(machine, other)) {
            try (KeyValueStore store = SimulatedStoreHost.open(each, Specimen.options())) {
                put(store, 0, 100, Durability.BUFFERED);
            }
        }
        machine.place(Specimen.DIRECTORY, Specimen.DATA, other.contents(Specimen.DIRECTORY, Specimen.DATA));
        assertThrows(CorruptionException.class, () -> SimulatedStoreHost.open(machine, Specimen.options()));
    }

    /** The log of another store, whole, in place of the store's own. */
    @Test
    void theLogOfAnotherStoreIsRefused() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine other = new SimulatedMachine(2);
        for (SimulatedMachine each : List.of(machine, other)) {
            KeyValueStore store = SimulatedStoreHost.open(each, Specimen.options());
            put(store, 0, 100, Durability.BUFFERED);
            SimulatedMachine killed = each.crash(CrashKind.KILL, new SplittableRandom(1));
            store.close();
            for (String name : each.files(Specimen.DIRECTORY)) {
                each.remove(Specimen.DIRECTORY, name);
            }
            for (String name : killed.files(Specimen.DIRECTORY)) {
                each.place(Specimen.DIRECTORY, name, killed.contents(Specimen.DIRECTORY, name));
            }
        }
        int placed = 0;
        for (String name : other.files(Specimen.DIRECTORY)) {
            if (name.startsWith("log-")) {
                machine.place(Specimen.DIRECTORY, name, other.contents(Specimen.DIRECTORY, name));
                placed++;
            }
        }
        assertTrue(placed > 0);
        assertThrows(CorruptionException.class, () -> SimulatedStoreHost.open(machine, Specimen.options()));
    }
}
