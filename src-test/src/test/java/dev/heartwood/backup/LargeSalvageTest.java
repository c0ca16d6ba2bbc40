package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.inspect.Main;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Tree;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Salvage of values that are larger than any write in its memory, which were listed as lost. */
class LargeSalvageTest {
    /** An operand of four bytes stands for as many million bytes as its first one says, any other for itself; all are appended. */
    private static final class Appending implements MergeOperator {
        @Override
        public String name() {
            return "appending";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            ByteArrayOutputStream value = new ByteArrayOutputStream();
            value.writeBytes(existing == null ? new byte[0] : existing);
            operands.forEach(operand -> value.writeBytes(operand.length == 4 ? large(operand[0], operand[1]) : operand));
            return value.toByteArray();
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return merge(key, null, operands);
        }
    }

    private static byte[] large(int millions, int content) {
        byte[] value = new byte[millions * 1_000_000];
        new SplittableRandom(content).nextBytes(value);
        return value;
    }

    private static byte[] key(int number) {
        return "key%03d".formatted(number).getBytes();
    }

    private static StoreOptions.Builder options() {
        return StoreOptions.builder().memory(ByteSize.mib(64));
    }

    private static SalvageReport salvageWhole(SimulatedMachine machine) {
        List<String> lost = new ArrayList<>();
        try (Storage from = machine.storage(STORE)) {
            SalvageReport report = EngineAccess.salvage(from, TARGET, machine, lost::add);
            assertEquals(List.of(), lost);
            return report;
        }
    }

