package dev.heartwood.engine.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is passed over has nothing that the view sees: by hand, and beside a map of all versions. */
class DeadRangesTest {
    private final MemoryPool pool = MemoryPool.open(1 << 16);
    private final long memory = pool.allocate(4096);
    private long sequence = 100;
    private final DeadRanges ranges = new DeadRanges(true, this::lastSequence);
    /** What another writer does right after the last sequence number was looked at. */
    private Runnable meanwhile = () -> {};

    @AfterEach
    void close() {
        pool.close();
    }

    private long lastSequence() {
        long last = sequence;
        meanwhile.run();
        return last;
    }

    private static byte[] key(int number) {
        return new byte[] {(byte) (number >> 8), (byte) number};
    }

    private void write(int key) {
        sequence++;
        Memory.copyFrom(key(key), 0, memory, 2);
        ranges.written(memory, 2);
    }

    private DeadRanges.View view(long sequenceSeen) {
        return new DeadRanges.View(sequenceSeen, ranges.generation());
    }

    private void walked(byte[] from, byte[] to, long view, boolean isWorthIt) {
        ranges.walked(from, to, view(view), isWorthIt);
    }

    private static byte[] after(int number) {
        return DeadRanges.after(key(number), 2);
    }

    private byte[] endOf(int key, long view) {
        return ranges.endOf(key(key), 2, view(view));
    }

    private byte[] beginOf(int key, long view) {
        return ranges.beginOf(key(key), 2, view(view));
    }

    /** Has it watched, and found to be dead by a view of that moment. */
    private void die(int from, int to) {
        walked(key(from), key(to), sequence, true);
        walked(key(from), key(to), sequence, false);
    }

    @Test
    void aRangeIsPassedOverOnceAViewFoundNothingInItThatWasOpenedSinceItIsWatched() {
        walked(key(10), key(50), 100, true);
        assertNull(endOf(20, 100), "watched alone");
        sequence = 105;
        walked(key(60), key(90), 100, true);
        walked(key(60), key(90), 104, true);
        assertNull(endOf(70, 110), "a view from before it was watched");
        walked(key(0), key(200), 107, false);
        assertArrayEquals(key(50), endOf(10, 107));
        assertArrayEquals(key(50), endOf(49, 200));
        assertArrayEquals(key(10), beginOf(49, 107));
        assertNull(endOf(50, 107));
        assertNull(endOf(9, 107));
        assertNull(endOf(20, 106), "an older view may see something there");
        assertArrayEquals(key(90), endOf(60, 107));
    }

    @Test
    void aWriteCutsWhatIsWatchedAndWhatIsDead() {
        walked(key(10), key(50), 100, true);
        write(30);
        walked(key(10), key(50), 100, true);
        assertNull(endOf(30, 100), "written after the view that walked");
        assertArrayEquals(key(30), endOf(20, 100));
        assertArrayEquals(key(50), endOf(31, 100));
        write(40);
        assertArrayEquals(after(30), beginOf(39, 200));
        assertArrayEquals(key(40), endOf(39, 200));
        assertArrayEquals(after(40), beginOf(41, 200));
        assertNull(endOf(40, 200));
        write(10);
        assertArrayEquals(key(30), endOf(11, 200));
        write(60);
        assertArrayEquals(key(50), endOf(41, 200));
    }

    @Test
    void aWriteThatNoViewWaitsForCutsWhatIsAboutToBeWatched() {
        meanwhile = () -> write(30);
        walked(key(10), key(50), 100, true);
        meanwhile = () -> {};
        walked(key(10), key(50), 100, false);
        assertNull(endOf(30, 200), "the view that walked had not seen it");
        assertArrayEquals(key(50), endOf(31, 200));
    }

