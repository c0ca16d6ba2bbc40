package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Lookups through a cache that is smaller than the maplet, while other maplets are built and dropped through it. */
class MapletConcurrencyTest {
    private static final long SEED = Long.getLong("heartwood.seed", 3);
    private static final int READERS = 3;
    private static final int LOOKUPS = 4_000;
    private static final int KEYS = 400_000;

    @Test
    void readersSeeEveryKeyWhilePagesAreEvicted() throws Exception {
        try (MapletFixture fixture = new MapletFixture(64 << 20, 1 << 19, 1 << 30);
                ExecutorService threads = Executors.newFixedThreadPool(READERS + 1)) {
            Maplet maplet = fixture.build(new long[][] {{0, KEYS / 2}, {KEYS / 2, KEYS}});
            AtomicBoolean done = new AtomicBoolean();
            Future<?> builder = threads.submit(() -> buildUntil(fixture, done));
            List<Future<?>> readers = new ArrayList<>();
            for (int reader = 0; reader < READERS; reader++) {
                long seed = SEED + reader;
                readers.add(threads.submit(() -> lookUp(fixture, maplet, new SplittableRandom(seed))));
            }
            try {
                for (Future<?> reader : readers) {
                    reader.get();
                }
            } finally {
                done.set(true);
            }
            builder.get();
            assertEquals(0, fixture.pool.allocated());
        }
    }

    private static void lookUp(MapletFixture fixture, Maplet maplet, SplittableRandom random) {
        for (int i = 0; i < LOOKUPS; i++) {
            long key = random.nextLong(KEYS);
            long values = fixture.lookup(maplet, MapletFixture.hashOf(key));
            long expected = key < KEYS / 2 ? 1 : 2;
            assertEquals(expected, values & expected, "rerun: -Dtest=MapletConcurrencyTest -Dheartwood.seed=" + SEED);
        }
    }

    private static void buildUntil(MapletFixture fixture, AtomicBoolean done) {
        try (FingerprintBuffer buffer = fixture.fingerprintsOf(0, 10_000)) {
            boolean cached = true;
            do {
                WriteMode mode = cached ? WriteMode.CACHED : WriteMode.THROUGH;
                fixture.builder(mode).add(buffer, 1).build().release();
                cached = !cached;
            } while (!done.get());
        }
    }
}
