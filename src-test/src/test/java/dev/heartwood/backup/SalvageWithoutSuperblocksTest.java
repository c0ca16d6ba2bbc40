package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.behead;
import static dev.heartwood.backup.SalvageFixture.files;
import static dev.heartwood.backup.SalvageFixture.generation;
import static dev.heartwood.backup.SalvageFixture.pages;
import static dev.heartwood.backup.SalvageFixture.store;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Tree;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TailMergeOperator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What salvage gets out of stores neither of whose superblocks can be read. */
class SalvageWithoutSuperblocksTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        return SalvageFixture.salvage(machine, lost);
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
            assertTrue(lost.getFirst().contains("both superblocks") && lost.getFirst().contains("of generation"), lost.toString());
            assertTrue(lost.size() == 1 || lost.size() == 2 && lost.get(1).contains("log"), lost.toString());
            assertEquals(lost.size(), report.losses());
            BackupFixture.requireContents(machine, TARGET, model, "seed " + seed);
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

    /** It ended the salvage. */
    @Test
    void aMarkOfASessionThatCannotBeReadIsGoneOnWithout() {
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SimulatedMachine machine = store(model, 9);
        behead(machine);
        machine.faults().listen((operation, number, path) -> {
            if (operation == OperationKind.READ_FILE && path.endsWith("session") && path.contains(STORE.toString())) {
                machine.faults().failAny(0, Errno.EIO, Duration.ONCE);
            }
        });
        salvage(machine);
        machine.faults().listen(null);
        assertTrue(machine.faults().injected() > 0);
        assertTrue(lost.getFirst().contains("taken to be of a store whose keys are sorted"), lost.toString());
        BackupFixture.requireContents(machine, TARGET, model, "without its mark");
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
                assertTrue(!lost.getFirst().contains("of generation " + number), lost.toString());
            }
        }
        assertTrue(children > 1, children + " children");
    }

    /** The leftmost child, which is written first, was taken for the root, and all else was missing without a word. */
    @Test
    void aChildOfACheckpointThatWasBrokenOffIsNotTakenForItsRoot() {
        SimulatedMachine machine = new SimulatedMachine(4);
        List<SimulatedMachine> images = new ArrayList<>();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            write(store, 0, 2250);
            OperationKind[] last = new OperationKind[1];
            machine.faults().listen((operation, number, path) -> {
                // The first of a superblock, when all nodes are there.
                if (operation == OperationKind.WRITE && last[0] == OperationKind.SYNC && path.endsWith(DATA)) {
                    images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
                }
                last[0] = operation;
            });
            for (int written = 2250; written < 3250; written += 250) {
                write(store, written, written + 250);
            }
            for (int i = 0; i < 2; i++) {
                write(store, 0, 300);
            }
            machine.faults().listen(null);
        }
        int cases = 0;
        for (SimulatedMachine image : images) {
            cases += breakOff(image);
        }
        assertTrue(cases > 2, cases + " cases");
    }

    private static void write(KeyValueStore store, int from, int to) {
        for (int i = from; i < to; i++) {
            store.put("key%05d".formatted(i).getBytes(), new byte[200]);
        }
        store.settle();
        store.checkpoint();
    }

    /** Leaves the first node of a checkpoint that the superblocks do not name yet, or all but the last; returns in how many ways that can be. */
    private int breakOff(SimulatedMachine image) {
        long newest;
        try (Storage storage = image.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            newest = store.newest().rootGeneration();
        }
        byte[] bytes = image.contents(STORE, DATA);
        List<Long> written = pages(image, PageType.TRUNK).stream().filter(page -> generation(bytes, page) > newest).toList();
        if (written.size() < 2) {
            return 0;
        }
        Map<byte[], byte[]> expected;
        try (KeyValueStore store = BackupFixture.openExisting(image.crash(CrashKind.KILL, new SplittableRandom(1)), STORE)) {
            expected = History.contents(store);
        }
        int cases = 0;
        for (int left = 1; left < written.size(); left += Math.max(1, written.size() - 2)) {
            byte[] changed = bytes.clone();
            for (long page : written.subList(left, written.size())) {
                Arrays.fill(changed, (int) page * PAGE_BYTES, (int) (page + 1) * PAGE_BYTES, (byte) 0);
            }
            SimulatedMachine broken = image.crash(CrashKind.KILL, new SplittableRandom(1));
            broken.place(STORE, DATA, changed);
            behead(broken);
            lost.clear();
            salvage(broken);
            BackupFixture.requireContents(broken, TARGET, expected, left + " of " + written + ", " + lost);
            cases++;
        }
        return cases;
    }

    /** It was given up for one of long ago, when the tree was lower and had a greater key, where nothing was left of those between. */
    @Test
    void theNewestRootIsNotGivenUpForALowerOneOfLongAgo() {
        SimulatedMachine machine = new SimulatedMachine(6);
        byte[] last = "last".getBytes();
        long first;
        Map<byte[], byte[]> expected;
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.put(last, last);
            write(store, 0, 300);
            first = newest(machine.crash(CrashKind.KILL, new SplittableRandom(1)), new HashSet<>());
            store.delete(last);
            write(store, 0, 3250);
            expected = History.contents(store);
        }
        Set<Long> live = new HashSet<>();
        newest(machine, live);
        byte[] bytes = machine.contents(STORE, DATA);
        for (long page : pages(machine, PageType.TRUNK)) {
            if (generation(bytes, page) > first && !live.contains(page)) {
                Arrays.fill(bytes, (int) page * PAGE_BYTES, (int) (page + 1) * PAGE_BYTES, (byte) 0);
            }
        }
        machine.place(STORE, DATA, bytes);
        behead(machine);
        salvage(machine);
        BackupFixture.requireContents(machine, TARGET, expected, lost.toString());
    }

    /** The number of the newest checkpoint; adds the pages that its nodes begin on. */
    private static long newest(SimulatedMachine machine, Set<Long> nodes) {
        try (Storage storage = machine.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            Tree tree = Tree.read(store.view().tree(), store.newest(), problem -> {});
            tree.nodes().forEach(node -> nodes.add(node.page()));
            return store.newest().rootGeneration();
        }
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
