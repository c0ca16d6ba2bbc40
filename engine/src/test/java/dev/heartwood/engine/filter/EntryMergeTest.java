package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Merges of sorted entries against a map. */
class EntryMergeTest {
    private static final long SEED = Long.getLong("heartwood.seed", 5);
    private static final String RERUN = "-Dtest=EntryMergeTest -Dheartwood.seed=" + SEED;

    private final MemoryPool pool = MemoryPool.open(4 << 20);

    @AfterEach
    void close() {
        assertEquals(0, pool.allocated(), "memory was not given back");
        pool.close();
    }

    @Test
    void everyFingerprintComesOnceWithAllItsValues() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int run = 0; run < 300; run++) {
            // From few fingerprints, each many times, to many that hardly ever meet.
            long fingerprints = 1L << random.nextInt(1, 41);
            Map<Long, Long> model = new TreeMap<>();
            List<EntrySource> sources = new ArrayList<>();
            for (int i = random.nextInt(1, 11); i > 0; i--) {
                sources.add(new ArraySource(entries(random, fingerprints, model), random.split()));
            }
            try (EntryMerge merge = new EntryMerge(pool, sources)) {
                for (Map.Entry<Long, Long> expected : model.entrySet()) {
                    assertTrue(merge.next(), RERUN);
                    assertEquals(expected.getKey(), merge.fingerprint(), RERUN);
                    assertEquals(expected.getValue(), merge.values(), RERUN);
                }
                assertFalse(merge.next(), RERUN);
                assertFalse(merge.next(), RERUN);
            }
            assertTrue(sources.stream().allMatch(source -> ((ArraySource) source).closed), RERUN);
        }
    }

    /** Entries in ascending order of fingerprints, those of one in no order. */
    private static long[] entries(SplittableRandom random, long fingerprints, Map<Long, Long> model) {
        long[] entries = new long[random.nextInt(10) == 0 ? 0 : random.nextInt(1 << random.nextInt(1, 14))];
        long values = 1L << random.nextInt(7);
        for (int i = 0; i < entries.length; i++) {
            entries[i] = random.nextLong(fingerprints) << 20 | random.nextInt(1 << 14) << 6 | random.nextLong(values);
        }
        Arrays.sort(entries);
        for (int i = 0; i < entries.length; i++) {
            // Bits between fingerprint and value put those of one fingerprint in disorder.
            entries[i] = Entry.of(entries[i] >>> 20, entries[i] & 63);
            model.merge(Entry.fingerprint(entries[i]), 1L << entries[i], (a, b) -> a | b);
        }
        return entries;
    }

    @Test
    void whatHasNoMemoryClosesItsSources() {
        long taken = pool.allocate(4 << 20);
        ArraySource source = new ArraySource(new long[] {1}, new SplittableRandom(1));
        assertThrows(InsufficientMemoryException.class, () -> new EntryMerge(pool, List.of(source)));
        assertTrue(source.closed);
        pool.free(taken, 4 << 20);
    }

    @Test
    void itTakesTheMemoryThatItSays() {
        for (int count = 1; count < 12; count++) {
            List<EntrySource> sources = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sources.add(new ArraySource(new long[] {i}, new SplittableRandom(i)));
            }
            try (EntryMerge merge = new EntryMerge(pool, sources)) {
                assertTrue(merge.next());
                assertEquals(EntryMerge.memoryBytes(count), pool.allocated(), count + " sources");
            }
        }
    }

    /** Hands out entries, now and then as few as it may. */
    private static final class ArraySource implements EntrySource {
        private final long[] entries;
        private final SplittableRandom random;
        private int at;
        private boolean closed;

        private ArraySource(long[] entries, SplittableRandom random) {
            this.entries = entries;
            this.random = random;
        }

        @Override
        public int read(long to, int room) {
            assertTrue(room >= ROOM_MIN, "room for " + room);
            int count = Math.min(random.nextInt(1, room + 1), entries.length - at);
            for (int i = 0; i < count; i++) {
                Memory.putLong(to + (long) i * Entry.BYTES, entries[at++]);
            }
            return count;
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
