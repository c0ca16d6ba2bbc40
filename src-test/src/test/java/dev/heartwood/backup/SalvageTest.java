package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.contents;
import static dev.heartwood.backup.SalvageFixture.files;
import static dev.heartwood.backup.SalvageFixture.pages;
import static dev.heartwood.backup.SalvageFixture.store;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.Salvage;
import dev.heartwood.engine.salvage.SalvageReport;
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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What salvage gets out of stores whose superblocks can be read. */
class SalvageTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        return SalvageFixture.salvage(machine, lost);
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
            assertEquals(0, report.lossesOfAnyKey(), what);
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
}