    @Test
    void neighboursBecomeOne() {
        die(10, 50);
        die(50, 80);
        assertArrayEquals(key(80), endOf(10, 100));
        assertArrayEquals(key(10), beginOf(79, 100));
        walked(key(5), key(90), sequence, true);
        walked(key(7), key(85), sequence, true);
        assertArrayEquals(key(85), endOf(7, 100), "a part of what is watched");
        assertArrayEquals(key(7), beginOf(84, 100));
        assertNull(endOf(6, 100));
        walked(key(5), null, sequence, true);
        assertArrayEquals(key(90), endOf(5, 100));
        walked(key(5), null, sequence, true);
        assertSame(DeadRanges.NO_END, endOf(5, 100));
        assertSame(DeadRanges.NO_END, endOf(60_000, 100));
    }

    @Test
    void whatIsNotWorthItIsNotWatched() {
        walked(key(10), key(50), 100, false);
        walked(key(10), key(50), 100, false);
        assertNull(endOf(20, 100));
        assertTrue(ranges.isEmpty());
        byte[] tooLong = new byte[2000];
        walked(key(10), tooLong, 100, true);
        walked(tooLong, null, 100, true);
        walked(key(50), key(50), 100, true);
        assertTrue(ranges.isEmpty());
    }

    @Test
    void whatIsNotUsedIsForgotten() {
        die(10, 50);
        die(60, 90);
        ranges.memtableFull(5);
        assertArrayEquals(key(50), endOf(20, 100));
        ranges.memtableFull(5);
        ranges.memtableFull(4);
        ranges.memtableFull(6);
        assertNull(endOf(70, 100));
        assertArrayEquals(key(50), endOf(20, 100));
        ranges.memtableFull(6);
        assertArrayEquals(key(50), endOf(20, 100), "told by another writer");
        ranges.memtableFull(7);
        write(30);
        ranges.memtableFull(8);
        assertTrue(ranges.isEmpty(), "to be written in is no use");
    }

    @Test
    void viewsFromBeforeADiscardKnowNothingOfWhatIsFoundAfterIt() {
        DeadRanges.View before = view(100);
        die(60, 90);
        ranges.beginDiscard();
        assertTrue(ranges.isEmpty());
        DeadRanges.View meanwhile = view(100);
        ranges.beginDiscard();
        ranges.endDiscard();
        DeadRanges.View besideOneThatHasEnded = view(100);
        ranges.walked(key(10), key(50), meanwhile, true);
        ranges.walked(key(10), key(50), besideOneThatHasEnded, true);
        assertTrue(ranges.isEmpty(), "one may see what the other does not");
        ranges.endDiscard();
        ranges.walked(key(10), key(50), before, true);
        ranges.walked(key(10), key(50), besideOneThatHasEnded, true);
        assertTrue(ranges.isEmpty());
        die(10, 50);
        assertArrayEquals(key(50), endOf(20, 100));
        assertNull(ranges.endOf(key(20), 2, before));
        assertNull(ranges.endOf(key(20), 2, meanwhile));
        assertNull(ranges.beginOf(key(20), 2, besideOneThatHasEnded));
    }

    @Test
    void nothingIsWatchedWhereAFilterDropsKeys() {
        DeadRanges none = new DeadRanges(false, () -> 100);
        none.walked(key(10), key(50), new DeadRanges.View(100, 0), true);
        assertTrue(none.isEmpty());
    }

    @Test
    void manyPartsOfOneRangeAreForgotten() {
        walked(key(0), null, 100, true);
        for (int i = 0; i < 3 * DeadRanges.RANGES_MAX; i++) {
            walked(key(10 * i), key(10 * i + 2), 100, false);
        }
        write(50_000);
        walked(key(50_000), DeadRanges.after(key(50_000), 2), 100, true);
        write(50_000);
        assertTrue(ranges.count() <= DeadRanges.RANGES_MAX, ranges.count() + " ranges");
    }

    @Test
    void soAreThoseThatAreWrittenIntoAgainAndAgain() {
        die(0, 60_000);
        for (int key = 59_000; key > 1_000; key -= 10) {
            write(key);
            assertTrue(ranges.count() <= DeadRanges.RANGES_MAX, ranges.count() + " ranges");
        }
        assertNull(endOf(500, 200_000), "each write would cut it");
    }

