package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Entries of which many are the same are sorted in the memory that they take, and little more. */
class EntryBucketsTest {
    private static final int ENTRIES = 400_000;
    private static final int GROUPS = 3_000;
    private static final long BEYOND_ENTRIES = 2 << 20;

    private final SplittableRandom random = new SplittableRandom(1);

    private static void expectSorted(EntryBuckets buckets, MemoryPool pool, long[] expected) {
        try (EntryMerge entries = new EntryMerge(pool, List.of(buckets.cursor(40)))) {
            for (long entry : expected) {
                assertTrue(entries.next());
                assertEquals(entry, entries.fingerprint());
                assertEquals(1 << 5, entries.values());
            }
            assertFalse(entries.next());
        }
    }

    private void sort(long[] fingerprints) {
        long[] expected = Arrays.stream(fingerprints).sorted().distinct().toArray();
        try (MemoryPool pool = MemoryPool.open((long) ENTRIES * Long.BYTES + BEYOND_ENTRIES);
                EntryBuckets buckets = new EntryBuckets(pool, ENTRIES)) {
            for (long fingerprint : fingerprints) {
                buckets.add(fingerprint, 5);
            }
            assertEquals(expected.length, buckets.sort(40));
            expectSorted(buckets, pool, expected);
        }
    }

    /** Where all keys were of one group they were sorted in a block as large as two of what they take. */
    @Test
    void allOfOneGroup() {
        long[] fingerprints = new long[ENTRIES];
        Arrays.fill(fingerprints, random.nextLong() >>> 24);
        sort(fingerprints);
    }

    @Test
    void mostOfOneGroupAndTheOthersOfFew() {
        long most = random.nextLong() >>> 24;
        long[] groups = random.longs(GROUPS).map(hash -> hash >>> 24).toArray();
        sort(random.ints(ENTRIES, 0, 4 * GROUPS)
                .mapToLong(i -> i < GROUPS ? groups[i] : most)
                .toArray());
    }

    @Test
    void allDifferent() {
        sort(random.longs(ENTRIES).map(hash -> hash >>> 24).toArray());
    }

    /** Keys were chosen so that one entry alone was dropped by each of thousands of passes. */
    @Test
    void whatPassesHardlyMakeLessIsSortedAsItIs() {
        int piece = 1 << 14;
        int different = piece - 1;
        long[] fingerprints = new long[2 * different + 1];
        for (int i = 0; i < different; i++) {
            fingerprints[i] = i;
            fingerprints[piece + i] = i;
        }
        long[] expected = Arrays.copyOf(fingerprints, different);
        try (MemoryPool pool = MemoryPool.open((long) ENTRIES * Long.BYTES);
                EntryBuckets buckets = new EntryBuckets(pool, fingerprints.length)) {
            for (long fingerprint : fingerprints) {
                buckets.add(fingerprint, 5);
            }
            assertEquals(1, buckets.thinCrowded());
            assertEquals(different, buckets.sort(40));
            expectSorted(buckets, pool, expected);
        }
    }
}
