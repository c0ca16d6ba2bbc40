package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.Salvage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TailMergeOperator;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What salvage gets out of damaged stores. */
class SalvageTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        try (Storage from = machine.storage(STORE)) {
            return EngineAccess.salvage(from, TARGET, machine, lost::add);
        }
    }

    /** Every key written has a generation in its value: the round in which it was written last. */
    private static SimulatedMachine store(NavigableMap<byte[], byte[]> model, long seed) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(seed), 5000);
            store.settle();
            BackupFixture.write(store, model, new SplittableRandom(seed + 1), 300);
        }
        return machine;
    }

    private static List<Long> pages(SimulatedMachine machine, PageType type) {
        byte[] bytes = machine.contents(STORE, DATA);
        List<Long> pages = new ArrayList<>();
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            if (bytes[page * PAGE_BYTES + 4] == type.code()) {
                pages.add((long) page);
            }
        }
        return pages;
    }

    private static Map<String, Integer> files(SimulatedMachine machine) {
        return new TreeMap<>(machine.files(STORE).stream()
                .collect(Collectors.toMap(n -> n, n -> Arrays.hashCode(machine.contents(STORE, n)))));
    }

    private static Map<byte[], byte[]> contents(SimulatedMachine machine) {
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            assertTrue(copy.verify().isClean());
            return History.contents(copy);
        }
    }

    @Test
    void aSoundStoreIsCopiedWhole() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(model, 1);
        Map<String, Integer> before = files(machine);
        SalvageReport report = salvage(machine);
        assertEquals(List.of(), lost);
        assertEquals(model.size(), report.records());
        assertEquals(0, report.suspects());
        assertEquals(before, files(machine));
        BackupFixture.requireContents(machine, TARGET, model, "salvaged");
    }

    /** Runs that overlap, at one node and on the way down: the younger one counts. */
    @Test
    void ofManyVersionsTheNewestIsCopied() {
        for (int seed = 1; seed <= 6; seed++) {
            NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
            SimulatedMachine machine = new SimulatedMachine(seed);
            SplittableRandom random = new SplittableRandom(seed);
            for (int session = 0; session < 3; session++) {
                try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
                    BackupFixture.write(store, model, random, seed * 700);
                }
            }
            lost.clear();
            salvage(machine);
            assertEquals(List.of(), lost);
            BackupFixture.requireContents(machine, TARGET, model, "seed " + seed);
        }
    }

    @Test
    void theLogOfAKilledStoreIsCopiedToo() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = new SimulatedMachine(2);
        KeyValueStore store = BackupFixture.open(machine, STORE);
        BackupFixture.write(store, model, new SplittableRandom(2), 800);
        try (WriteBatch batch = store.newBatch()) {
            batch.put("batch".getBytes(), new byte[3]);
            batch.delete("key1".getBytes());
            store.write(batch);
        }
        model.put("batch".getBytes(), new byte[3]);
        model.remove("key1".getBytes());
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        SalvageReport report = salvage(killed);
        assertEquals(List.of(), lost);
        assertTrue(report.logEntries() > 0, report.toString());
        BackupFixture.requireContents(killed, TARGET, model, "salvaged");
    }

    /** Nothing is invented, and what is missing lies between keys that are listed. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER", "TRUNK"})
    void damageOfEachTypeCostsOnlyWhatIsUnderIt(PageType type) {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 3);
        SplittableRandom random = new SplittableRandom(type.code());
        boolean isNeeded = type != PageType.BRANCH_INDEX && type != PageType.FILTER;
        List<Long> pages = new ArrayList<>(pages(start, type));
        Collections.shuffle(pages, new Random(type.code()));
        int losses = 0;
        // Which pages are in use depends on when merges ran.
        for (int i = 0; i < pages.size() && (i < 12 || isNeeded && losses == 0); i++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, random.split());
            long page = pages.get(i);
            machine.flip(STORE, DATA, page * PAGE_BYTES + random.nextInt(PAGE_BYTES), 1 << random.nextInt(8));
            lost.clear();
            SalvageReport report = salvage(machine);
            Map<byte[], byte[]> found = contents(machine);
            int missing = 0;
            int different = 0;
            for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
                byte[] value = found.get(entry.getKey());
                missing += value == null ? 1 : 0;
                different += value != null && !Arrays.equals(value, entry.getValue()) ? 1 : 0;
            }
            int invented = found.size() + missing - model.size();
            String what = type + " page " + page + ": " + report + ", " + missing + " missing, " + different + " different, "
                    + invented + " invented, lost " + lost;
            assertEquals(lost.size(), report.losses(), what);
            assertEquals(0, report.logLosses(), what);
            if (lost.isEmpty() || type == PageType.BRANCH_INDEX || type == PageType.FILTER) {
                assertEquals(0, missing + different + invented + report.losses(), what);
            } else if (type == PageType.TRUNK) {
                assertTrue(lost.getFirst().contains("trunk node"), what);
            } else {
                assertTrue(missing < model.size() / 4, what);
                assertTrue(different + invented <= report.suspects(), what);
            }
            losses += lost.size();
        }
        assertEquals(isNeeded, losses > 0, losses + " losses by damage of " + type);
    }

    @Test
    void recordsBehindDamageInTheLogAreCopied() {
        SimulatedMachine machine = new SimulatedMachine(4);
        int count = 400;
        KeyValueStore store = BackupFixture.open(machine, STORE);
        for (int i = 0; i < count; i++) {
            store.put(("key" + i).getBytes(), ("value" + i).getBytes());
        }
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        int cases = 0;
        for (String name : killed.files(STORE)) {
            byte[] contents = killed.contents(STORE, name);
            int at = indexOf(contents, "value200".getBytes());
            if (name.startsWith("log-") && at >= 0) {
                cases++;
                killed.flip(STORE, name, at, 1);
            }
        }
        assertEquals(1, cases);
        assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(killed, STORE));
        SalvageReport report = salvage(killed);
        assertEquals(count - 1, report.logEntries());
        assertTrue(lost.size() == 2 && lost.get(1).contains("bytes at offset"), lost.toString());
        assertEquals(2, report.logLosses());
        try (KeyValueStore copy = BackupFixture.openExisting(killed, TARGET)) {
            for (int i = 0; i < count; i++) {
                byte[] expected = i == 200 ? null : ("value" + i).getBytes();
                assertArrayEquals(expected, copy.get(("key" + i).getBytes()));
            }
        }
    }

    private static int indexOf(byte[] bytes, byte[] wanted) {
        for (int i = 0; i <= bytes.length - wanted.length; i++) {
            if (Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
    }

    /** Salvage does not know the operator's class, only its name; operands are copied as they are. */
    @Test
    void operandsAreKeptForTheOperatorOfTheNextOpen() {
        StoreOptions options =
                BackupFixture.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        SimulatedMachine machine = new SimulatedMachine(5);
        Map<byte[], byte[]> expected;
        History history = new History(5, 1500, dev.heartwood.Durability.BUFFERED);
        try (Environment environment = EngineAccess.open(OptionMatrix.environment(options), machine);
                KeyValueStore store = environment.open(STORE, options)) {
            while (history.begun() < history.size()) {
                history.advance(store);
            }
            expected = History.contents(store);
        }
        salvage(machine);
        assertEquals(List.of(), lost);
        try (Environment environment = EngineAccess.open(OptionMatrix.environment(options), machine);
                KeyValueStore copy = environment.open(TARGET, options)) {
            BackupFixture.requireSame(expected, History.contents(copy), "with operands");
        }
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

    /** Has one put to the copy fail; returns how many there were. */
    private int salvageFailingAt(SimulatedMachine machine, int nth) {
        AtomicInteger puts = new AtomicInteger();
        try (Storage from = machine.storage(STORE);
                Storage to = machine.storage(TARGET);
                EngineEnvironment environment =
                        EngineEnvironment.open(OptionMatrix.environment(BackupFixture.options()), machine)) {
            Function<StoreOptions, KeyValueStore> opening = options -> {
                KeyValueStore copy = environment.openForSalvage(TARGET, options);
                return (KeyValueStore) Proxy.newProxyInstance(
                        KeyValueStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, values) -> {
                            if (method.getName().equals("put") && puts.incrementAndGet() == nth) {
                                throw new NoSpaceException("put " + nth);
                            }
                            return method.invoke(copy, values);
                        });
            };
            Salvage.run(from, to, opening, lost::add, Progress.SILENT);
        }
        return puts.get();
    }

    /** Versions of one key on many leaves: with the first of them lost, an older one comes first. */
    @Test
    void anOlderVersionBehindAGapIsSuspect() {
        SimulatedMachine start = new SimulatedMachine(12);
        byte[] key = "key".getBytes();
        byte last = 40;
        List<Snapshot> snapshots = new ArrayList<>();
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            store.put("a".getBytes(), new byte[1]);
            for (byte i = 0; i <= last; i++) {
                byte[] value = new byte[900];
                value[0] = i;
                store.put(key, value);
                snapshots.add(store.snapshot());
            }
            store.checkpoint();
            snapshots.forEach(Snapshot::close);
        }
        int older = 0;
        for (long page : pages(start, PageType.BRANCH_LEAF)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            machine.flip(STORE, DATA, page * PAGE_BYTES + 1000, 1);
            lost.clear();
            SalvageReport report = salvage(machine);
            byte[] found = contents(machine).get(key);
            if (found != null && found[0] != last) {
                older++;
                assertEquals(1, report.suspects(), report + " " + lost);
            }
        }
        assertTrue(older > 0, "no older version was found");
    }

    private static void behead(SimulatedMachine machine) {
        machine.flip(STORE, DATA, 50, 1);
        machine.flip(STORE, DATA, 16 * PAGE_BYTES + 50, 1);
        assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(machine, STORE));
    }

    /** The mark of the session tells the store's number; without it the pages do. */
    private static void forgetSession(SimulatedMachine machine, int how) {
        switch (how) {
            case 0 -> machine.remove(STORE, "session");
            case 1 -> machine.flip(STORE, "session", 9, 1);
            default -> {}
        }
    }

    @Test
    void withoutSuperblocksTheNewestRootIsFound() {
        for (int seed = 1; seed <= 6; seed++) {
            NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
            SimulatedMachine machine = new SimulatedMachine(seed);
            SplittableRandom random = new SplittableRandom(seed);
            for (int session = 0; session < 3; session++) {
                try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
                    BackupFixture.write(store, model, random, seed * 700);
                }
            }
            behead(machine);
            forgetSession(machine, seed % 3);
            Map<String, Integer> before = files(machine);
            lost.clear();
            SalvageReport report = salvage(machine);
            assertEquals(before, files(machine));
            assertTrue(lost.getFirst().contains("both superblocks") && lost.getFirst().contains("checkpoint"), lost.toString());
            assertTrue(lost.size() == 1 || lost.size() == 2 && lost.get(1).contains("log"), lost.toString());
            assertEquals(lost.size(), report.losses());
            BackupFixture.requireContents(machine, TARGET, model, "seed " + seed);
        }
    }

    @Test
    void oneSuperblockIsEnough() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 8);
        for (int nth = 1; nth <= 2; nth++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            machine.faults().fail(OperationKind.READ, nth, Errno.EIO, Duration.ONCE);
            lost.clear();
            salvage(machine);
            assertEquals(1, machine.faults().injected());
            assertEquals(List.of(), lost);
            BackupFixture.requireContents(machine, TARGET, model, "with read " + nth + " failing");
        }
    }

    /** It was the failure of the device, which the command took for a store that cannot be opened. */
    @Test
    void aDeviceOfWhichNothingCanBeReadIsDamaged() {
        SimulatedMachine machine = store(BackupFixture.newMap(), 8);
        machine.faults().fail(OperationKind.READ, 1, Errno.EIO, Duration.FOR_GOOD);
        CorruptionException damage = assertThrows(CorruptionException.class, () -> salvage(machine));
        assertEquals(PageType.SUPERBLOCK.name(), damage.pageType());
        assertTrue(damage.getMessage().contains("EIO"), damage.getMessage());
    }

    /** Those of other files of the log than the first were not even looked for, nor what is left of that one. */
    @Test
    void recordsBesideACutOffSegmentAreCopied() {
        SimulatedMachine machine = new SimulatedMachine(4);
        int count = 400;
        KeyValueStore store = BackupFixture.open(machine, STORE);
        for (int i = 0; i < count; i++) {
            store.put(("key" + i).getBytes(), ("value" + "-".repeat(100)).getBytes());
        }
        SimulatedMachine start = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        Map<String, Integer> holding = new TreeMap<>();
        for (String name : start.files(STORE)) {
            int records = (int) java.util.stream.IntStream.range(0, count)
                    .filter(i -> indexOf(start.contents(STORE, name), ("key" + i + "value").getBytes()) >= 0)
                    .count();
            if (records > 0) {
                holding.put(name, records);
            }
        }
        assertTrue(holding.size() > 1, holding.toString());
        for (String name : holding.keySet()) {
            byte[] contents = start.contents(STORE, name);
            for (int left : new int[] {100, 12_000, 4096 * 3}) {
                SimulatedMachine cut = start.crash(CrashKind.KILL, new SplittableRandom(left));
                cut.place(STORE, name, Arrays.copyOf(contents, left));
                lost.clear();
                SalvageReport report = salvage(cut);
                assertTrue(lost.getFirst().contains(name), lost.toString());
                assertTrue(report.logEntries() >= count - holding.get(name) + (left > 10_000 ? 20 : 0), name + " " + left + " " + report);
                BackupFixture.openExisting(cut, TARGET).close();
            }
        }
    }

    /** An extent that cannot be read as a whole is read page by page. */
    @Test
    void theSearchGoesOnPastWhatCannotBeRead() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine start = store(model, 7);
        behead(start);
        int extents = start.contents(STORE, DATA).length / (32 * PAGE_BYTES);
        // The first two reads are of the superblocks.
        for (int nth = 1; nth < 3 + extents; nth++) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            machine.faults().fail(OperationKind.READ, nth, Errno.EIO, Duration.ONCE);
            lost.clear();
            salvage(machine);
            assertEquals(1, machine.faults().injected());
            BackupFixture.requireContents(machine, TARGET, model, "with read " + nth + " failing");
        }
    }

    /** Checkpoints that overwrite next to nothing leave the roots of those before readable. */
    @Test
    void olderRootsAreNotPreferred() {
        SimulatedMachine machine = new SimulatedMachine(1);
        int checkpoints = 12;
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (int i = 0; i < checkpoints; i++) {
                store.put("key".getBytes(), new byte[] {(byte) i});
                store.checkpoint();
            }
        }
        behead(machine);
        SimulatedMachine copy = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        salvage(machine);
        try (KeyValueStore found = BackupFixture.openExisting(machine, TARGET)) {
            assertArrayEquals(new byte[] {(byte) (checkpoints - 1)}, found.get("key".getBytes()));
        }
        // That there was something to be preferred: without the newest roots, of which merges may have left several, it is an older one.
        for (String name : copy.files(STORE)) {
            if (name.startsWith("log-")) {
                copy.remove(STORE, name);
            }
        }
        byte[] bytes = copy.contents(STORE, DATA);
        List<Long> newestFirst = new ArrayList<>(pages(copy, PageType.TRUNK));
        newestFirst.sort(Comparator.comparingLong((Long page) -> generation(bytes, page)).reversed());
        byte last = (byte) (checkpoints - 1);
        byte preferred = last;
        for (int i = 0; i < newestFirst.size() && preferred == last; i++) {
            copy.flip(STORE, DATA, newestFirst.get(i) * PAGE_BYTES + 1000, 1);
            SimulatedMachine attempt = copy.crash(CrashKind.KILL, new SplittableRandom(i));
            salvage(attempt);
            try (KeyValueStore found = BackupFixture.openExisting(attempt, TARGET)) {
                byte[] value = found.get("key".getBytes());
                preferred = value == null ? last : value[0];
            }
        }
        assertTrue(preferred < last, "no older root was there");
    }

    /** The only node of a checkpoint that was left was taken for the root, and all else was missing without a word. */
    @Test
    void aChildOfADamagedRootIsNotTakenForIt() {
        SimulatedMachine start = new SimulatedMachine(3);
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            for (int i = 0; i < 9000; i++) {
                store.put("key%05d".formatted(i).getBytes(), new byte[200]);
            }
            store.settle();
        }
        byte[] bytes = start.contents(STORE, DATA);
        long root;
        try (Storage storage = start.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            root = store.newest().rootPages()[0];
        }
        long number = pages(start, PageType.TRUNK).stream().filter(page -> page != root).mapToLong(page -> generation(bytes, page)).max().orElseThrow();
        int children = 0;
        for (long left : pages(start, PageType.TRUNK)) {
            if (left != root && generation(bytes, left) == number) {
                children++;
                byte[] changed = bytes.clone();
                for (long page : pages(start, PageType.TRUNK)) {
                    if (page != left && generation(bytes, page) >= number) {
                        changed[(int) page * PAGE_BYTES + 1000] ^= 1;
                    }
                }
                SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(left));
                machine.place(STORE, DATA, changed);
                behead(machine);
                lost.clear();
                try {
                    salvage(machine);
                } catch (CorruptionException noOtherRoot) {
                    continue;
                }
                assertTrue(!lost.getFirst().contains("of checkpoint " + number), lost.toString());
            }
        }
        assertTrue(children > 1, children + " children");
    }

    private static long generation(byte[] bytes, long page) {
        return ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong((int) page * PAGE_BYTES + 24);
    }

    /** While the system runs it can be told which part of the log counts; after a restart it cannot. */
    @ParameterizedTest
    @EnumSource(CrashKind.class)
    void withoutSuperblocksTheLogIsAppliedIfItsEndIsKnown(CrashKind kind) {
        int applied = 0;
        int notApplied = 0;
        for (int seed = 1; seed <= 8; seed++) {
            NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
            SimulatedMachine machine = new SimulatedMachine(seed);
            SplittableRandom random = new SplittableRandom(seed);
            KeyValueStore store = BackupFixture.open(machine, STORE);
            BackupFixture.write(store, model, random, 400 * seed);
            store.settle();
            store.checkpoint();
            NavigableMap<byte[], byte[]> checkpoint = BackupFixture.newMap();
            checkpoint.putAll(model);
            BackupFixture.write(store, model, random, 20);
            SimulatedMachine crashed = machine.crash(kind, new SplittableRandom(seed));
            store.close();
            behead(crashed);
            lost.clear();
            SalvageReport report = salvage(crashed);
            boolean isLogLost = lost.stream().anyMatch(line -> line.contains("log: "));
            assertTrue(!isLogLost || report.logEntries() == 0, report + " " + lost);
            BackupFixture.requireContents(crashed, TARGET, isLogLost ? checkpoint : model, "seed " + seed);
            applied += isLogLost ? 0 : 1;
            notApplied += isLogLost ? 1 : 0;
        }
        assertEquals(kind == CrashKind.KILL ? 8 : 0, applied);
        assertEquals(kind == CrashKind.KILL ? 0 : 8, notApplied);
    }

    /** Which operator they are for stood in the superblocks. */
    @Test
    void withoutSuperblocksOperandsAreListedAsLost() {
        StoreOptions options =
                BackupFixture.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        SimulatedMachine machine = new SimulatedMachine(5);
        int count = 100;
        try (Environment environment = EngineAccess.open(OptionMatrix.environment(options), machine);
                KeyValueStore store = environment.open(STORE, options)) {
            for (int i = 0; i < count; i++) {
                store.put(("value" + i).getBytes(), new byte[] {1});
                store.merge(("operand" + i).getBytes(), new byte[] {2});
            }
        }
        behead(machine);
        salvage(machine);
        assertTrue(lost.stream().filter(line -> line.contains("operands")).count() >= count, lost.toString());
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            assertEquals(count, History.contents(copy).size());
            for (int i = 0; i < count; i++) {
                assertArrayEquals(new byte[] {1}, copy.get(("value" + i).getBytes()));
            }
        }
    }
}
