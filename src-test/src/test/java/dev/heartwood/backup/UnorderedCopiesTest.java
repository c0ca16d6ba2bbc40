package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Backups and salvage of stores whose keys are hashed: the copies have the keys that users wrote, in stores of the same kind. */
class UnorderedCopiesTest {
    private final NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
    private final List<String> lost = new ArrayList<>();

    private static KeyValueStore open(SimulatedMachine machine, Path directory) {
        StoreOptions options =
                BackupFixture.options().toBuilder().keyOrder(KeyOrder.HASHED).build();
        return BackupFixture.open(machine, directory, options);
    }

    private SimulatedMachine closedStore(long seed) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        try (KeyValueStore store = open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(seed), 4000);
        }
        return machine;
    }

    private void requireTarget(SimulatedMachine machine, String what) {
        try (Storage storage = machine.storage(TARGET)) {
            assertEquals(List.of(), EngineAccess.problems(storage), what);
        }
        try (KeyValueStore copy = open(machine, TARGET)) {
            BackupFixture.requireSame(model, History.contents(copy), what);
        }
    }

    private void salvage(SimulatedMachine machine) {
        try (Storage from = machine.storage(STORE)) {
            EngineAccess.salvage(from, TARGET, machine, lost::add);
        }
    }

    @Test
    void aBackupIsSuchAStore() {
        SimulatedMachine machine = closedStore(1);
        try (KeyValueStore store = open(machine, STORE)) {
            store.backup(TARGET);
            BackupFixture.write(store, model, new SplittableRandom(9), 500);
            store.backup(TARGET);
        }
        requireTarget(machine, "backup");
    }

    @Test
    void treeAndLogAreSalvaged() {
        SimulatedMachine machine = closedStore(2);
        SimulatedMachine killed;
        try (KeyValueStore store = open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(8), 300);
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(2));
        }
        salvage(killed);
        assertEquals(List.of(), lost);
        requireTarget(killed, "salvaged");
    }

    /** They were listed in the form in which they are stored. */
    @Test
    void keysThatAreLostAreListedAsTheUserKnowsThem() {
        SimulatedMachine machine = closedStore(4);
        byte[] bytes = machine.contents(STORE, DATA);
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            if (bytes[page * PAGE_BYTES + PageLayout.TYPE] == PageType.OVERFLOW.code()) {
                machine.flip(STORE, DATA, (long) page * PAGE_BYTES + 1000, 1);
            }
        }
        salvage(machine);
        assertTrue(!lost.isEmpty());
        for (String line : lost) {
            assertTrue(line.matches("lost: key \"key[0-9]+\": its value(?: \\(what is older counts\\))?: .*"), line);
        }
    }

    /** The mark of the session tells what the keys are. */
    @Test
    void withoutSuperblocksKeysAreStillThoseOfTheUser() {
        SimulatedMachine machine = closedStore(3);
        machine.flip(STORE, DATA, 50, 1);
        machine.flip(STORE, DATA, 16 * PAGE_BYTES + 50, 1);
        salvage(machine);
        assertTrue(lost.getFirst().contains("both superblocks"), lost.toString());
        requireTarget(machine, "without superblocks");
    }
}
