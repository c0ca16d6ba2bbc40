package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.BackupReport;
import dev.heartwood.ClosedException;
import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.engine.backup.Backup;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Backups that are refused, fail or are interrupted. */
class BackupFailureTest {
    private static void requireRefused(SimulatedMachine machine, KeyValueStore store, Path to, String why) {
        Map<String, Integer> before = BackupFixture.files(machine, to);
        StoreException refusal = assertThrows(UnsuitableTargetException.class, () -> store.backup(to));
        assertTrue(refusal.getMessage().contains(why), refusal.getMessage());
        assertEquals(before, BackupFixture.files(machine, to));
    }

    @Test
    void whatIsInTheTargetIsNotReplaced() {
        SimulatedMachine machine = new SimulatedMachine(1);
        Path other = Path.of("simulated", "other");
        try (KeyValueStore store = BackupFixture.open(machine, STORE);
                KeyValueStore stranger = BackupFixture.open(machine, other)) {
            BackupFixture.write(store, BackupFixture.newMap(), new SplittableRandom(1), 100);
            assertThrows(LockedException.class, () -> store.backup(STORE));
            assertThrows(LockedException.class, () -> store.backup(other));
            Path letters = Path.of("simulated", "letters");
            machine.place(letters, "letter.txt", new byte[10]);
            requireRefused(machine, store, letters, "letter.txt");
            stranger.backup(TARGET);
            requireRefused(machine, store, TARGET, "another store");
            Path opened = Path.of("simulated", "opened");
            store.backup(opened);
            try (KeyValueStore copy = BackupFixture.openExisting(machine, opened)) {
                assertThrows(LockedException.class, () -> store.backup(opened));
                copy.put(new byte[] {1}, new byte[] {1});
            }
            requireRefused(machine, store, opened, "opened since");
            Path rotten = Path.of("simulated", "rotten");
            store.backup(rotten);
            machine.flip(rotten, "backup", 9, 1);
            requireRefused(machine, store, rotten, "record");
            Path headless = Path.of("simulated", "headless");
            store.backup(headless);
            machine.flip(headless, DATA, 100, 1);
            machine.flip(headless, DATA, 16 * BackupFixture.PAGE_BYTES + 100, 1);
            requireRefused(machine, store, headless, "damaged");
        }
        try (KeyValueStore stranger = BackupFixture.open(machine, other)) {
            requireRefused(machine, stranger, STORE, "not a backup");
        }
    }

    /** It has the same mark as a first backup that was broken off. */
    @Test
    void whatABrokenOffSalvageLeftIsNotTakenForABackup() {
        SimulatedMachine machine = new SimulatedMachine(10);
        try (KeyValueStore damaged = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(damaged, BackupFixture.newMap(), new SplittableRandom(10), 1500);
        }
        List<SimulatedMachine> images = new ArrayList<>();
        machine.faults().listen((operation, number, path) -> {
            boolean isMarked = machine.files(TARGET).contains("copy-unfinished");
            if (isMarked && operation == OperationKind.WRITE && path.contains(TARGET.getFileName().toString())) {
                images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
            }
        });
        try (Storage from = machine.storage(STORE)) {
            EngineAccess.salvage(from, TARGET, machine, line -> {});
        }
        machine.faults().listen(null);
        assertTrue(images.size() > 2, images.size() + " images");
        for (SimulatedMachine image : List.of(images.getFirst(), images.get(images.size() / 2), images.getLast())) {
            try (KeyValueStore other = BackupFixture.open(image, Path.of("simulated", "other"))) {
                requireRefused(image, other, TARGET, "not a backup");
            }
        }
    }

