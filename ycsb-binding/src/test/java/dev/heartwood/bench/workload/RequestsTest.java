package dev.heartwood.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.bench.workload.Requests.Distribution;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RequestsTest {
    private static final int DRAWS = 1_000_000;

    @Test
    void zetaByFormulaEqualsTheSum() {
        double sum = 0;
        for (int i = 1; i <= 3_000_000; i++) {
            sum += Math.pow(i, -Zipfian.EXPONENT);
            if (i == 1_001 || i == 50_000 || i == 3_000_000) {
                assertEquals(sum, Zipfian.zeta(i), 1e-8, "zeta of " + i);
            }
        }
        assertEquals(26.46902820178302, Zipfian.zeta(Requests.SCRAMBLED_RANKS), 1e-6, "the constant YCSB holds");
    }

    @Test
    void ranksFollowTheLawOfZipf() {
        int ranks = 1000;
        Zipfian zipfian = new Zipfian(ranks);
        SeededRandom random = new SeededRandom(42);
        int[] counts = new int[ranks];
        for (int i = 0; i < DRAWS; i++) {
            counts[(int) zipfian.next(random, ranks)]++;
        }
        double zeta = Zipfian.zeta(ranks);
        for (int rank = 0; rank < 2; rank++) {
            double expected = DRAWS * Math.pow(rank + 1, -Zipfian.EXPONENT) / zeta;
            assertEquals(expected, counts[rank], 0.02 * expected, "rank " + rank);
        }
        // Beyond the first two ranks the method approximates: compare the shares of ranges.
        for (int end = 10; end <= ranks; end *= 10) {
            double expected = DRAWS * Zipfian.zeta(end) / zeta;
            assertEquals(expected, Arrays.stream(counts, 0, end).sum(), 0.03 * DRAWS, "ranks below " + end);
        }
    }

    @Test
    void theZipfianHeadIsAsHotAsYcsbs() {
        int records = 100_000;
        int[] counts = counts(Distribution.ZIPFIAN, records);
        int[] sorted = counts.clone();
        Arrays.sort(sorted);
        double hottest = sorted[records - 1];
        assertEquals(DRAWS / 26.469, hottest, 0.05 * hottest);
        assertTrue(Arrays.stream(counts).filter(c -> c > 0).count() > records / 2, "the tail is spread");
    }

    @Test
    void uniformIsFlat() {
        for (int count : counts(Distribution.UNIFORM, 100)) {
            assertEquals(DRAWS / 100, count, 600);
        }
    }

    @Test
    void latestPrefersTheNewest() {
        int records = 10_000;
        int[] counts = counts(Distribution.LATEST, records);
        double expected = DRAWS / Zipfian.zeta(records);
        assertEquals(expected, counts[records - 1], 0.03 * expected);
        assertTrue(counts[records - 1] > counts[records - 2] && counts[records - 2] > counts[records - 10]);
    }

    @ParameterizedTest
    @EnumSource(Distribution.class)
    void equalSeedsDrawEqualNumbersAndStayInRange(Distribution distribution) {
        Requests one = new Requests(distribution, new SeededRandom(7));
        Requests other = new Requests(distribution, new SeededRandom(7));
        for (int i = 0; i < 10_000; i++) {
            long records = 1 + i / 10;
            long number = one.next(records);
            assertEquals(number, other.next(records));
            assertTrue(number >= 0 && number < records, number + " of " + records);
        }
    }

    private static int[] counts(Distribution distribution, int records) {
        Requests requests = new Requests(distribution, new SeededRandom(11));
        int[] counts = new int[records];
        for (int i = 0; i < DRAWS; i++) {
            counts[(int) requests.next(records)]++;
        }
        return counts;
    }
}
