package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.bench.workload.Phase;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PhaseResultTest {
    @Test
    void aLineCarriesEverything() {
        PhaseResult result = new PhaseResult(
                "rocksdb",
                "load",
                2,
                3,
                4,
                5.5,
                6.5,
                new PhaseResult.Between(18, 19, 20.5),
                new PhaseResult.Latency(6.25, 7, 8, 9),
                new PhaseResult.Storage(10, 11, 1.5, 12),
                new PhaseResult.Memory(13, 14),
                15,
                new PhaseResult.Faults(16, 17),
                new PhaseResult.Series(250, new long[] {1, 2, 3}),
                List.of(new PhaseResult.Change(1.5, "a = 'ä', b"), new PhaseResult.Change(2, "c@d")));
        PhaseResult read = PhaseResult.parse(result.toLine());
        assertEquals(result.toLine(), read.toLine());
        assertArrayEquals(result.progress().counts(), read.progress().counts());
        assertEquals(result.changes(), read.changes());
        assertEquals(result.between(), read.between());
        assertEquals(4 / 5.5, read.operationsPerSecond());
    }

    private static PhaseResult named(String phase) {
        return PhaseResult.parse("engine=e phase=" + phase + " threads=1 records=1 operations=1 seconds=1 cpu=1 betweenRead=0 betweenWritten=0 betweenCpu=0 p50=0 p99=0 p999=0 "
                + "max=0 read=0 written=0 amplification=0 disk=0 rss=0 anonymous=0 scanned=0 missing=0 wrong=0 sampleMillis=0 "
                + "counts= changes=");
    }

    @Test
    void aStepOfACycleKeepsItsPlaceInItsName() {
        PhaseResult read = named("read");
        assertEquals("3-read", read.asStep(3).phase());
        assertTrue(read.asStep(3).isStep() && read.asStep(3).isPhase() && !read.isStep());
        assertEquals(List.of(), read.changes());
        for (String phase : new String[] {"read", "read-settle", "read-retune"}) {
            assertEquals(Phase.READ, named(phase).kind());
        }
        assertEquals(Phase.READ, read.asStep(12).kind());
    }

    @Test
    void aPhaseThatComesAgainIsNumbered() {
        for (String suffix : new String[] {"", PhaseResult.SETTLE_SUFFIX, PhaseResult.RETUNE_SUFFIX}) {
            PhaseResult first = named("sequential90" + suffix);
            assertEquals(first, first.asRepetition(1));
            PhaseResult second = first.asRepetition(2);
            assertEquals("sequential90#2" + suffix, second.phase());
            assertEquals(Phase.SEQUENTIAL90, second.kind());
            assertEquals(suffix.equals(PhaseResult.SETTLE_SUFFIX), second.isSettling());
            assertEquals(suffix.isEmpty(), second.isPhase());
        }
    }

    @Test
    void theOverwritingOrderMeetsEveryRecordOnce() {
        for (int count : new int[] {1, 2, 1000, 65_536, 99_991}) {
            Set<Long> seen = new HashSet<>();
            for (int i = 0; i < count; i++) {
                seen.add(Permutation.apply(i, count));
            }
            assertEquals(count, seen.size());
        }
        long last = (1L << 31) - 2;
        long number = Permutation.apply(last, last + 1);
        assertEquals(true, number >= 0 && number <= last);
    }
}
