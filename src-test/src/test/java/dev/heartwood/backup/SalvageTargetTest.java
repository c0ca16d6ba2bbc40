package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.behead;
import static dev.heartwood.backup.SalvageFixture.pages;
import static dev.heartwood.backup.SalvageFixture.store;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where salvage copies to, what it refuses, and what is left when the copy cannot be written. */
class SalvageTargetTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        return SalvageFixture.salvage(machine, lost);
    }

    @Test
    void whatCannotBeDoneIsRefused() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(model, 6);
        machine.place(TARGET, "letter.txt", new byte[1]);
        assertThrows(NotAStoreException.class, () -> salvage(machine));
        machine.remove(TARGET, "letter.txt");
        KeyValueStore open = BackupFixture.openExisting(machine, STORE);
        assertThrows(LockedException.class, () -> salvage(machine));
        open.close();
        long capacity = machine.usedBytes() + (1 << 20) + (300 << 10);
        machine.capacity(capacity);
        assertThrows(NoSpaceException.class, () -> salvage(machine));
        machine.capacity(Long.MAX_VALUE);
        NotAStoreException refusal =
                assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(machine, TARGET));
        assertTrue(refusal.getMessage().contains("never finished"), refusal.getMessage());
        for (String name : machine.files(TARGET)) {
            machine.remove(TARGET, name);
        }
        machine.flip(STORE, DATA, 50, 1);
        salvage(machine);
        BackupFixture.requireContents(machine, TARGET, model, "with one superblock");
        for (String name : machine.files(TARGET)) {
            machine.remove(TARGET, name);
        }
        machine.flip(STORE, DATA, 16 * PAGE_BYTES + 50, 1);
        for (long page : pages(machine, PageType.TRUNK)) {
            machine.flip(STORE, DATA, page * PAGE_BYTES + 50, 1);
        }
        CorruptionException headless = assertThrows(CorruptionException.class, () -> salvage(machine));
        assertEquals(PageType.SUPERBLOCK.name(), headless.pageType());
        assertNotNull(headless.getMessage());
        assertEquals(List.of(), machine.files(TARGET));
    }

    /** A store may be larger than its limit, which it was given later. */
    @Test
    void theLimitOfTheStoreIsNotTheCopys() {
        SimulatedMachine machine = new SimulatedMachine(9);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (int i = 0; i < 8_000; i++) {
                byte[] value = new byte[1_000];
                new SplittableRandom(i).nextBytes(value);
                byte[] key = ("key" + i).getBytes();
                store.put(key, value);
                model.put(key, value);
            }
        }
        StoreOptions limited = BackupFixture.options().toBuilder().diskMax(ByteSize.mib(4)).build();
        BackupFixture.open(machine, STORE, limited).close();
        assertEquals(ByteSize.mib(4), storedOptions(machine, STORE).diskMax());
        salvage(machine);
        assertEquals(new ByteSize(0), storedOptions(machine, TARGET).diskMax());
        BackupFixture.requireContents(machine, TARGET, model, "beyond the limit");
    }

    private static StoreOptions storedOptions(SimulatedMachine machine, Path directory) {
        try (Storage storage = machine.storage(directory);
                OpenedStore store = new OpenedStore(storage)) {
            return StoreOptions.parse(store.newest().options());
        }
    }

    /** It was refused with the I/O mode of the source, when files had been made, and their directory had to be emptied by hand. */
    @Test
    void aTargetThatCannotBypassThePageCacheIsWrittenThroughIt() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(model, 6);
        assertEquals(IoMode.DIRECT, storedOptions(machine, STORE).ioMode());
        machine.faults().fail(OperationKind.CREATE, 1, Errno.EINVAL, Duration.ONCE);
        SalvageReport report = salvage(machine);
        assertEquals(1, machine.faults().injected());
        assertEquals(0, report.losses(), lost.toString());
        assertEquals(IoMode.BUFFERED, storedOptions(machine, TARGET).ioMode());
        BackupFixture.requireContents(machine, TARGET, model, "through the page cache");
    }

    /** Also where it was made and its name could not be made durable. */
    @Test
    void whereTheDataFileCannotBeMadeNothingIsLeft() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 6);
        for (Errno errno : new Errno[] {Errno.EINVAL, Errno.EACCES}) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(errno.ordinal()));
            machine.faults().fail(OperationKind.CREATE, 1, errno, Duration.FOR_GOOD);
            StoreIoException refusal = assertThrows(StoreIoException.class, () -> salvage(machine));
            assertEquals(errno.name(), refusal.errnoName());
            assertEquals(List.of(), machine.files(TARGET));
        }
        // Two marks are written, each with a sync of the directory, and then the data file is made, with another.
        for (OperationKind kind : new OperationKind[] {OperationKind.WRITE_FILE, OperationKind.SYNC_DIRECTORY}) {
            for (int nth = 1; nth <= (kind == OperationKind.WRITE_FILE ? 2 : 3); nth++) {
                SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
                machine.faults().fail(kind, nth, Errno.EIO, Duration.ONCE);
                String what = kind + " " + nth;
                StoreIoException refusal = assertThrows(StoreIoException.class, () -> salvage(machine), what);
                assertEquals("EIO", refusal.errnoName(), what);
                assertEquals(List.of(), machine.files(TARGET), what);
                salvage(machine);
                BackupFixture.requireContents(machine, TARGET, model, what);
            }
        }
    }

    /** Else the copy would lack what could be read, and say that it could not. */
    @Test
    void aFailureOfTheCopyEndsSalvageAndIsNoDamage() {
        SimulatedMachine machine = new SimulatedMachine(9);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        KeyValueStore store = BackupFixture.open(machine, STORE);
        BackupFixture.write(store, model, new SplittableRandom(9), 800);
        store.settle();
        store.checkpoint();
        BackupFixture.write(store, model, new SplittableRandom(10), 20);
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        for (boolean isBeheaded : new boolean[] {false, true}) {
            if (isBeheaded) {
                behead(killed);
            }
            SimulatedMachine sound = killed.crash(CrashKind.KILL, new SplittableRandom(2));
            int puts = salvageFailingAt(sound, 0);
            BackupFixture.requireContents(sound, TARGET, model, "without a failure");
            // The first is of the tree, the last of the log.
            for (int nth : new int[] {1, puts}) {
                SimulatedMachine full = killed.crash(CrashKind.KILL, new SplittableRandom(nth));
                lost.clear();
                assertThrows(NoSpaceException.class, () -> salvageFailingAt(full, nth), "put " + nth);
                assertEquals(isBeheaded ? 1 : 0, lost.size(), lost.toString());
                assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(full, TARGET));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"WRITE", "SYNC"})
    void whateverFailsTheCopyIsRefusedOrWhole(OperationKind kind) {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 6);
        int refused = 0;
        boolean struck = true;
        for (int nth = 1; struck; nth++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            machine.faults().fail(kind, nth, Errno.EIO, Duration.ONCE);
            refused += isWhole(machine, model, kind + " " + nth) ? 0 : 1;
            struck = machine.faults().injected() > 0;
        }
        assertTrue(refused > 10, refused + " refused");
    }

    /** What failed when the copy was closed was said to have ended it, incomplete and no store, which it was by then. */
    @Test
    void whateverFailsFromTheLastStepOnTheCopyIsRefusedOrWhole() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 6);
        int refused = 0;
        int struck = 0;
        for (int nth = 1; struck == nth - 1; nth++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            int last = nth;
            machine.faults().listen((kind, number, path) -> {
                if (kind == OperationKind.DELETE && path.endsWith("copy-unfinished")) {
                    machine.faults().failAny(last, Errno.EIO, Duration.ONCE);
                }
            });
            refused += isWhole(machine, model, "operation " + nth) ? 0 : 1;
            struck += machine.faults().injected() > 0 ? 1 : 0;
        }
        // The mark is deleted, the directory synced; what comes then is for closing.
        assertEquals(2, refused);
        assertTrue(struck > 4, struck + " operations");
    }

    /** Salvages; the copy has to be whole where that says so, and refused where it does not. */
    private boolean isWhole(SimulatedMachine machine, NavigableMap<byte[], byte[]> model, String what) {
        boolean isMade = isSalvaged(machine);
        machine.faults().heal();
        machine.faults().listen(null);
        if (isMade) {
            BackupFixture.requireContents(machine, TARGET, model, what);
        } else {
            assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(machine, TARGET), what);
        }
        return isMade;
    }

    private boolean isSalvaged(SimulatedMachine machine) {
        try {
            salvage(machine);
            return true;
        } catch (StoreException refused) {
            return false;
        }
    }

    /** Has one put to the copy fail; returns how many there were. */
    private int salvageFailingAt(SimulatedMachine machine, int nth) {
        AtomicInteger puts = new AtomicInteger();
        SalvageFixture.salvage(machine, lost, (method, arguments) -> {
            if (method.equals("put") && puts.incrementAndGet() == nth) {
                throw new NoSpaceException("put " + nth);
            }
        });
        return puts.get();
    }
}
