package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A small file of a backup cannot be written: the earlier backup is as it was, or this one is made. It was refused when only the note of it was
 * missing, behind which nothing comes that it needs.
 */
class UnnotedBackupTest {
    private static final String MADE = "backups-made";

    private final NavigableMap<byte[], byte[]> before = BackupFixture.newMap();
    private final NavigableMap<byte[], byte[]> after = BackupFixture.newMap();

    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENOSPC", "EIO"})
    void aFirstOneIsRefusedByEveryOpenOrMade(Errno errno) {
        SimulatedMachine start = new SimulatedMachine(1);
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            BackupFixture.write(store, after, new SplittableRandom(1), 700);
        }
        failEach(start, errno, (machine, what) ->
                assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(machine, TARGET), what));
    }

    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENOSPC", "EIO"})
    void aLaterOneLeavesTheEarlierOrIsMade(Errno errno) {
        SimulatedMachine start = new SimulatedMachine(2);
        try (KeyValueStore store = BackupFixture.open(start, STORE)) {
            BackupFixture.backUpAndChange(store, before, after, 7, 1500);
        }
        failEach(start, errno, (machine, what) -> {
            try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
                BackupFixture.requireSame(before, History.contents(copy), what);
            }
        });
    }

    private interface Refused {
        void require(SimulatedMachine machine, String what);
    }

    private void failEach(SimulatedMachine start, Errno errno, Refused refused) {
        boolean isLastMade = false;
        boolean struck = true;
        int nth = 0;
        while (struck) {
            nth++;
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(nth));
            String what = errno + ", file " + nth;
            try (KeyValueStore store = BackupFixture.openExisting(machine, STORE)) {
                store.settle();
                Map<String, Integer> earlier = BackupFixture.files(machine, STORE);
                boolean isMade = isMade(machine, store, nth, errno);
                struck = machine.faults().injected() > 0;
                SimulatedMachine image = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(nth));
                if (isMade) {
                    BackupFixture.requireContents(image, TARGET, after, what);
                } else {
                    refused.require(image, what);
                }
                isLastMade = struck ? isMade : isLastMade;
                // What the directory does not say need not be remembered.
                Map<String, Integer> later = BackupFixture.files(machine, STORE);
                assertEquals(struck, Objects.equals(earlier.get(MADE), later.get(MADE)), what);
                assertEquals(isMade, store.backup(TARGET).pagesCopied() == 0, what);
            }
            BackupFixture.requireContents(machine, TARGET, after, what + ", and once more");
        }
        assertTrue(nth > 2 && isLastMade, "the last of " + (nth - 1) + " files");
    }

    /** Makes a backup, and has the nth of its small files fail. */
    private static boolean isMade(SimulatedMachine machine, KeyValueStore store, int nth, Errno errno) {
        int[] written = {0};
        machine.faults().listen((kind, number, path) -> {
            boolean isTargets = path.contains(TARGET.getFileName().toString());
            if (kind == OperationKind.WRITE_FILE && isTargets && ++written[0] == nth) {
                machine.faults().failAny(1, errno, Duration.ONCE);
            }
        });
        try {
            store.backup(TARGET);
            return true;
        } catch (StoreException e) {
            return false;
        } finally {
            machine.faults().listen(null);
        }
    }
}