    /** Values and operands that were written, and those that an operator has made, of the tree and of the log, among small ones of the same keys. */
    @ParameterizedTest
    @EnumSource(KeyOrder.class)
    void whatIsLargerThanAWriteIsCopied(KeyOrder order) {
        StoreOptions options = options().keyOrder(order).mergeOperator(new Appending()).build();
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine killed;
        Map<byte[], byte[]> expected;
        try (KeyValueStore store = BackupFixture.open(machine, STORE, options)) {
            for (int i = 0; i < 200; i++) {
                store.put(key(i), ("value" + i).getBytes());
            }
            store.settle();
            store.put(key(1), large(2, 1));
            store.merge(key(2), new byte[] {9, 2, 0, 0});
            store.merge(key(3), large(2, 3));
            store.checkpoint();
            store.settle();
            store.merge(key(3), "and more".getBytes());
            store.merge(key(4), "something".getBytes());
            store.merge(key(4), new byte[] {5, 4, 0, 0});
            store.checkpoint();
            store.merge(key(4), "log".getBytes());
            store.put(key(5), large(2, 5));
            store.put(key(5), "small".getBytes());
            store.merge(key(5), large(2, 6));
            store.delete(key(6));
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            expected = History.contents(store);
        }
        SalvageReport report = salvageWhole(killed);
        assertEquals(5, report.logEntries());
        assertEquals(0, report.suspects());
        try (Storage target = killed.storage(TARGET)) {
            assertEquals(List.of(), EngineAccess.problems(target));
        }
        try (KeyValueStore copy = BackupFixture.open(killed, TARGET, options)) {
            BackupFixture.requireSame(expected, History.contents(copy), "salvaged");
            copy.settle();
            BackupFixture.requireSame(expected, History.contents(copy), "settled");
        }
        assertArrayEquals(("value2" + new String(large(9, 2), java.nio.charset.StandardCharsets.ISO_8859_1))
                .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1), expected.get(key(2)));
    }

    /** The copy has no operator either: nothing refuses it without one. */
    @Test
    void alsoOfAStoreWithoutAnOperator() {
        byte[] result = large(7, 1);
        CompactionFilter growing = new CompactionFilter() {
            @Override
            public String name() {
                return "growing";
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                return value.byteSize() == 4 ? Decision.replace(result) : Decision.KEEP;
            }
        };
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = BackupFixture.open(machine, STORE, options().compactionFilter(growing).build())) {
            for (int i = 0; i < 3; i++) {
                store.put(key(1), new byte[4]);
                store.put(key(2), new byte[4]);
                store.checkpoint();
            }
            store.settle();
            assertArrayEquals(result, store.get(key(1)));
        }
        salvageWhole(machine);
        try (KeyValueStore copy = BackupFixture.open(machine, TARGET, options().build())) {
            assertArrayEquals(result, copy.get(key(1)));
            assertArrayEquals(result, copy.get(key(2)));
        }
    }

    /** It ended with the stack of an error, when anything did not fit. */
    @Test
    void whatTheJavaHeapHasNoRoomForIsListedWithWhatHelps() {
        StoreOptions options = options().mergeOperator(new Appending()).build();
        byte[] small = "small".getBytes();
        try (TestDirectory parent = new TestDirectory("large")) {
            Path store = parent.path().resolve("store");
            try (KeyValueStore opened = Heartwood.open(store, options)) {
                opened.put(key(0), small);
                opened.put(key(1), new byte[0]);
                opened.merge(key(1), new byte[] {60, 1, 0, 0});
                opened.settle();
            }
            Path part = parent.path().resolve("part");
            JavaProcess.Ended lost = salvage(store, part, "-Xmx64m");
            assertEquals(Main.DAMAGED, lost.exit(), lost::output);
            String line = "lost: key \"key001\": its value: the Java heap, of at most 64m, has no room for 60000000 bytes";
            assertTrue(lost.output().contains(line) && lost.output().contains("-Xmx"), lost::output);
            requireValues(part, options, small, null);

            Path whole = parent.path().resolve("whole");
            JavaProcess.Ended copied = salvage(store, whole, "-Xmx160m");
            assertEquals(Main.CLEAN, copied.exit(), copied::output);
            requireValues(whole, options, small, large(60, 1));
        }
    }

    /** Those that might be older than they should be were all remembered, and a large store ended with a full heap and no copy. */
    @Test
    void keysOfAWholeStoreThatMayBeOlderAreNotKeptOnTheHeap() throws IOException {
        StoreOptions options = options().memtable(ByteSize.mib(1)).ioMode(IoMode.BUFFERED).build();
        int keys = 300_000;
        int spread = 30_000;
        try (TestDirectory parent = new TestDirectory("spread")) {
            Path store = parent.path().resolve("store");
            try (KeyValueStore opened = Heartwood.open(store, options)) {
                for (int i = 0; i < keys; i++) {
                    opened.put("key%08d".formatted(i).getBytes(), new byte[1], Durability.NONE);
                }
                opened.checkpoint();
                opened.settle();
                for (int i = 0; i <= keys; i += spread) {
                    opened.put("key%08d".formatted(i).getBytes(), new byte[2]);
                }
            }
            damageBranch(store, keys / spread + 1);
            Path copy = parent.path().resolve("copy");
            JavaProcess.Ended copied = salvage(store, copy, "-Xmx32m");
            assertEquals(Main.DAMAGED, copied.exit(), copied::output);
            assertTrue(copied.output().contains("300,000 records and 0 writes of the log copied, 300,000 of them maybe older"), copied::output);
        }
    }

    /** Every leaf of the only branch with so many entries. */
    private static void damageBranch(Path directory, int entries) throws IOException {
        Branch branch;
        try (Storage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
                OpenedStore store = new OpenedStore(storage)) {
            Tree tree = Tree.read(store.view().tree(), store.newest(), problem -> {});
            branch = tree.branches().stream().filter(found -> found.entries() == entries).findAny().orElseThrow();
        }
        try (RandomAccessFile data = new RandomAccessFile(directory.resolve(BackupFixture.DATA).toFile(), "rw")) {
            for (int leaf = 0; leaf < branch.leafPages(); leaf++) {
                data.seek(branch.devicePage(leaf) * BackupFixture.PAGE_BYTES + 1000);
                data.write(77);
            }
        }
    }

    private static JavaProcess.Ended salvage(Path from, Path to, String heap) {
        return JavaProcess.of(Main.class, "salvage", from.toString(), to.toString())
                .flags(heap)
                .run(Path.of(to + ".output"));
    }

    private static void requireValues(Path directory, StoreOptions options, byte[]... values) {
        FileStoreHost.verify(directory);
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            for (int i = 0; i < values.length; i++) {
                assertArrayEquals(values[i], store.get(key(i)));
            }
        }
    }
}
