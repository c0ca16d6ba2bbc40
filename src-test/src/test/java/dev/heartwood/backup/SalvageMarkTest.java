package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.testkit.SimulatedMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import org.junit.jupiter.api.Test;

/** Salvage of stores whose data file, or a part of it, is not what the mark of the session says. */
class SalvageMarkTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(machine, STORE));
        return SalvageFixture.salvage(machine, lost);
    }

    private static void put(KeyValueStore store, NavigableMap<byte[], byte[]> model, int from, int to) {
        for (int i = from; i < to; i++) {
            byte[] key = "key%05d".formatted(i).getBytes();
            store.put(key, new byte[100]);
            model.put(key, new byte[100]);
        }
    }

    private static SimulatedMachine store(NavigableMap<byte[], byte[]> model, int seed, int keys) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            put(store, model, 0, keys);
        }
        return machine;
    }

    private static Superblock superblock(SimulatedMachine machine) {
        try (Storage storage = machine.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            return store.newest();
        }
    }

    /** It was taken for a sound store: every open refused it, and nothing was said to be lost. */
    @Test
    void whatAnOlderDataFileDoesNotHaveIsLost() {
        for (int writes : new int[] {1, 50, 5000}) {
            NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
            SimulatedMachine machine = store(model, writes, 100);
            byte[] old = machine.contents(STORE, DATA);
            long number = superblock(machine).number();
            try (KeyValueStore store = BackupFixture.openExisting(machine, STORE)) {
                for (int i = 0; i < writes; i++) {
                    store.put(("later" + i).getBytes(), new byte[100], Durability.NONE);
                }
            }
            machine.place(STORE, DATA, old);
            lost.clear();
            SalvageReport report = salvage(machine);
            assertEquals(1, report.lossesOfAnyKey(), report + " " + lost);
            assertTrue(report.losses() == 1 && lost.getFirst().contains("written after checkpoint " + number + " of"), lost.toString());
            BackupFixture.requireContents(machine, TARGET, model, "with an old data file");
        }
    }

    /** Of the log alone it was said. */
    @Test
    void theDataFileOfAnotherStoreIsSaidToBe() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(BackupFixture.newMap(), 1, 100);
        long own = superblock(machine).storeId();
        machine.place(STORE, DATA, store(model, 2, 300).contents(STORE, DATA));
        assertTrue(salvage(machine).lossesOfAnyKey() > 0);
        assertTrue(lost.getFirst().contains("of store " + own + " at checkpoint"), lost.toString());
        BackupFixture.requireContents(machine, TARGET, model, "of the other store");
    }

    /** The one with the greatest number was taken, whose store has no page there: nothing was copied. */
    @Test
    void aSuperblockOfAnotherStoreIsNotTaken() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(model, 1, 1000);
        SimulatedMachine other = new SimulatedMachine(2);
        try (KeyValueStore store = BackupFixture.open(other, STORE)) {
            for (int i = 0; i < 40; i++) {
                put(store, BackupFixture.newMap(), i, i + 1);
                store.checkpoint();
            }
        }
        assertTrue(superblock(other).number() > superblock(machine).number());
        byte[] bytes = machine.contents(STORE, DATA);
        System.arraycopy(other.contents(STORE, DATA), 16 * PAGE_BYTES, bytes, 16 * PAGE_BYTES, PAGE_BYTES);
        machine.place(STORE, DATA, bytes);
        SalvageReport report = salvage(machine);
        assertEquals(model.size(), report.records() + report.logEntries(), report + " " + lost);
        assertEquals(List.of(), lost);
        BackupFixture.requireContents(machine, TARGET, model, "with a foreign superblock");
    }
}
