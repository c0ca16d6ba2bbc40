package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Sorts shapes of keys that take the sorter's different ways. Rerun one seed with {@code -Dmemtable.seed=N}. */
class RunSorterTest {
    private static final int COUNT = 6000;

    private final long seed = Long.getLong("memtable.seed", new SplittableRandom().nextLong() >>> 16);
    private final SplittableRandom random = new SplittableRandom(seed);

    @Test
    void randomBytes() {
        check(i -> bytes(random.nextInt(0, 24), 256));
    }

    @Test
    void decimalDigitsBehindACommonPrefix() {
        check(i -> "user%020d".formatted(random.nextLong() >>> 1).getBytes());
    }

    @Test
    void oneOutlierMakesTheLeadingBitsVary() {
        check(i -> number(i == 17 ? -1 : random.nextInt(100_000)));
    }

    @Test
    void headsThatDifferInTheirLastByteOnly() {
        check(i -> number((long) random.nextInt(2) << 56 | random.nextInt(256)));
    }

    @Test
    void manyVersionsOfFewKeys() {
        check(i -> bytes(random.nextInt(0, 3), 2));
    }

    @Test
    void versionsOfOneKey() {
        check(i -> number(42));
    }

    @Test
    void longSharedParts() {
        byte[][] stems = {bytes(100, 2), bytes(100, 2), bytes(37, 2)};
        check(i -> {
            byte[] stem = stems[random.nextInt(stems.length)];
            byte[] tail = bytes(random.nextInt(0, 20), 3);
            byte[] key = Arrays.copyOf(stem, stem.length + tail.length);
            System.arraycopy(tail, 0, key, stem.length, tail.length);
            return key;
        });
    }

    @Test
    void everyKeyAPrefixOfTheNext() {
        check(i -> new byte[random.nextInt(0, 3000)]);
    }

    private void check(IntFunction<byte[]> keys) {
        try (MemoryPool pool = MemoryPool.open(64 << 20)) {
            long[] records = new long[COUNT];
            Lane lane = new Lane(0);
            long chunk = pool.allocate(32 << 20);
            lane.addChunk(chunk, 32 << 20, 0);
            long key = pool.allocate(4096);
            for (int i = 0; i < COUNT; i++) {
                byte[] bytes = keys.apply(i);
                Memory.copyFrom(bytes, 0, key, bytes.length);
                records[i] = lane.append(random.nextInt(500), Entries.PUT, key, bytes.length, 0, 0);
            }
            int shared = Records.keyLength(Records.meta(records[0]));
            for (long record : records) {
                shared = RunSorter.sharedBytes(records[0], record, 0, shared);
            }
            checkSorted(RunSorter.sort(records.clone(), COUNT, shared), records, shared);
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=RunSorterTest -Dmemtable.seed=" + seed, e);
        }
    }

    /** Records were appended upwards in memory, so stability is ascending addresses. */
    private static void checkSorted(SortedRun run, long[] records, int shared) {
        long[] all = new long[run.count()];
        for (int i = 0; i < run.count(); i++) {
            all[i] = run.record(i);
            assertEquals(Records.head(run.record(i), shared), run.head(i));
            if (i > 0) {
                int order = Records.compare(run.record(i - 1), run.record(i), 0);
                assertTrue(order < 0 || order == 0 && run.record(i - 1) < run.record(i), "at " + i);
            }
        }
        Arrays.sort(all);
        assertEquals(-1, Arrays.mismatch(all, records));
    }

    private byte[] bytes(int length, int alphabet) {
        byte[] made = new byte[length];
        for (int i = 0; i < length; i++) {
            made[i] = (byte) random.nextInt(alphabet);
        }
        return made;
    }

    private static byte[] number(long value) {
        return java.nio.ByteBuffer.allocate(8).putLong(value).array();
    }
}
