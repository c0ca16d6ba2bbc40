package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.BackupReport;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sectors of a backup that cannot be read, which a device replaces when they are written: what is there no more is written anew. Every later
 * backup to the directory failed.
 */
class UnreadableTargetTest {
    private final SimulatedMachine machine = new SimulatedMachine(1);
    private final NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
    private final NavigableMap<byte[], byte[]> after = BackupFixture.newMap();

    /** A store, at rest, that has a backup of what it held before. */
    @BeforeEach
    void makeBackup() {
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.backUpAndChange(store, before, after, 1, 1200);
        }
    }

    /** Loses all pages of a type, of the superblocks the second one only; returns how many. */
    private int losePages(PageType type) {
        byte[] bytes = machine.contents(TARGET, DATA);
        List<Long> pages = new ArrayList<>();
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            if (bytes[page * PAGE_BYTES + PageLayout.TYPE] == type.code()) {
                pages.add((long) page);
            }
        }
        List<Long> lost = type == PageType.SUPERBLOCK ? pages.subList(1, 2) : pages;
        lost.forEach(page -> machine.losePage(TARGET, DATA, page));
        return lost.size();
    }

    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"SUPERBLOCK", "TRUNK", "BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void theNextBackupWritesThemAnew(PageType type) {
        assertTrue(losePages(type) > 0);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.backup(TARGET);
        }
        BackupFixture.requireContents(machine, TARGET, after, "after pages of " + type + " were lost");
    }

    @Test
    void aBackupThatIsUpToDateIsMended() {
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.backup(TARGET);
            int lost = losePages(PageType.BRANCH_LEAF);
            BackupReport report = store.backup(TARGET);
            assertTrue(lost > 5 && report.pagesCopied() > 5, lost + " lost, " + report);
        }
        BackupFixture.requireContents(machine, TARGET, after, "mended");
    }

    /** Of a backup that is broken off, what was lost stays lost, and nothing else. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"TRUNK", "BRANCH_LEAF"})
    void aBackupThatIsBrokenOffMayBeMadeAgain(PageType type) {
        losePages(type);
        boolean struck = true;
        for (long nth = 1; struck; nth++) {
            SimulatedMachine broken = machine.crash(CrashKind.KILL, new SplittableRandom(nth));
            struck = breakOff(broken, nth);
            try (KeyValueStore store = BackupFixture.open(broken, STORE)) {
                store.backup(TARGET);
            }
            BackupFixture.requireContents(broken, TARGET, after, "broken off at write " + nth);
        }
    }

    /** What was written in its place names the new checkpoint, below which pages of the old one are put back: it must not stay. */
    @ParameterizedTest
    @ValueSource(longs = {0, 16})
    void aLostSuperblockIsNotThatOfABackupThatWasBrokenOff(long page) {
        machine.losePage(TARGET, DATA, page);
        boolean struck = true;
        for (long nth = 1; struck; nth++) {
            SimulatedMachine broken = machine.crash(CrashKind.KILL, new SplittableRandom(nth));
            struck = breakOff(broken, nth);
            try (KeyValueStore copy = BackupFixture.openExisting(broken, TARGET)) {
                Map<byte[], byte[]> found = History.contents(copy);
                String what = "broken off at write " + nth;
                assertTrue(BackupFixture.isSame(before, found) || BackupFixture.isSame(after, found), what);
                assertTrue(copy.verify().isClean(), what);
            }
        }
    }

    /** Has the nth write of a backup fail; returns whether there were so many. */
    private static boolean breakOff(SimulatedMachine broken, long nth) {
        try (KeyValueStore store = BackupFixture.open(broken, STORE)) {
            broken.faults().fail(OperationKind.WRITE, nth, Errno.EIO, Duration.ONCE);
            try {
                store.backup(TARGET);
            } catch (StoreIoException refused) {
                // the write
            }
            broken.faults().heal();
            return broken.faults().injected() > 0;
        }
    }
}
