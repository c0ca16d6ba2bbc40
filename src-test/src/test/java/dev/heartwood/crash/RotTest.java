package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Bytes of the data file change, pages are swapped, writes get lost: a read gives the right value or says what is damaged. */
class RotTest {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final int PAGE_BYTES = 4096;
    private static final int SUPERBLOCK_PAGES = 32;
    private static final int FLIPS = 120;

    private final StoreOptions options = PowerLossTest.options(1);

    private NavigableMap<byte[], byte[]> load(SimulatedMachine machine, long seed) {
        History history = new History(seed, 1500, Durability.BUFFERED);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            while (history.begun() < history.size()) {
                history.advance(store);
            }
            store.checkpoint();
            store.settle();
            return new TreeMap<>(History.contents(store));
        }
    }

    private static String dataFile(SimulatedMachine machine) {
        return machine.files(DIRECTORY).stream()
                .max(java.util.Comparator.comparingLong(name -> machine.size(DIRECTORY, name)))
                .orElseThrow();
    }

    /** The pages of a file that hold something. */
    private static List<Long> writtenPages(SimulatedMachine machine, String file) {
        byte[] contents = machine.contents(DIRECTORY, file);
        List<Long> pages = new ArrayList<>();
        for (int page = 0; page < contents.length / PAGE_BYTES; page++) {
            for (int i = 0; i < PAGE_BYTES; i++) {
                if (contents[page * PAGE_BYTES + i] != 0) {
                    pages.add((long) page);
                    break;
                }
            }
        }
        return pages;
    }

    @Test
    void aFlippedByteIsNeverAWrongValue() {
        Campaign.run(getClass(), 1, seed -> {
            SimulatedMachine machine = new SimulatedMachine(seed);
            NavigableMap<byte[], byte[]> expected = load(machine, seed);
            SplittableRandom random = new SplittableRandom(seed);
            String file = dataFile(machine);
            List<Long> pages = writtenPages(machine, file);
            int complaints = 0;
            for (int i = 0; i < FLIPS; i++) {
                // A copy for each, as recovery may write.
                SimulatedMachine damaged = machine.crash(CrashKind.KILL, random.split());
                long page = pages.get(random.nextInt(pages.size()));
                long offset = page * PAGE_BYTES + (random.nextInt(3) == 0 ? random.nextInt(40) : random.nextInt(PAGE_BYTES));
                damaged.flip(DIRECTORY, file, offset, 1 << random.nextInt(8));
                complaints += readAll(damaged, expected) ? 1 : 0;
            }
            assertTrue(complaints > 0, "no flip was ever noticed, so none hit what is read");
        });
    }

    @Test
    void swappedPagesAreNoticed() {
        Campaign.run(getClass(), 1, seed -> {
            SimulatedMachine machine = new SimulatedMachine(seed);
            NavigableMap<byte[], byte[]> expected = load(machine, seed);
            SplittableRandom random = new SplittableRandom(seed);
            String file = dataFile(machine);
            List<Long> pages = writtenPages(machine, file);
            SimulatedMachine honest = machine.crash(CrashKind.KILL, random.split());
            assertFalse(readAll(honest, expected));
            int[] reads = honest.pageReads(DIRECTORY, file);
            // Of superblocks that are not in their place there is another copy.
            List<Long> read = pages.stream().filter(page -> page >= SUPERBLOCK_PAGES && reads[page.intValue()] > 0).toList();
            for (int i = 0; i < 30; i++) {
                SimulatedMachine damaged = machine.crash(CrashKind.KILL, random.split());
                int first = random.nextInt(read.size());
                int second = (first + 1 + random.nextInt(read.size() - 1)) % read.size();
                damaged.swapPages(DIRECTORY, file, read.get(first), read.get(second));
                String what = "pages " + read.get(first) + " and " + read.get(second);
                assertTrue(readAll(damaged, expected), () -> what + " were swapped, and nothing complained");
            }
        });
    }

    @Test
    void lostWritesAreNoticed() {
        Campaign.run(getClass(), 20, seed -> {
            History history = new History(seed, 1000, Durability.BUFFERED);
            SimulatedMachine machine = new SimulatedMachine(seed);
            machine.faults().dropWrite(1 + new SplittableRandom(seed).nextInt(200));
            NavigableMap<byte[], byte[]> expected;
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
                while (history.begun() < history.size()) {
                    history.advance(store);
                }
                store.checkpoint();
                expected = new TreeMap<>(History.contents(store));
            } catch (CorruptionException noticedAtOnce) {
                return;
            }
            readAll(machine, expected);
        });
    }

    /** Reads every key both ways; returns whether the store complained. Anything wrong that it does not complain of fails. */
    private boolean readAll(SimulatedMachine machine, NavigableMap<byte[], byte[]> expected) {
        boolean complained = false;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            for (Map.Entry<byte[], byte[]> entry : expected.entrySet()) {
                try {
                    assertArrayEquals(entry.getValue(), store.get(entry.getKey()));
                } catch (CorruptionException damage) {
                    complained = true;
                }
            }
            complained |= scan(store, expected);
        } catch (StoreException atOpenOrClose) {
            complained = true;
        }
        return complained;
    }

    private static boolean scan(KeyValueStore store, NavigableMap<byte[], byte[]> expected) {
        List<byte[]> keys = new ArrayList<>();
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                keys.add(cursor.key());
                assertArrayEquals(expected.get(cursor.key()), cursor.value());
            }
        } catch (CorruptionException damage) {
            return true;
        }
        int i = 0;
        for (byte[] key : expected.keySet()) {
            assertTrue(i < keys.size(), "a scan ended before the last key");
            assertArrayEquals(key, keys.get(i++));
        }
        return false;
    }
}
