package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.pages;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TailMergeOperator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A key whose newest value lies apart and cannot be read is copied as it was before: nothing of it was, though an older value was whole. */
class SalvageOlderValuesTest {
    private static final byte[] KEY = {1};
    private static final int LARGE = 5_000;

    private final List<String> lost = new ArrayList<>();

    private static KeyValueStore open(SimulatedMachine machine, Path directory) {
        StoreOptions options = BackupFixture.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        return BackupFixture.open(machine, directory, options);
    }

    private static byte[] value(char letter, int length) {
        byte[] value = new byte[length];
        Arrays.fill(value, (byte) letter);
        return value;
    }

    /** The first letter and the length of what the copy has, with each page that has values apart damaged in turn. */
    private Set<String> copied(SimulatedMachine start) {
        Set<String> found = new TreeSet<>();
        List<Long> pages = pages(start, PageType.OVERFLOW);
        for (long page : pages) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            machine.flip(STORE, DATA, page * PAGE_BYTES + 1000, 1);
            lost.clear();
            SalvageReport report = SalvageFixture.salvage(machine, lost);
            try (KeyValueStore copy = open(machine, TARGET)) {
                byte[] value = copy.get(KEY);
                assertNotNull(value, lost::toString);
                found.add((char) value[0] + " " + value.length + " " + report.suspects());
            }
            assertEquals(report.suspects(), lost.stream().filter(line -> line.contains("what is older counts")).count(), lost::toString);
        }
        assertTrue(pages.size() > 1);
        return found;
    }

    @Test
    void anOlderValueIsCopied() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = open(machine, STORE)) {
            store.put(KEY, value('a', LARGE));
            store.checkpoint();
            store.put(KEY, value('b', LARGE));
            store.checkpoint();
        }
        assertEquals(Set.of("a 5000 1", "b 5000 0"), copied(machine));
    }

    /** An operand above what is lost belongs to that; one below does not. */
    @Test
    void whatIsAboveAnOperandThatIsLostIsNotCopied() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = open(machine, STORE)) {
            store.put(KEY, value('a', 3));
            store.checkpoint();
            store.merge(KEY, value('b', 4));
            store.checkpoint();
            store.merge(KEY, value('c', LARGE));
            store.checkpoint();
            store.merge(KEY, value('d', 5));
            store.checkpoint();
        }
        TailMergeOperator operator = new TailMergeOperator();
        byte[] before = operator.merge(KEY, value('a', 3), List.of(value('b', 4)));
        assertEquals(Set.of((char) before[0] + " " + before.length + " 1"), copied(machine));
    }
}
