package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Searches and merges runs with heads of whatever making. Rerun one seed with {@code -Dmemtable.seed=N}. */
class SortedRunTest {
    private static final int COUNT = 700;
    private static final int MAKINGS = 6;

    private final long seed = Long.getLong("memtable.seed", new SplittableRandom().nextLong() >>> 16);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final KeyShapes shapes = new KeyShapes(random);

    @Test
    void keysAroundOnePrefix() {
        check(shapes.aroundOnePrefix());
    }

    @Test
    void shortKeys() {
        check(i -> shapes.bytes(random.nextInt(0, 10), 3));
    }

    @Test
    void keysOfStems() {
        check(shapes.stems());
    }

    private void check(IntFunction<byte[]> shape) {
        try (LaneFixture lane = new LaneFixture()) {
            long[] records = new long[COUNT];
            for (int i = 0; i < COUNT; i++) {
                records[i] = lane.append(shape.apply(i), random.nextInt(500));
            }
            SortedRun all = RunSorter.sort(records.clone(), COUNT, KeyHeads.WHOLE, new SortArrays());
            for (int p = 0; p < MAKINGS; p++) {
                KeyHeads making = shapes.making(records);
                checkSearches(lane, all.with(making), shape);
                checkMerged(records, all, making);
            }
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=SortedRunTest -Dmemtable.seed=" + seed, e);
        }
    }

    private void checkSearches(LaneFixture lane, SortedRun run, IntFunction<byte[]> shape) {
        int outliers = 0;
        KeyHeads making = run.keyHeads();
        for (int i = 0; i < COUNT; i++) {
            byte[] key = random.nextBoolean() ? LaneFixture.key(run.record(i)) : shape.apply(i);
            int expected = 0;
            while (expected < COUNT && Arrays.compareUnsigned(LaneFixture.key(run.record(expected)), key) < 0) {
                expected++;
            }
            assertEquals(expected, run.lowerBound(lane.load(key), key.length));
            boolean hasPrefix = making.isSame(KeyHeads.WHOLE) || making.sharedBytes(run.head(i)) > 0;
            outliers += hasPrefix ? 0 : 1;
        }
        assertEquals(outliers, run.outliers());
    }

    /** A merge of two halves is the sorted whole. */
    private void checkMerged(long[] records, SortedRun all, KeyHeads making) {
        int half = random.nextInt(COUNT + 1);
        SortedRun younger = RunSorter.sort(Arrays.copyOf(records, half), half, making, new SortArrays());
        SortedRun older = RunSorter.sort(Arrays.copyOfRange(records, half, COUNT), COUNT - half, making, new SortArrays());
        SortedRun merged = SortedRun.merge(older, younger);
        assertEquals(COUNT, merged.count());
        for (int i = 0; i < COUNT; i++) {
            assertEquals(all.record(i), merged.record(i), "at " + i);
            assertEquals(making.head(all.record(i)), merged.head(i), "at " + i);
        }
    }
}