    /** The store's own disk may be full: that is when a backup is wanted most. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENOSPC", "EROFS"})
    void aBackupThatCannotBeRememberedIsMadeAllTheSame(Errno errno) {
        SimulatedMachine machine = new SimulatedMachine(12);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(12), 300);
            store.checkpoint();
            machine.faults().listen((operation, number, path) -> {
                if (operation == OperationKind.WRITE_FILE && path.contains(STORE.getFileName().toString())) {
                    machine.faults().failAny(0, errno, Duration.ONCE);
                }
            });
            BackupReport first = store.backup(TARGET);
            assertTrue(first.pagesCopied() > 0);
            assertEquals(1, machine.faults().injected());
            machine.faults().listen(null);
            assertEquals(0, store.backup(TARGET).pagesCopied(), "all of it was there");
        }
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            for (Map.Entry<byte[], byte[]> each : model.entrySet()) {
                assertArrayEquals(each.getValue(), copy.get(each.getKey()));
            }
        }
    }

    @Test
    void aRefusedBackupKeepsNoMemory() {
        SimulatedMachine machine = new SimulatedMachine(11);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.backup(TARGET);
        }
        BackupFixture.openExisting(machine, TARGET).close();
        try (Storage from = machine.storage(STORE);
                Storage to = machine.storage(TARGET);
                OpenedStore source = new OpenedStore(from)) {
            long before = source.pool().allocated();
            UnsuitableTargetException refusal = assertThrows(
                    UnsuitableTargetException.class,
                    () -> Backup.run(source.view(), from, to, Randomness.SYSTEM, Progress.SILENT));
            assertTrue(refusal.getMessage().contains("opened since"), refusal.getMessage());
            assertEquals(before, source.pool().allocated());
        }
    }

    @Test
    void aDamagedPageOfTheSourceLeavesTheBackupBefore() {
        SimulatedMachine sound = new SimulatedMachine(2);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(sound, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(2), 2500);
            store.backup(TARGET);
            BackupFixture.write(store, BackupFixture.newMap(), new SplittableRandom(3), 2500);
            store.settle();
        }
        for (PageType type : new PageType[] {
            PageType.BRANCH_LEAF, PageType.BRANCH_INDEX, PageType.OVERFLOW, PageType.FILTER
        }) {
            SimulatedMachine machine = sound.crash(CrashKind.KILL, new SplittableRandom(1));
            byte[] bytes = machine.contents(STORE, DATA);
            for (int page = 0; page < bytes.length / BackupFixture.PAGE_BYTES; page++) {
                if (bytes[page * BackupFixture.PAGE_BYTES + 4] == type.code()) {
                    machine.flip(STORE, DATA, (long) page * BackupFixture.PAGE_BYTES + 2000, 1);
                }
            }
            try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
                CorruptionException damage = assertThrows(CorruptionException.class, () -> store.backup(TARGET));
                assertEquals(type.name(), damage.pageType());
            }
            BackupFixture.requireContents(machine, TARGET, model, "after damage in " + type);
        }
    }

    @Test
    void aFullDiskLeavesTheBackupBefore() {
        SimulatedMachine machine = new SimulatedMachine(4);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> later = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(2), 300);
            store.backup(TARGET);
            later.putAll(model);
            BackupFixture.write(store, later, new SplittableRandom(3), 6000);
            store.checkpoint();
            machine.capacity(machine.usedBytes());
            assertThrows(NoSpaceException.class, () -> store.backup(TARGET));
            SimulatedMachine copy = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            copy.capacity(Long.MAX_VALUE);
            BackupFixture.requireContents(copy, TARGET, model, "on a full disk");
            machine.capacity(Long.MAX_VALUE);
            store.backup(TARGET);
        }
        BackupFixture.requireContents(machine, TARGET, later, "after the disk had room again");
    }

    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"WRITE", "SYNC", "READ", "WRITE_FILE", "SYNC_DIRECTORY", "DELETE", "OPEN", "READ_FILE", "LOCK"})
    void theNthFailureLeavesTheBackupBeforeOrTheNewOne(OperationKind kind) {
        SimulatedMachine start = new SimulatedMachine(5);
        NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> after = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            BackupFixture.write(store, before, new SplittableRandom(5), 1200);
            store.backup(TARGET);
            after.putAll(before);
            BackupFixture.write(store, after, new SplittableRandom(6), 1200);
            store.settle();
        }
        int step = 1;
        for (long nth = 1; ; nth += step) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            boolean failed = false;
            try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
                store.settle();
                machine.faults().fail(kind, nth, Errno.EIO, Duration.ONCE);
                try {
                    store.backup(TARGET);
                } catch (StoreException expected) {
                    failed = true;
                }
                machine.faults().heal();
            } catch (StoreException closing) {
                failed = true;
            }
            boolean struck = machine.faults().injected() > 0;
            requireOldOrNew(machine, before, after, kind + " " + nth);
            if (!struck) {
                assertTrue(!failed, "a backup without a fault failed");
                assertTrue(nth > 1, "nothing of kind " + kind + " was met");
                return;
            }
            step = nth > 12 ? 9 : 1;
        }
    }

    private static void requireOldOrNew(
            SimulatedMachine machine, Map<byte[], byte[]> before, Map<byte[], byte[]> after, String what) {
        SimulatedMachine image = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        isOld(image, before, after, what);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.backup(TARGET);
        }
        BackupFixture.requireContents(machine, TARGET, after, what + ", and once more");
        assertEquals(List.of("backup", "data.hw"), leftBehind(machine), what);
    }

    /** What a failed sync was to write never reaches the disk, though the page cache goes on showing it: it has to be written again. */
    @Test
    void aBackupTriedAgainAfterAFailedSyncIsOnTheDisk() {
        SimulatedMachine start = new SimulatedMachine(13);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(13), 1200);
            store.backup(TARGET);
            BackupFixture.write(store, model, new SplittableRandom(14), 1200);
            store.settle();
            store.checkpoint();
        }
        boolean struck = true;
        for (long nth = 1; struck; nth++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
                machine.faults().fail(OperationKind.SYNC, nth, Errno.EIO, Duration.ONCE);
                try {
                    store.backup(TARGET);
                } catch (StoreException refused) {
                    store.backup(TARGET);
                }
                struck = machine.faults().injected() > 0;
                machine.faults().heal();
                SimulatedMachine image = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(nth));
                BackupFixture.requireContents(image, TARGET, model, "after sync " + nth + " failed");
            }
        }
    }

    private static List<String> leftBehind(SimulatedMachine machine) {
        return machine.files(TARGET).stream()
                .filter(name -> !name.startsWith("log-") && !name.equals("session"))
                .toList();
    }

    /** Opens the target, which must be as it was before the second backup or as it is after it; returns which. */
    private static boolean isOld(
            SimulatedMachine image, Map<byte[], byte[]> before, Map<byte[], byte[]> after, String what) {
        try (KeyValueStore copy = BackupFixture.openExisting(image, TARGET)) {
            Map<byte[], byte[]> found = History.contents(copy);
            boolean isOld = BackupFixture.isSame(before, found);
            assertTrue(isOld || BackupFixture.isSame(after, found), what + ": neither old nor new");
            assertTrue(copy.verify().isClean(), what);
            return isOld;
        }
    }

    /** Takes an image of the disks at every operation of a second backup, and kills or cuts the power there. */
    @ParameterizedTest
    @EnumSource(CrashKind.class)
    void aCrashLeavesTheOldBackupOrTheNewOne(CrashKind kind) {
        SimulatedMachine machine = new SimulatedMachine(7);
        NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> after = BackupFixture.newMap();
        List<SimulatedMachine> images = new ArrayList<>();
        SplittableRandom fate = new SplittableRandom(9);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.backUpAndChange(store, before, after, 7, 1500);
            store.checkpoint();
            takeImages(machine, kind, fate, images);
            store.backup(TARGET);
            machine.faults().listen(null);
        }
        int old = 0;
        int putBack = 0;
        int deeper = 0;
        for (SimulatedMachine image : images) {
            List<SimulatedMachine> whilePuttingBack = new ArrayList<>();
            if (image.files(TARGET).contains("copy-unfinished") && putBack++ % 8 == 0) {
                takeImages(image, kind, fate, whilePuttingBack);
            }
            boolean isOld = isOld(image, before, after, "image " + old);
            image.faults().listen(null);
            old += isOld ? 1 : 0;
            for (SimulatedMachine deep : whilePuttingBack) {
                assertEquals(isOld, isOld(deep, before, after, "image " + old + ", crashed again"));
                deeper++;
            }
        }
        Campaign.report(getClass(), images.size() + deeper, "images of a backup, of which " + putBack + " put pages back");
        assertTrue(images.size() > 10 && old > 0 && old < images.size(), images.size() + " images, " + old + " old");
        assertTrue(putBack > 10 && deeper > 10, putBack + " put back, " + deeper + " deeper");
    }

    /** Takes an image whenever the target is about to be changed, up to the first session of a store that is opened there. */
    private static void takeImages(
            SimulatedMachine machine, CrashKind kind, SplittableRandom fate, List<SimulatedMachine> images) {
        boolean[] isOpened = new boolean[1];
        machine.faults().listen((operation, number, path) -> {
            isOpened[0] |= path.endsWith("session");
            boolean changes = operation != OperationKind.READ && path.contains(TARGET.getFileName().toString());
            if (changes && !isOpened[0]) {
                images.add(machine.crash(kind, fate.split()));
            }
        });
    }

    /** The record of a backup that was broken off names two checkpoints, and sessions of the target come to the number of the newer one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aTargetThatWasOpenedIsRefusedWhateverItsNumber(int checkpointsBetween) {
        SimulatedMachine machine = new SimulatedMachine(15);
        List<SimulatedMachine> images = new ArrayList<>();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, BackupFixture.newMap(), new SplittableRandom(15), 300);
            store.backup(TARGET);
            for (int i = 0; i <= checkpointsBetween; i++) {
                BackupFixture.write(store, BackupFixture.newMap(), new SplittableRandom(16), 5);
                store.checkpoint();
            }
            boolean[] isRecorded = new boolean[1];
            machine.faults().listen((operation, number, path) -> {
                isRecorded[0] |= operation == OperationKind.WRITE_FILE && path.endsWith("backup");
                if (isRecorded[0] && operation != OperationKind.READ && path.contains(TARGET.getFileName().toString())) {
                    images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
                }
            });
            store.backup(TARGET);
            machine.faults().listen(null);
        }
        assertTrue(images.size() > 5, images.size() + " images");
        for (SimulatedMachine image : images) {
            SimulatedMachine killed;
            try (KeyValueStore copy = BackupFixture.openExisting(image, TARGET)) {
                copy.put(new byte[] {1}, new byte[] {1});
                killed = image.crash(CrashKind.KILL, new SplittableRandom(1));
            }
            for (SimulatedMachine opened : List.of(image, killed)) {
                try (KeyValueStore store = BackupFixture.open(opened, STORE)) {
                    requireRefused(opened, store, TARGET, "opened since");
                }
            }
        }
    }

    @Test
    void anUnfinishedFirstBackupIsRefusedAndCompletedByTheNext() {
        SimulatedMachine machine = new SimulatedMachine(8);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(8), 1500);
            // Nothing else is written then.
            store.settle();
            store.checkpoint();
            machine.faults().fail(OperationKind.WRITE, 5, Errno.EIO, Duration.ONCE);
            assertThrows(StoreException.class, () -> store.backup(TARGET));
            assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(machine, TARGET));
            assertThrows(NotAStoreException.class, () -> BackupFixture.open(machine, TARGET));
            store.backup(TARGET);
        }
        BackupFixture.requireContents(machine, TARGET, model, "completed");
    }

    /** Closing ends a backup where it tells how far it is: nothing that grows with the store may lie between two such places. */
    @Test
    void aBackupTellsOfEachRunThatItReads() {
        SimulatedMachine start = new SimulatedMachine(16);
        NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
        NavigableMap<byte[], byte[]> after = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            BackupFixture.write(store, before, new SplittableRandom(16), 1200);
            store.backup(TARGET);
            after.putAll(before);
            for (int round = 0; round < 3; round++) {
                BackupFixture.write(store, after, new SplittableRandom(17 + round), 600);
                store.settle();
                store.checkpoint();
            }
        }
        List<Long> reads = new ArrayList<>();
        SimulatedMachine whole = start.crash(CrashKind.KILL, new SplittableRandom(1));
        Map<String, Integer> calls = new TreeMap<>();
        backUp(whole, (what, done, total) -> {
            reads.add(whole.faults().count(OperationKind.READ));
            calls.merge(what, 1, Integer::sum);
        });
        reads.add(whole.faults().count(OperationKind.READ));
        assertTrue(reads.size() > 30 && calls.size() == 5, calls.toString());
        for (int i = 1; i < reads.size(); i++) {
            assertTrue(reads.get(i) - reads.get(i - 1) <= 2, "call " + i + " of " + calls);
        }
        for (int nth = 1; nth < reads.size(); nth += 1 + reads.size() / 16) {
            int[] left = {nth};
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(1));
            assertThrows(ClosedException.class, () -> backUp(machine, (what, done, total) -> {
                if (--left[0] == 0) {
                    throw new ClosedException("store");
                }
            }));
            assertTrue(isOld(machine, before, after, "ended at call " + nth));
        }
    }

    private static void backUp(SimulatedMachine machine, Progress progress) {
        try (Storage from = machine.storage(STORE);
                Storage to = machine.storage(TARGET);
                OpenedStore source = new OpenedStore(from)) {
            Backup.run(source.view(), from, to, Randomness.SYSTEM, progress);
        }
    }

    @Test
    void closingEndsABackup() throws InterruptedException {
        SimulatedMachine machine = new SimulatedMachine(9);
        KeyValueStore store = BackupFixture.open(machine, STORE);
        BackupFixture.write(store, BackupFixture.newMap(), new SplittableRandom(9), 1500);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<Throwable> outcome = new AtomicReference<>();
        Thread copier = new Thread(() -> {
            try {
                for (int i = 0; ; i++) {
                    store.backup(Path.of("simulated", "target" + i % 3));
                    begun.countDown();
                }
            } catch (Throwable e) {
                outcome.set(e);
            }
        });
        copier.start();
        begun.await();
        store.close();
        copier.join();
        assertEquals(ClosedException.class, outcome.get().getClass());
    }
}
