package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.CorruptionException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A closed store with pages of every type on a simulated machine, and what it holds. Copies of it are damaged. */
final class Specimen {
    static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    static final String DATA = "data.hw";
    static final int PAGE_BYTES = 4096;
    static final int TYPE_OFFSET = 4;

    private static final int KEYS_AT_ONCE = 20;

    private final SimulatedMachine machine;
    private final NavigableMap<byte[], byte[]> contents = new TreeMap<>(Arrays::compareUnsigned);

    private Specimen(long seed) {
        machine = new SimulatedMachine(seed);
    }

    static StoreOptions options() {
        return OptionMatrix.smallTree();
    }

    /** Nothing yet. */
    static Specimen empty(long seed) {
        return new Specimen(seed);
    }

    /** A store of several levels with large values, long keys and tombstones, at rest. */
    static Specimen of(long seed) {
        Specimen specimen = new Specimen(seed);
        try (KeyValueStore store = SimulatedStoreHost.open(specimen.machine, options())) {
            specimen.write(store, new SplittableRandom(seed), 4000);
            store.checkpoint();
            store.settle();
        }
        return specimen;
    }

    /** Writes to the store of this specimen and to what it should hold. */
    void write(KeyValueStore store, SplittableRandom random, int writes) {
        for (int i = 0; i < writes; i++) {
            String number = "user" + random.nextInt(3000);
            byte[] key = (i % 500 == 7 ? number + "x".repeat(3000) : number).getBytes(StandardCharsets.US_ASCII);
            byte[] value = new byte[i % 100 == 0 ? 9000 : random.nextInt(400)];
            random.nextBytes(value);
            if (i % 20 == 3) {
                store.delete(key);
                contents.remove(key);
            } else {
                store.put(key, value);
                contents.put(key, value);
            }
        }
    }

    SimulatedMachine machine() {
        return machine;
    }

    NavigableMap<byte[], byte[]> contents() {
        return contents;
    }

    /** A copy to damage. */
    SimulatedMachine copy() {
        return machine.crash(CrashKind.KILL, new SplittableRandom(1));
    }

    /** The pages of the data file that say they are of a type, whether anything refers to them or not. */
    List<Long> pages(PageType type) {
        byte[] bytes = machine.contents(DIRECTORY, DATA);
        List<Long> pages = new ArrayList<>();
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            if (bytes[page * PAGE_BYTES + TYPE_OFFSET] == type.code()) {
                pages.add((long) page);
            }
        }
        return pages;
    }

    /** A page whose damage matters, as verification of a copy tells. */
    long pageInUse(PageType type) {
        for (long page : pages(type)) {
            SimulatedMachine damaged = copy();
            damaged.flip(DIRECTORY, DATA, page * PAGE_BYTES + 700, 1);
            if (!problems(damaged).isEmpty()) {
                return page;
            }
        }
        throw new AssertionError("no page of type " + type + " in use");
    }

    /** Everything that verification says of a closed store. */
    static List<String> problems(SimulatedMachine machine) {
        try (Storage storage = machine.storage(DIRECTORY)) {
            return EngineAccess.problems(storage);
        }
    }

    /** What reading every key came to; a wrong value is a failure. */
    record Reading(int right, int refused, boolean scanRefused) {
        boolean isWhole() {
            return refused == 0 && !scanRefused;
        }
    }

    /** Looks for keys beside all there are, that are not: who finds what is looked for passes filters over that are not in memory. */
    void readAbsent(KeyValueStore store) {
        for (byte[] key : contents.keySet()) {
            byte[] absent = Arrays.copyOf(key, key.length + 1);
            assertNull(store.get(absent));
        }
    }

    private boolean isRefused(KeyValueStore store, List<byte[]> keys) {
        try {
            List<byte[]> values = store.getAll(keys);
            for (int i = 0; i < keys.size(); i++) {
                assertArrayEquals(contents.get(keys.get(i)), values.get(i));
            }
            return false;
        } catch (CorruptionException damage) {
            return true;
        }
    }

    private int refusedAlone(KeyValueStore store, List<byte[]> keys) {
        int refused = 0;
        for (byte[] key : keys) {
            try {
                assertArrayEquals(contents.get(key), store.get(key));
            } catch (CorruptionException damage) {
                refused++;
            }
        }
        return refused;
    }

    /** Reads every key, some at once and then each alone, and scans. */
    Reading read(KeyValueStore store) {
        List<byte[]> keys = List.copyOf(contents.keySet());
        int refused = 0;
        for (int from = 0; from < keys.size(); from += KEYS_AT_ONCE) {
            List<byte[]> some = keys.subList(from, Math.min(keys.size(), from + KEYS_AT_ONCE));
            boolean isRefused = isRefused(store, some);
            int refusedAlone = refusedAlone(store, some);
            assertEquals(refusedAlone > 0, isRefused, () -> "keys at once, of which " + refusedAlone + " cannot be read");
            refused += refusedAlone;
        }
        int right = keys.size() - refused;
        boolean scanRefused = false;
        int scanned = 0;
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                assertArrayEquals(contents.get(cursor.key()), cursor.value());
                scanned++;
            }
            assertEquals(contents.size(), scanned, "keys of a scan that did not complain");
        } catch (CorruptionException damage) {
            scanRefused = true;
        }
        return new Reading(right, refused, scanRefused);
    }
}
