package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One copy of the superblock is damaged or cannot be read, or both. */
class SuperblockRotTest {
    private static final long[] COPIES = {0, 16};
    /** One byte of each copy in so many is flipped in a store that is opened; what lies beyond the image counts too. */
    private static final int STEP = 61;

    private static Specimen specimen;

    @BeforeAll
    static void makeStore() {
        specimen = Specimen.of(4);
    }

    private static Map<String, Integer> files(SimulatedMachine machine) {
        return new TreeMap<>(machine.files(Specimen.DIRECTORY).stream()
                .collect(Collectors.toMap(n -> n, n -> Arrays.hashCode(machine.contents(Specimen.DIRECTORY, n)))));
    }

    private static void flip(SimulatedMachine machine, long page, int offset) {
        machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + offset, 1 << offset % 8);
    }

    @Test
    void everyByteOfACopyIsGuardedAndTheOtherCopyRepairsIt() {
        int cases = 0;
        for (long copy : COPIES) {
            for (int offset = 0; offset < Specimen.PAGE_BYTES; offset += STEP) {
                SimulatedMachine machine = specimen.copy();
                flip(machine, copy, offset);
                List<String> problems = Specimen.problems(machine);
                assertEquals(1, problems.size(), "copy " + copy + ", byte " + offset + ": " + problems);
                assertTrue(problems.getFirst().contains("superblock"), problems.getFirst());
                try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                    // Repaired by the open itself, not by a later checkpoint.
                    SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
                    assertEquals(List.of(), Specimen.problems(killed));
                    assertFalse(store.contains(new byte[] {0}));
                }
                cases++;
            }
        }
        assertEquals(2 * (Specimen.PAGE_BYTES / STEP + 1), cases);
    }

    /** The copy that an open was writing when the power failed is torn, and the other one was damaged before. */
    @Test
    void powerMayFailWhileTheDamagedCopyIsRepaired() {
        int cases = 0;
        for (long damaged : COPIES) {
            SimulatedMachine machine = specimen.copy();
            flip(machine, damaged, 100);
            List<SimulatedMachine> images = new ArrayList<>();
            machine.faults().listen((kind, number, path) -> {
                if (kind == OperationKind.SYNC) {
                    images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
                }
            });
            byte[] found = machine.contents(Specimen.DIRECTORY, Specimen.DATA);
            SimulatedStoreHost.open(machine, Specimen.options()).close();
            machine.faults().listen(null);
            // At the first two syncs one copy and then the other has just been written.
            for (SimulatedMachine image : images.subList(0, 2)) {
                byte[] written = image.contents(Specimen.DIRECTORY, Specimen.DATA);
                for (long copy : COPIES) {
                    int from = (int) copy * Specimen.PAGE_BYTES;
                    if (!Arrays.equals(found, from, from + Specimen.PAGE_BYTES, written, from, from + Specimen.PAGE_BYTES)) {
                        flip(image, copy, 200);
                        break;
                    }
                }
                try (KeyValueStore store = SimulatedStoreHost.open(image, Specimen.options())) {
                    assertTrue(specimen.read(store).isWhole());
                }
                found = written;
                cases++;
            }
        }
        assertEquals(4, cases);
    }

    /** The first two reads are of the copies. */
    private static void failReads(SimulatedMachine machine, int... numbers) {
        for (int nth : numbers) {
            machine.faults().fail(OperationKind.READ, nth, Errno.EIO, Duration.ONCE);
        }
    }

    @Test
    void aCopyThatCannotBeReadIsAsADamagedOne() {
        for (int copy = 0; copy < COPIES.length; copy++) {
            SimulatedMachine machine = specimen.copy();
            // So that it can be told whether it is written again.
            flip(machine, COPIES[copy], 100);
            failReads(machine, copy + 1);
            List<String> problems = Specimen.problems(machine);
            assertEquals(1, problems.size(), problems::toString);
            assertTrue(problems.getFirst().startsWith("superblock, copy " + copy), problems.getFirst());
            assertTrue(problems.getFirst().contains("EIO"), problems.getFirst());
            failReads(machine, copy + 1);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                assertEquals(2, machine.faults().injected());
                assertEquals(List.of(), Specimen.problems(machine.crash(CrashKind.KILL, new SplittableRandom(1))));
                assertTrue(specimen.read(store).isWhole());
            }
        }
    }

    @Test
    void ifNeitherIsWholeAndOneCannotBeReadTheOpenSaysSo() {
        for (int[] unreadable : new int[][] {{1, 2}, {1}, {2}}) {
            SimulatedMachine machine = specimen.copy();
            if (unreadable.length == 1) {
                flip(machine, COPIES[2 - unreadable[0]], 100);
            }
            Map<String, Integer> before = files(machine);
            failReads(machine, unreadable);
            ReadFailedException refusal = assertThrows(
                    ReadFailedException.class, () -> SimulatedStoreHost.open(machine, Specimen.options()));
            assertEquals("EIO", refusal.errnoName());
            assertEquals(before, files(machine));
            SimulatedStoreHost.open(machine, Specimen.options()).close();
        }
    }

    @Test
    void withoutAWholeCopyTheOpenRefusesAndWritesNothing() {
        for (int first = 0; first < Specimen.PAGE_BYTES; first += 509) {
            for (int second = 0; second < Specimen.PAGE_BYTES; second += 509) {
                SimulatedMachine machine = specimen.copy();
                flip(machine, COPIES[0], first);
                flip(machine, COPIES[1], second);
                Map<String, Integer> before = files(machine);
                CorruptionException refusal = assertThrows(
                        CorruptionException.class, () -> SimulatedStoreHost.open(machine, Specimen.options()));
                assertEquals(PageType.SUPERBLOCK.name(), refusal.pageType());
                assertEquals(before, files(machine));
                assertEquals(2, Specimen.problems(machine).size());
            }
        }
    }
}
