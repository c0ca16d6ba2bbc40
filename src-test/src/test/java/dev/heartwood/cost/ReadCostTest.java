package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.TestDirectory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A store ten times the size of its memory: what its reads cost once it is warm. */
class ReadCostTest {
    private static final ByteSize MEMORY = ByteSize.mib(32);
    private static final int RECORDS = (int) (10 * MEMORY.bytes() / Load.RECORD_BYTES);
    private static final int READS = 20_000;

    private static TestDirectory directory;
    private static KeyValueStore store;

    @BeforeAll
    static void load() {
        directory = new TestDirectory("reads");
        store = open();
        Load.random(store, RECORDS);
        store.settle();
    }

    private static KeyValueStore open() {
        return Heartwood.open(
                directory.path(), StoreOptions.builder().memory(MEMORY).build());
    }

    @AfterAll
    static void close() {
        store.close();
        directory.close();
    }

    @Test
    void aReadThatHitsCostsAboutOnePageAndOneThatMissesAboutNone() {
        SplittableRandom random = new SplittableRandom(1);
        hits(random, 3 * READS);
        misses(random, READS);
        long before = store.stats().pageReads();
        hits(random, READS);
        long between = store.stats().pageReads();
        misses(random, READS);
        long after = store.stats().pageReads();
        double hit = (double) (between - before) / READS;
        double miss = (double) (after - between) / READS;
        assertTrue(hit <= 1.1, hit + " page reads for a key that is there");
        assertTrue(miss <= 0.1, miss + " page reads for a key that is not");
    }

    /** Records are drawn by rank, each rank's chance in proportion to its inverse; with pages alone it takes 0.53 page reads. */
    @Test
    void aSkewedReadCostsLessThanHalfAPage() {
        SplittableRandom random = new SplittableRandom(2);
        skewed(random, 20 * READS);
        long before = store.stats().pageReads();
        skewed(random, 2 * READS);
        double reads = (double) (store.stats().pageReads() - before) / (2 * READS);
        assertTrue(reads <= 0.42, reads + " page reads for a key that is drawn by rank");
    }

    private static void skewed(SplittableRandom random, int reads) {
        for (int i = 0; i < reads; i++) {
            int rank = (int) Math.exp(random.nextDouble() * Math.log(RECORDS)) - 1;
            int number = (int) (rank * 7919L % RECORDS);
            assertArrayEquals(Load.value(number), store.get(Load.key(number)));
        }
    }

    private static void hits(SplittableRandom random, int reads) {
        for (int i = 0; i < reads; i++) {
            int number = random.nextInt(RECORDS);
            assertArrayEquals(Load.value(number), store.get(Load.key(number)));
        }
    }

    private static void misses(SplittableRandom random, int reads) {
        for (int i = 0; i < reads; i++) {
            assertNull(store.get(Load.key(RECORDS + random.nextInt(RECORDS))));
        }
    }

    @Test
    void aLongScanReadsNoMoreThanThePagesOfTheRunsAndAheadOfUse() {
        // With nothing in the cache, so that nothing is left out.
        store.close();
        store = open();
        StoreStats before = store.stats();
        int records = 0;
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                records++;
            }
        }
        assertEquals(RECORDS, records);
        StoreStats after = store.stats();
        long ahead = after.pagesPrefetched() - before.pagesPrefetched();
        long missed = after.pageReads() - before.pageReads();
        long pages = (after.liveBytes() - after.filterBytes()) / 4096;
        assertTrue(ahead + missed >= (long) RECORDS * Load.RECORD_BYTES / 4096, ahead + " and " + missed + " were not all");
        assertTrue(ahead + missed <= pages, ahead + " pages ahead and " + missed + " missed of " + pages);
        assertTrue(50 * missed <= ahead, missed + " pages were missed, " + ahead + " were there ahead");
    }
}
