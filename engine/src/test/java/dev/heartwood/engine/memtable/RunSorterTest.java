package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Sorts shapes of keys that take the sorter's different ways. Rerun one seed with {@code -Dmemtable.seed=N}. */
class RunSorterTest {
    private static final int COUNT = 6000;

    private final long seed = Long.getLong("memtable.seed", new SplittableRandom().nextLong() >>> 16);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final KeyShapes shapes = new KeyShapes(random);

    /** Those of other runs, and longer ones: what is in them must not matter. */
    private final SortArrays arrays = new SortArrays();

    @Test
    void randomBytes() {
        check(i -> shapes.bytes(random.nextInt(0, 24), 256));
    }

    @Test
    void decimalDigitsBehindACommonPrefix() {
        check(i -> "user%020d".formatted(random.nextLong() >>> 1).getBytes());
    }

    @Test
    void oneOutlierMakesTheLeadingBitsVary() {
        check(i -> KeyShapes.number(i == 17 ? -1 : random.nextInt(100_000)));
    }

    @Test
    void headsThatDifferInTheirLastByteOnly() {
        check(i -> KeyShapes.number((long) random.nextInt(2) << 56 | random.nextInt(256)));
    }

    @Test
    void manyVersionsOfFewKeys() {
        check(i -> shapes.bytes(random.nextInt(0, 3), 2));
    }

    @Test
    void versionsOfOneKey() {
        check(i -> KeyShapes.number(42));
    }

    @Test
    void longSharedParts() {
        check(shapes.stems());
    }

    @Test
    void outliersAroundOnePrefix() {
        check(shapes.aroundOnePrefix());
    }

    @Test
    void everyKeyAPrefixOfTheNext() {
        check(i -> new byte[random.nextInt(0, 3000)]);
    }

    private void check(IntFunction<byte[]> keys) {
        try (LaneFixture lane = new LaneFixture()) {
            for (int i = 0; i < 4; i++) {
                arrays.giveBack(random.longs(2 * COUNT + i).toArray());
            }
            long[] records = new long[COUNT];
            for (int i = 0; i < COUNT; i++) {
                records[i] = lane.append(keys.apply(i), random.nextInt(500));
            }
            for (KeyHeads making : makings(records)) {
                SortedRun run = RunSorter.sort(records.clone(), COUNT, making, arrays);
                checkSorted(run, records, making);
                run.giveBack(arrays);
            }
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=RunSorterTest -Dmemtable.seed=" + seed, e);
        }
    }

    /** Heads of whole keys, behind what all share, as they would be chosen, and some that suit few keys. */
    private List<KeyHeads> makings(long[] records) {
        long some = records[random.nextInt(COUNT)];
        int someLength = Records.keyLength(Records.meta(some));
        int shared = someLength;
        for (long record : records) {
            shared = RunSorter.sharedBytes(some, record, 0, shared);
        }
        return List.of(
                KeyHeads.WHOLE,
                KeyHeads.behind(some, shared),
                KeyHeads.choose(Arrays.copyOf(records, 64), 64),
                KeyHeads.behind(some, random.nextInt(someLength + 1)),
                KeyHeads.behind(some, someLength),
                shapes.making(records));
    }

    /** Records were appended upwards in memory, so stability is ascending addresses. */
    private static void checkSorted(SortedRun run, long[] records, KeyHeads making) {
        long[] all = new long[run.count()];
        for (int i = 0; i < run.count(); i++) {
            all[i] = run.record(i);
            assertEquals(making.head(run.record(i)), run.head(i));
            if (i > 0) {
                int order = Records.compare(run.record(i - 1), run.record(i), 0);
                assertTrue(order < 0 || order == 0 && run.record(i - 1) < run.record(i), "at " + i);
            }
        }
        Arrays.sort(all);
        assertEquals(-1, Arrays.mismatch(all, records));
    }
}