    @Test
    void aLongKeyLeavesNothingOfItsRange() {
        die(10, 50);
        sequence++;
        Memory.fill(memory, 3000, 0);
        Memory.copyFrom(key(20), 0, memory, 2);
        ranges.written(memory, 3000);
        assertTrue(ranges.isEmpty());
    }

    @Test
    void thereAreOnlySoMany() {
        for (int i = 0; i < DeadRanges.RANGES_MAX; i++) {
            die(10 * i, 10 * i + 5);
        }
        die(60_000, 60_005);
        assertNull(endOf(60_000, 100), "there was no room");
        assertArrayEquals(key(15), endOf(10, 100));
        walked(key(60_000), key(60_005), sequence, true);
        assertNull(endOf(20, 100), "nobody used it since there was no room");
        assertArrayEquals(key(15), endOf(10, 100));
        die(60_000, 60_005);
        assertArrayEquals(key(60_005), endOf(60_000, 100));
    }

    /** Of any history: a view that passes over a range has no key with a value in it. */
    @Test
    void nothingThatAViewSeesIsPassedOver() {
        long passed = 0;
        for (long seed = 0; seed < 300; seed++) {
            ranges.beginDiscard();
            ranges.endDiscard();
            SplittableRandom random = new SplittableRandom(seed);
            int keys = 3 + random.nextInt(60);
            // For each key, what was written from which sequence number on; true is a value.
            TreeMap<Integer, TreeMap<Long, Boolean>> versions = new TreeMap<>();
            for (int step = 0; step < 400; step++) {
                int key = 1 + random.nextInt(keys);
                int choice = random.nextInt(8);
                if (choice < 2) {
                    write(key);
                    versions.computeIfAbsent(key, k -> new TreeMap<>()).put(sequence, true);
                } else if (choice < 4) {
                    for (int k = key; k < key + 1 + random.nextInt(keys); k++) {
                        versions.computeIfAbsent(k, x -> new TreeMap<>()).put(++sequence, false);
                    }
                } else {
                    long view = Math.max(100, sequence - random.nextInt(random.nextInt(4) == 0 ? 40 : 3));
                    passed += choice < 7 ? walk(versions, key, keys, view, random) : pass(versions, key, keys, view, seed);
                }
            }
        }
        assertTrue(passed > 5_000, passed + " passed over");
    }

    private int walk(TreeMap<Integer, TreeMap<Long, Boolean>> versions, int from, int keys, long view, SplittableRandom random) {
        int to = from;
        while (to <= keys + 1 && !isLive(versions, to, view)) {
            to++;
        }
        boolean isEndless = to > keys + 1;
        walked(key(from), isEndless ? null : key(to), view, random.nextInt(3) > 0);
        return 0;
    }

    private int pass(TreeMap<Integer, TreeMap<Long, Boolean>> versions, int key, int keys, long view, long seed) {
        byte[] end = endOf(key, view);
        byte[] begin = beginOf(key, view);
        assertEquals(end == null, begin == null);
        if (end == null) {
            return 0;
        }
        for (int k = 0; k <= keys + 1; k++) {
            boolean isIn = Arrays.compareUnsigned(begin, key(k)) <= 0
                    && (end == DeadRanges.NO_END || Arrays.compareUnsigned(key(k), end) < 0);
            if (isIn) {
                assertTrue(!isLive(versions, k, view), "seed " + seed + ", key " + k + ", view " + view);
            } else {
                assertTrue(k != key, "the key itself");
            }
        }
        return 1;
    }

    private static boolean isLive(TreeMap<Integer, TreeMap<Long, Boolean>> versions, int key, long view) {
        TreeMap<Long, Boolean> ofKey = versions.get(key);
        var newest = ofKey == null ? null : ofKey.floorEntry(view);
        return newest != null && newest.getValue();
    }
}
