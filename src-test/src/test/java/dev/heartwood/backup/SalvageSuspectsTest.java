package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.pages;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TailMergeOperator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which keys salvage counts as suspect: those of which something may be lost above or below what was found. No older checkpoint helps. */
class SalvageSuspectsTest {
    private static final int KEYS = 6000;

    private final List<String> lost = new ArrayList<>();
    private final NavigableMap<byte[], byte[]> model = BackupFixture.newMap();

    private static KeyValueStore open(SimulatedMachine machine, Path directory) {
        StoreOptions options =
                BackupFixture.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        return BackupFixture.open(machine, directory, options);
    }

    private static byte[] key(int number) {
        return "key%05d".formatted(number).getBytes();
    }

    private static byte[] base(int number) {
        byte[] value = new byte[100];
        Arrays.fill(value, (byte) ('a' + number % 26));
        return value;
    }

    private void put(KeyValueStore store, int number) {
        store.put(key(number), base(number));
        model.put(key(number), base(number));
    }

    private void merge(KeyValueStore store, int number, String operand) {
        store.merge(key(number), operand.getBytes());
        byte[] before = model.get(key(number));
        model.put(key(number), new TailMergeOperator().merge(key(number), before, List.of(operand.getBytes())));
    }

    /** Bases in the leaves, and above them operands on some of the keys, values on others, and a deletion. */
    private SimulatedMachine store(boolean isSettled) {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = open(machine, STORE)) {
            for (int i = 0; i < KEYS; i++) {
                put(store, i);
            }
            if (isSettled) {
                store.settle();
            }
            for (int i = 0; i < KEYS; i += 20) {
                merge(store, i, "x");
                merge(store, i, "y");
                put(store, i + 1);
                store.delete(key(i + 2));
                model.remove(key(i + 2));
            }
        }
        return machine;
    }

    private SalvageReport salvage(SimulatedMachine machine) {
        lost.clear();
        return SalvageFixture.salvage(machine, lost);
    }

    /** How many keys the copy has with another value than they had. */
    private int wrong(SimulatedMachine machine) {
        try (KeyValueStore copy = open(machine, TARGET)) {
            Map<byte[], byte[]> found = History.contents(copy);
            return (int) found.entrySet().stream()
                    .filter(entry -> !Arrays.equals(model.get(entry.getKey()), entry.getValue()))
                    .count();
        }
    }

    /** They were taken for all there was of their keys. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"TRUNK", "BRANCH_LEAF"})
    void operandsWithoutABaseThatMayBeLostAreSuspect(PageType type) {
        SimulatedMachine start = store(true);
        BackupFixture.loseOlderNodes(start);
        int suspects = 0;
        List<Long> pages = pages(start, type);
        for (int i = 0; i < pages.size(); i += Math.max(1, pages.size() / 25)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(i));
            machine.flip(STORE, DATA, pages.get(i) * PAGE_BYTES + 1000, 1);
            suspects += requireTheWrongOnesAreSuspect(machine);
        }
        assertTrue(suspects > 0, "no operand without its base was found");
    }

    /** Above nodes that are lost just those; where the root is, or a part of a run, all keys that may have had a younger version there. */
    private long requireTheWrongOnesAreSuspect(SimulatedMachine machine) {
        SalvageReport report = salvage(machine);
        int wrong = wrong(machine);
        boolean mayLackYounger = lost.stream()
                .anyMatch(line -> line.contains("BRANCH_LEAF") || line.contains("descriptor") || line.contains("all keys: what the trunk node"));
        assertTrue(wrong <= report.suspects() && (mayLackYounger || report.suspects() == wrong),
                wrong + " wrong, " + report + " " + lost);
        return report.suspects();
    }

    @Test
    void nothingIsSuspectOfASoundStore() {
        for (boolean isSettled : new boolean[] {false, true}) {
            model.clear();
            SimulatedMachine machine = store(isSettled);
            SalvageReport report = salvage(machine);
            assertEquals(0, report.suspects() + report.losses() + wrong(machine), report + " " + lost);
        }
    }

    /** What the log adds to a key is no whole history either if its base may be lost; a value or a deletion there is. */
    @ParameterizedTest
    @ValueSource(strings = {"TRUNK", "BRANCH_LEAF", "OVERFLOW"})
    void operandsOfTheLogAreSuspectToo(String type) {
        SimulatedMachine start = store(true);
        SimulatedMachine killed;
        int large = 8;
        try (KeyValueStore store = open(start, STORE)) {
            for (int i = large; i < KEYS; i += 400) {
                store.put(key(i), new byte[5000]);
                model.put(key(i), new byte[5000]);
            }
            store.checkpoint();
            for (int i = 0; i < KEYS; i += 40) {
                merge(store, i, "z");
                merge(store, i + 1, "z");
                merge(store, i + 2, "z");
                merge(store, i + 3, "z");
                merge(store, i + 3, "z");
                put(store, i + 4);
                merge(store, i + 4, "z");
                store.delete(key(i + 5));
                model.remove(key(i + 5));
                merge(store, i + 5, "z");
                // Not suspect any more, as the newest state of the key is in the log.
                put(store, i + 20);
                merge(store, i + large, "z");
            }
            killed = start.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        BackupFixture.loseOlderNodes(killed);
        int suspects = 0;
        List<Long> pages = pages(killed, PageType.valueOf(type));
        for (int i = 0; i < pages.size(); i += Math.max(1, pages.size() / 25)) {
            SimulatedMachine machine = killed.crash(CrashKind.KILL, new SplittableRandom(i));
            machine.flip(STORE, DATA, pages.get(i) * PAGE_BYTES + 1000, 1);
            suspects += requireTheWrongOnesAreSuspect(machine);
        }
        assertTrue(suspects > 0, "no operand without its base was found");
    }

    /** The descriptor of a branch that no longer makes sense, in a node that does. */
    @Test
    void operandsAboveABranchWhoseDescriptorIsDamagedAreSuspect() {
        SimulatedMachine start = store(true);
        byte[] contents = start.contents(STORE, DATA);
        int cases = 0;
        int suspects = 0;
        for (long page : pages(start, PageType.TRUNK)) {
            int at = descriptor(contents, (int) page * PAGE_BYTES);
            if (at > 0) {
                SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
                byte[] changed = contents.clone();
                changed[at] = 99;
                CRC32C crc = new CRC32C();
                crc.update(changed, (int) page * PAGE_BYTES + 4, PAGE_BYTES - 4);
                ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt((int) page * PAGE_BYTES, (int) crc.getValue());
                machine.place(STORE, DATA, changed);
                suspects += requireTheWrongOnesAreSuspect(machine);
                cases += lost.stream().anyMatch(line -> line.contains("descriptor version")) ? 1 : 0;
            }
        }
        assertTrue(cases > 0 && suspects > 0, suspects + " suspects of " + cases + " damaged descriptors");
    }

    /** Where the first descriptor of a branch begins on a page: behind its number and its length, with its version and the same number. */
    private static int descriptor(byte[] contents, int page) {
        ByteBuffer bytes = ByteBuffer.wrap(contents).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = page + PageLayout.BODY; at < page + PAGE_BYTES - 32; at++) {
            long id = bytes.getLong(at);
            if (id > 0 && id < 1L << 40) {
                ImageReader image = new ImageReader(Arrays.copyOfRange(contents, at + 8, page + PAGE_BYTES));
                long length = image.getVarint();
                int here = page + PAGE_BYTES - image.remaining();
                if (length > 16 && length < 4096 && image.getByte() == 1 && image.getVarint() == id) {
                    return here;
                }
            }
        }
        return -1;
    }

    /** Keys before those of a branch were suspected whenever its first leaf was damaged, and keys behind them with its last one. */
    @Test
    void noKeyOutsideOfWhatIsListedIsSuspect() {
        SimulatedMachine start = new SimulatedMachine(3);
        try (KeyValueStore store = open(start, STORE)) {
            for (int i = 0; i < 1000; i++) {
                put(store, i);
            }
            store.settle();
            store.checkpoint();
            for (int i = 400; i < 600; i++) {
                put(store, i);
            }
        }
        Pattern listed = Pattern.compile("keys (from|after) \"key(\\d+)\" (and before|up to) \"key(\\d+)\": entries of branch.*");
        Map<String, Integer> suspects = new TreeMap<>();
        for (long page : pages(start, PageType.BRANCH_LEAF)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            machine.flip(STORE, DATA, page * PAGE_BYTES + 1000, 1);
            SalvageReport report = salvage(machine);
            if (!lost.isEmpty()) {
                Matcher gap = listed.matcher(lost.getFirst());
                assertTrue(gap.find(), lost.toString());
                int keys = Integer.parseInt(gap.group(4)) - Integer.parseInt(gap.group(2)) + 1;
                assertTrue(report.suspects() <= keys, report + " " + lost);
                suspects.merge(gap.group(1), (int) report.suspects(), Integer::sum);
                suspects.merge(gap.group(3), (int) report.suspects(), Integer::sum);
            }
        }
        assertTrue(suspects.get("from") > 0 && suspects.get("up to") > 0, suspects.toString());
    }

    /** They were counted as lost, although the copy has something older of them. */
    @Test
    void whatTheCopyCouldTakeOnlyAPartOfIsSuspect() {
        SimulatedMachine machine = new SimulatedMachine(4);
        SimulatedMachine killed;
        byte[] refused = "refused".getBytes();
        try (KeyValueStore store = open(machine, STORE)) {
            for (int i = 0; i < 5; i++) {
                put(store, i);
            }
            store.checkpoint();
            store.merge(key(0), refused);
            store.checkpoint();
            store.put(key(1), refused);
            store.merge(key(2), refused);
            // Of this one the copy has nothing.
            store.put(key(5), refused);
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        SalvageReport report = salvageWithout(refused, killed);
        assertEquals(4, report.losses(), lost.toString());
        assertEquals(3, report.suspects(), report + " " + lost);
        assertEquals(5, report.records());
        try (KeyValueStore copy = open(killed, TARGET)) {
            BackupFixture.requireSame(model, History.contents(copy), "without what was refused");
        }
    }

    /** Has the copy refuse a value for want of memory. */
    private SalvageReport salvageWithout(byte[] refused, SimulatedMachine machine) {
        return SalvageFixture.salvage(machine, lost, (method, values) -> {
            boolean isWrite = method.equals("write");
            if (isWrite || values != null && values.length > 1 && values[1] instanceof byte[] value && Arrays.equals(refused, value)) {
                throw new InsufficientMemoryException(method);
            }
        });
    }
}
