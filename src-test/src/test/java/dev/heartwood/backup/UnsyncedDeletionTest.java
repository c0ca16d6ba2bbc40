package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A process that ends a backup or the making of a store, and is killed, has deleted a file that says so, and a loss of power may bring that back: not
 * beside what the next process has made, for then the directory was refused for ever.
 */
class UnsyncedDeletionTest {
    /** Of each step, how what was not synced may have ended: a file's name is there or not, whichever of them was changed first. */
    private static final int FATES = 30;

    private static final byte[] KEY = {1};

    private final SplittableRandom fate = new SplittableRandom(1);

    /** What the disks of a killed process have at each step of a change of a directory after which a file is there no longer that was. */
    private static List<SimulatedMachine> killedAfterDeletion(SimulatedMachine machine, Path directory, String file, Runnable change) {
        List<SimulatedMachine> images = new ArrayList<>();
        boolean[] wasThere = new boolean[1];
        machine.faults().listen((operation, number, path) -> {
            boolean isThere = machine.files(directory).contains(file);
            wasThere[0] |= isThere;
            if (wasThere[0] && !isThere && operation == OperationKind.SYNC_DIRECTORY && images.isEmpty()) {
                images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
            }
        });
        change.run();
        machine.faults().listen(null);
        return images;
    }

    /** What the disks have after a loss of power at one of the first steps of a change of a directory. */
    private List<SimulatedMachine> withoutPower(SimulatedMachine machine, Path directory, int steps, Runnable change) {
        List<SimulatedMachine> images = new ArrayList<>();
        machine.faults().listen((operation, number, path) -> {
            if (operation != OperationKind.READ && path.contains(directory.getFileName().toString()) && images.size() < steps * FATES) {
                Stream.generate(() -> machine.crash(CrashKind.POWER_LOSS, fate.split())).limit(FATES).forEach(images::add);
            }
        });
        change.run();
        machine.faults().listen(null);
        return images;
    }

    @Test
    void aStoreThatWasMadeIsOpened() {
        SimulatedMachine machine = new SimulatedMachine(1);
        List<SimulatedMachine> killed =
                killedAfterDeletion(machine, STORE, "creating", () -> BackupFixture.open(machine, STORE).close());
        int opened = 0;
        for (SimulatedMachine image : killed) {
            List<SimulatedMachine> images = withoutPower(image, STORE, 20, () -> {
                try (KeyValueStore store = BackupFixture.open(image, STORE)) {
                    store.put(KEY, KEY, Durability.SYNC);
                }
            });
            for (SimulatedMachine deep : images) {
                BackupFixture.open(deep, STORE).close();
                opened++;
            }
        }
        Campaign.report(getClass(), opened, "losses of power in a store that had just been made");
        assertTrue(opened > FATES, opened + " images");
    }

    @Test
    void aBackupThatWasCompleteIsOpened() {
        NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> after = BackupFixture.newMap();
        int opened = 0;
        for (SimulatedMachine image : killedAfterBackup(before, after)) {
            List<SimulatedMachine> images =
                    withoutPower(image, TARGET, 20, () -> BackupFixture.openExisting(image, TARGET).close());
            for (SimulatedMachine deep : images) {
                requireOneOf(deep, List.of(before, after));
                opened++;
            }
        }
        Campaign.report(getClass(), opened, "losses of power while a backup was opened");
        assertTrue(opened > FATES, opened + " images");
    }

    @Test
    void aBackupThatWasCompleteIsBroughtUpToDate() {
        NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> after = BackupFixture.newMap();
        int opened = 0;
        for (SimulatedMachine image : killedAfterBackup(before, after)) {
            NavigableMap<byte[], byte[]> third = BackupFixture.newMap();
            third.putAll(after);
            List<SimulatedMachine> images;
            try (KeyValueStore store = BackupFixture.open(image, STORE)) {
                BackupFixture.write(store, third, new SplittableRandom(3), 150);
                store.checkpoint();
                images = withoutPower(image, TARGET, 15, () -> store.backup(TARGET));
            }
            for (SimulatedMachine deep : images) {
                requireOneOf(deep, List.of(before, after, third));
                opened++;
            }
        }
        Campaign.report(getClass(), opened, "losses of power while a backup was brought up to date");
        assertTrue(opened > FATES, opened + " images");
    }

    /** Disks with a second backup that is complete, but for what a loss of power may bring back. */
    private static List<SimulatedMachine> killedAfterBackup(Map<byte[], byte[]> before, Map<byte[], byte[]> after) {
        SimulatedMachine machine = new SimulatedMachine(2);
        NavigableMap<byte[], byte[]> first = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> second = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.backUpAndChange(store, first, second, 2, 300);
            store.checkpoint();
            before.putAll(first);
            after.putAll(second);
            return killedAfterDeletion(machine, TARGET, "copy-unfinished", () -> store.backup(TARGET));
        }
    }

    private static void requireOneOf(SimulatedMachine machine, List<Map<byte[], byte[]>> states) {
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            Map<byte[], byte[]> found = History.contents(copy);
            assertTrue(states.stream().anyMatch(state -> BackupFixture.isSame(state, found)), "neither old nor new");
            assertTrue(copy.verify().isClean());
        }
    }
}
