package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreExistsException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A directory is opened that somebody else is just copying to: it is locked. Who opened it was told that the copy was never finished, and to
 * empty the directory, since what is there was looked at before the lock was asked for.
 */
class OpenBesideCopyTest {
    private static final String COPYING = "copy-unfinished";

    /** What the directory is being made. */
    enum Copy {
        FIRST_BACKUP(1),
        LATER_BACKUP(1),
        SALVAGE(2);

        /** What the file says that is there meanwhile. */
        private final byte[] mark;

        Copy(int mark) {
            this.mark = new byte[] {(byte) mark};
        }

        /** A store that is to be copied; for a later backup with pages that the earlier one has to make room for. */
        KeyValueStore prepare(SimulatedMachine machine, NavigableMap<byte[], byte[]> model) {
            KeyValueStore store = BackupFixture.open(machine, STORE);
            BackupFixture.write(store, model, new SplittableRandom(7), 1500);
            store.settle();
            if (this == LATER_BACKUP) {
                store.backup(TARGET);
                BackupFixture.write(store, model, new SplittableRandom(8), 1500);
                store.settle();
                store.checkpoint();
            }
            return store;
        }

        void run(SimulatedMachine machine, KeyValueStore store) {
            if (this == SALVAGE) {
                store.close();
                SalvageFixture.salvage(machine, new ArrayList<>());
            } else {
                store.backup(TARGET);
            }
        }
    }

    private static void open(Function<Path, Storage> storages, OpenMode mode) {
        StoreOptions options = BackupFixture.options().toBuilder().openMode(mode).build();
        try (var environment = EngineAccess.open(OptionMatrix.environment(options), storages)) {
            environment.open(TARGET, options);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theOtherIsCopyingToIt(Copy copy) {
        SimulatedMachine machine = new SimulatedMachine(1);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        KeyValueStore store = copy.prepare(machine, model);
        boolean[] isLocked = {false};
        boolean[] isWithin = {false};
        int[] refused = {0};
        machine.faults().listen((kind, number, path) -> {
            boolean isTargets = path.contains(TARGET.getFileName().toString());
            if (isLocked[0] && isTargets && !isWithin[0]) {
                isWithin[0] = true;
                List<String> files = machine.files(TARGET);
                for (OpenMode mode : OpenMode.values()) {
                    assertThrows(expected(mode, files), () -> open(machine, mode), mode + " before " + kind + " of " + path);
                }
                refused[0] += files.contains(COPYING) ? 1 : 0;
                isWithin[0] = false;
            }
            isLocked[0] |= kind == OperationKind.LOCK && isTargets;
        });
        copy.run(machine, store);
        machine.faults().listen(null);
        store.close();
        assertTrue(refused[0] > 10, refused[0] + " while the mark was there");
        BackupFixture.requireContents(machine, TARGET, model, "refused " + refused[0] + " times");
    }

    /** Nothing says that somebody is at it where nothing is there yet, or a whole store is there. */
    private static Class<? extends StoreException> expected(OpenMode mode, List<String> files) {
        if (mode == OpenMode.CREATE_NEW && files.contains(DATA) && !files.contains(COPYING)) {
            return StoreExistsException.class;
        }
        return mode == OpenMode.OPEN_EXISTING && files.isEmpty() ? NotAStoreException.class : LockedException.class;
    }

    /** Storages of a machine that have something happen before they are asked for the nth time. */
    private static Function<Path, Storage> before(SimulatedMachine machine, int nth, Runnable event) {
        int[] asked = {0};
        return path -> {
            Storage files = machine.storage(path);
            return (Storage) Proxy.newProxyInstance(
                    Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, arguments) -> {
                        if (++asked[0] == nth) {
                            event.run();
                        }
                        try {
                            return method.invoke(files, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
    }

    /** What was there at one look and gone at the next ended the open with ENOENT. */
    @ParameterizedTest
    @EnumSource
    void theOtherIsDoneBetweenTwoLooks(Copy copy) {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = copy.prepare(machine, BackupFixture.newMap())) {
            copy.run(machine, store);
        }
        try (Storage other = machine.storage(TARGET)) {
            other.lock();
            for (OpenMode mode : new OpenMode[] {OpenMode.CREATE_IF_MISSING, OpenMode.OPEN_EXISTING}) {
                boolean[] isDone = {true};
                int nth = 1;
                for (; isDone[0]; nth++) {
                    isDone[0] = false;
                    machine.place(TARGET, COPYING, copy.mark);
                    Function<Path, Storage> storages = before(machine, nth, () -> {
                        machine.remove(TARGET, COPYING);
                        isDone[0] = true;
                    });
                    assertThrows(LockedException.class, () -> open(storages, mode), mode + ", before look " + nth);
                }
                assertTrue(nth > 4, nth + " looks");
                machine.remove(TARGET, COPYING);
            }
        }
    }

    /** It has begun with what is there before all else, or with what comes next too. What must be there is missed up to then. */
    @ParameterizedTest
    @EnumSource
    void theOtherBeginsBetweenTwoLooks(Copy copy) {
        for (OpenMode mode : OpenMode.values()) {
            for (boolean hasData : new boolean[] {false, true}) {
                boolean[] isBegun = {true};
                for (int nth = 1; isBegun[0]; nth++) {
                    isBegun[0] = false;
                    SimulatedMachine machine = new SimulatedMachine(nth);
                    Storage other = machine.storage(TARGET);
                    Function<Path, Storage> storages = before(machine, nth, () -> {
                        isBegun[0] = true;
                        other.lock();
                        machine.place(TARGET, COPYING, copy.mark);
                        if (hasData) {
                            machine.place(TARGET, DATA, new byte[BackupFixture.PAGE_BYTES]);
                        }
                    });
                    try {
                        open(storages, mode);
                        assertTrue(!isBegun[0], "opened beside the other");
                    } catch (LockedException e) {
                        assertTrue(isBegun[0], "nobody has it");
                    } catch (NotAStoreException e) {
                        assertEquals(OpenMode.OPEN_EXISTING, mode, e.getMessage());
                    }
                    other.close();
                }
            }
        }
    }

    /** It is not opened, so there is nothing to put back for: the next one does that. */
    @Test
    void whoWantsANewStoreLeavesABackupThatWasBrokenOffAsItIs() {
        SimulatedMachine machine = new SimulatedMachine(1);
        List<SimulatedMachine> images = new ArrayList<>();
        try (KeyValueStore store = Copy.LATER_BACKUP.prepare(machine, BackupFixture.newMap())) {
            machine.faults().listen((kind, number, path) -> {
                if (kind == OperationKind.WRITE && machine.files(TARGET).contains(COPYING)) {
                    images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
                }
            });
            store.backup(TARGET);
            machine.faults().listen(null);
        }
        assertTrue(images.size() > 2, images.size() + " images");
        for (SimulatedMachine image : List.of(images.getFirst(), images.getLast())) {
            Map<String, Integer> before = BackupFixture.files(image, TARGET);
            assertThrows(StoreExistsException.class, () -> open(image, OpenMode.CREATE_NEW));
            assertEquals(before, BackupFixture.files(image, TARGET));
        }
    }
}
