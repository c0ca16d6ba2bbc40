package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.behead;
import static dev.heartwood.backup.SalvageFixture.indexOf;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What salvage gets out of logs. */
class SalvageLogTest {
    private final List<String> lost = new ArrayList<>();

    private SalvageReport salvage(SimulatedMachine machine) {
        return SalvageFixture.salvage(machine, lost);
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

    /** Of those that have this value, damages the one that the log has. */
    private static void damageRecord(SimulatedMachine machine, int value) {
        int cases = 0;
        for (String name : machine.files(STORE)) {
            byte[] contents = machine.contents(STORE, name);
            int at = indexOf(contents, ("value" + value).getBytes());
            if (name.startsWith("log-") && at >= 0) {
                cases++;
                machine.flip(STORE, name, at, 1);
            }
        }
        assertEquals(1, cases);
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
        damageRecord(killed, 200);
        assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(killed, STORE));
        SalvageReport report = salvage(killed);
        assertEquals(count - 1, report.logEntries());
        assertTrue(lost.size() == 2 && lost.get(1).contains("bytes at offset"), lost.toString());
        assertEquals(2, report.lossesOfAnyKey());
        try (KeyValueStore copy = BackupFixture.openExisting(killed, TARGET)) {
            for (int i = 0; i < count; i++) {
                byte[] expected = i == 200 ? null : ("value" + i).getBytes();
                assertArrayEquals(expected, copy.get(("key" + i).getBytes()));
            }
        }
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

    /** They were behind the place where a recovery had ended the log, and no user had seen them since. */
    @Test
    void recordsThatARecoveryMadeVoidStayVoid() {
        int voids = 0;
        for (int seed = 1; seed <= 16; seed++) {
            SimulatedMachine machine = new SimulatedMachine(seed);
            KeyValueStore store = BackupFixture.open(machine, STORE);
            for (int i = 0; i < 100; i++) {
                store.put(("key%02d".formatted(i)).getBytes(), ("value%02d".formatted(i) + "-".repeat(100)).getBytes());
            }
            SimulatedMachine restarted = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            store.close();
            KeyValueStore recovered = BackupFixture.openExisting(restarted, STORE);
            Map<byte[], byte[]> shown = History.contents(recovered);
            recovered.put("rotten".getBytes(), "rotten value".getBytes());
            recovered.put("sound".getBytes(), "sound value".getBytes());
            SimulatedMachine killed = restarted.crash(CrashKind.KILL, new SplittableRandom(seed));
            recovered.close();
            for (String name : killed.files(STORE)) {
                byte[] contents = killed.contents(STORE, name);
                for (int i = 0; name.startsWith("log-") && i < 100; i++) {
                    boolean isThere = indexOf(contents, ("key%02dvalue%02d".formatted(i, i)).getBytes()) >= 0;
                    voids += isThere && !shown.containsKey(("key%02d".formatted(i)).getBytes()) ? 1 : 0;
                }
                int at = indexOf(contents, "rotten value".getBytes());
                if (name.startsWith("log-") && at >= 0) {
                    killed.flip(STORE, name, at, 1);
                }
            }
            assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(killed, STORE));
            lost.clear();
            salvage(killed);
            shown.put("sound".getBytes(), "sound value".getBytes());
            BackupFixture.requireContents(killed, TARGET, shown, "seed " + seed);
        }
        assertTrue(voids > 10, voids + " void records");
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

    /** The log went over the tree and nothing was said of it: keys had older values again, and what was deleted was back. */
    @Test
    void withoutSuperblocksKeysOfWhichTheLogSaysSomethingElseAreSuspect() {
        SimulatedMachine machine = new SimulatedMachine(3);
        int keys = 50;
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (int i = 0; i < keys; i++) {
                store.put(("key" + i).getBytes(), "old".getBytes(), Durability.BUFFERED);
            }
            for (int i = 0; i < keys; i += 2) {
                store.put(("key" + i).getBytes(), "new".getBytes(), Durability.NONE);
                store.delete(("key" + (i + 1)).getBytes(), Durability.NONE);
            }
            // Of these log and tree say the same in the end.
            store.put("twice".getBytes(), "once".getBytes(), Durability.BUFFERED);
            store.put("twice".getBytes(), "again".getBytes(), Durability.BUFFERED);
            store.put("gone".getBytes(), "something".getBytes(), Durability.BUFFERED);
            store.delete("gone".getBytes(), Durability.BUFFERED);
            store.checkpoint();
        }
        behead(machine);
        SalvageReport report = salvage(machine);
        assertEquals(keys + 4, report.logEntries(), lost.toString());
        assertEquals(keys, report.suspects(), report + " " + lost);
        assertTrue(lost.getFirst().contains("counts as suspect"), lost.toString());
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            assertArrayEquals("again".getBytes(), copy.get("twice".getBytes()));
            assertNull(copy.get("gone".getBytes()));
        }
    }

    /** Also where the log deletes what the tree has, and the tree is the younger. */
    @Test
    void withoutSuperblocksWhatTheLogDeletesIsSuspect() {
        SimulatedMachine machine = new SimulatedMachine(4);
        byte[] key = "key".getBytes();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.put(key, "old".getBytes(), Durability.BUFFERED);
            store.delete(key, Durability.BUFFERED);
            store.put(key, "new".getBytes(), Durability.NONE);
            store.checkpoint();
        }
        behead(machine);
        SalvageReport report = salvage(machine);
        assertEquals(2, report.logEntries(), lost.toString());
        assertEquals(1, report.suspects(), report + " " + lost);
    }

    enum LogState {
        SOUND {
            @Override
            void damage(SimulatedMachine machine) {}
        },
        DAMAGED {
            @Override
            void damage(SimulatedMachine machine) {
                damageRecord(machine, 200);
            }
        },
        WITHOUT_SUPERBLOCKS {
            @Override
            void damage(SimulatedMachine machine) {
                behead(machine);
            }
        };

        abstract void damage(SimulatedMachine machine);
    }

    /** What there was no memory to read was listed as lost. */
    @ParameterizedTest
    @EnumSource
    void aLogThatThereIsNoMemoryToReadIsNotLost(LogState state) {
        SimulatedMachine machine = new SimulatedMachine(7);
        KeyValueStore store = BackupFixture.open(machine, STORE);
        for (int i = 0; i < 400; i++) {
            store.put(("key" + i).getBytes(), ("older" + i).getBytes());
        }
        store.checkpoint();
        for (int i = 0; i < 400; i++) {
            store.put(("key" + i).getBytes(), ("value" + i).getBytes());
        }
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        state.damage(killed);
        int calls = 0;
        while (isRefusedAfter(calls, killed)) {
            calls++;
        }
        assertTrue(calls > 1, "files of the log read or mapped: " + calls);
    }

    /** Whether salvage came to read or map a file of the log once more, for which there was no memory. */
    private static boolean isRefusedAfter(int calls, SimulatedMachine machine) {
        AtomicInteger left = new AtomicInteger(calls);
        try (Storage files = machine.storage(STORE)) {
            Storage refusing = (Storage) Proxy.newProxyInstance(
                    Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, arguments) -> {
                        boolean reads = arguments != null
                                && (method.getName() + " " + arguments[0]).matches("(openMappedExisting|readFile) log-\\d.*");
                        if (reads && left.getAndDecrement() <= 0) {
                            throw new InsufficientMemoryException("for a test");
                        }
                        try {
                            return method.invoke(files, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            EngineAccess.salvage(refusing, Path.of("simulated", "target" + calls), machine, line -> {});
            assertTrue(left.get() >= 0, "salvage went on without what it had no memory to read");
            return false;
        } catch (InsufficientMemoryException refused) {
            return true;
        }
    }
}
