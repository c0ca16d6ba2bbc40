package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionException;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each file of a store is cut, extended, emptied or removed: the open refuses it, or everything acknowledged is there. */
class WrongLengthTest {
    private static final int PAGE_BYTES = Specimen.PAGE_BYTES;
    private static final int EXTENT_BYTES = 32 * PAGE_BYTES;
    private static final int SECTOR_BYTES = 512;
    private static final int[] HEADERS = {1, 4, 8, 16, 32, 44, SECTOR_BYTES, PAGE_BYTES, 2 * PAGE_BYTES, 17 * PAGE_BYTES};
    private static final int BOUNDARIES_MAX = 6;

    private final NavigableMap<byte[], byte[]> acknowledged = new TreeMap<>(Arrays::compareUnsigned);
    private int cases;
    private int refused;

    private static StoreOptions options() {
        return Specimen.options().toBuilder().memtable(ByteSize.kib(512)).build();
    }

    private void put(KeyValueStore store, String key, int bytes, Durability durability) {
        byte[] value = new byte[bytes];
        Arrays.fill(value, (byte) key.hashCode());
        store.put(key.getBytes(StandardCharsets.US_ASCII), value, durability);
        acknowledged.put(key.getBytes(StandardCharsets.US_ASCII), value);
    }

    /** Writes from so many threads, one after the other, each of which has a lane of its own; the first one most. */
    private void write(KeyValueStore store, int threads, int writes, Durability durability) throws InterruptedException {
        for (int t = 0; t < threads; t++) {
            int count = t == 0 ? writes : 1;
            String prefix = "t" + t + "-" + acknowledged.size() + "-";
            Thread writer = new Thread(() -> {
                for (int i = 0; i < count; i++) {
                    put(store, prefix + i, 200 + i % 100, durability);
                }
            });
            writer.start();
            writer.join();
        }
    }

    private static TreeSet<Integer> lengths(int size) {
        TreeSet<Integer> lengths = new TreeSet<>();
        lengths.add(0);
        for (int header : HEADERS) {
            around(lengths, header);
        }
        for (int unit : new int[] {PAGE_BYTES, EXTENT_BYTES}) {
            int count = size / unit;
            int step = Math.max(1, count / BOUNDARIES_MAX);
            for (int i = 1; i <= count; i += step) {
                around(lengths, i * unit);
            }
        }
        around(lengths, size);
        around(lengths, size / 2);
        lengths.add(size - PAGE_BYTES);
        lengths.add(size + PAGE_BYTES);
        lengths.add(size + EXTENT_BYTES);
        lengths.add(2 * size);
        lengths.removeIf(length -> length < 0 || length > 2 * size + EXTENT_BYTES);
        lengths.remove(size);
        return lengths;
    }

    private static void around(TreeSet<Integer> lengths, int boundary) {
        lengths.add(boundary - 1);
        lengths.add(boundary);
        lengths.add(boundary + 1);
    }

    private void damageEachFile(SimulatedMachine machine, String what) {
        for (String name : machine.files(Specimen.DIRECTORY)) {
            byte[] contents = machine.contents(Specimen.DIRECTORY, name);
            SimulatedMachine without = copy(machine);
            without.remove(Specimen.DIRECTORY, name);
            open(without, what + ", " + name + " removed");
            for (int length : lengths(contents.length)) {
                byte[] changed = Arrays.copyOf(contents, length);
                if (length > contents.length && length % 2 == 1) {
                    Arrays.fill(changed, contents.length, length, (byte) 0xa5);
                }
                SimulatedMachine damaged = copy(machine);
                damaged.place(Specimen.DIRECTORY, name, changed);
                open(damaged, what + ", " + name + " of " + contents.length + " bytes with " + length);
            }
        }
        assertTrue(refused > 10 && refused < cases, refused + " of " + cases);
        Campaign.report(getClass(), cases, "files of the wrong length or missing, " + what);
    }

    private static SimulatedMachine copy(SimulatedMachine machine) {
        return machine.crash(CrashKind.KILL, new SplittableRandom(1));
    }

    private void open(SimulatedMachine machine, String what) {
        cases++;
        Map<byte[], byte[]> found;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options())) {
            found = History.contents(store);
            acknowledged.forEach((key, value) -> assertArrayEquals(value, store.get(key), what));
        } catch (CorruptionException | NotAStoreException refusal) {
            refused++;
            return;
        } catch (StoreException other) {
            throw new AssertionError(what, other);
        }
        assertEquals(acknowledged.size(), found.size(), what);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void ofAClosedStore() throws InterruptedException {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options())) {
            write(store, 3, 9000, Durability.BUFFERED);
            store.settle();
            write(store, 3, 50, Durability.BUFFERED);
        }
        damageEachFile(machine, "closed");
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(ints = {1, 2, 4})
    void ofAKilledStore(int threads) throws InterruptedException {
        damageEachFile(killed(threads, Durability.BUFFERED), "killed with " + threads + " lanes");
    }

    /** What was synced is there or refused, also when the machine has restarted and nothing else was kept. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(ints = {1, 3})
    void ofAStoreThatLostPower(int threads) throws InterruptedException {
        SimulatedMachine machine = killed(threads, Durability.SYNC);
        damageEachFile(machine.powerLoss(new BitSet(), new BitSet()), "without power, " + threads + " lanes");
    }

    /** Killed twice: what the first life left in the log counts on. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void ofAStoreKilledTwice() throws InterruptedException {
        SimulatedMachine machine = killed(2, Durability.BUFFERED);
        KeyValueStore store = SimulatedStoreHost.open(machine, options());
        write(store, 1, 3, Durability.BUFFERED);
        SimulatedMachine again = copy(machine);
        store.close();
        damageEachFile(again, "killed twice");
    }

    /** A store with a tree and a log of several segments. */
    private SimulatedMachine killed(int threads, Durability durability) throws InterruptedException {
        SimulatedMachine machine = new SimulatedMachine(threads);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options())) {
            write(store, 1, 3000, durability);
        }
        KeyValueStore store = SimulatedStoreHost.open(machine, options());
        write(store, threads, threads == 1 ? 2 : 1200, durability);
        SimulatedMachine killed = copy(machine);
        store.close();
        return killed;
    }
}
