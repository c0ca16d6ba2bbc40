package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Builds and merges maplets at random, beside maps from key to values. */
class MapletPropertyTest {
    private static final String SEED = "heartwood.seed";
    private static final int ROUNDS = 12;
    private static final int STEPS = 8;

    private record Modelled(Maplet maplet, Map<Long, Long> model) {}

    @Test
    void mapletsHoldWhatTheirSourcesHeld() {
        long seed = Long.getLong(SEED, 0x6d61706c6574L);
        for (int round = 0; round < ROUNDS; round++, seed++) {
            try (MapletFixture fixture = new MapletFixture()) {
                run(fixture, new SplittableRandom(seed));
            } catch (Throwable e) {
                fail("rerun: -Dtest=MapletPropertyTest -D" + SEED + "=" + seed, e);
            }
        }
    }

    private static void run(MapletFixture fixture, SplittableRandom random) {
        List<Modelled> maplets = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            Modelled built = build(fixture, random, maplets);
            check(fixture, random, built);
            maplets.add(built);
            if (maplets.size() > 3) {
                maplets.remove(random.nextInt(maplets.size())).maplet.release();
            }
        }
        int extents = maplets.stream().mapToInt(m -> m.maplet.extentCount()).sum();
        assertEquals(extents, fixture.extents.allocatedCount(), "extents in use");
        assertEquals(0, fixture.pool.allocated(), "working memory left");
    }

    private static Modelled build(MapletFixture fixture, SplittableRandom random, List<Modelled> maplets) {
        Map<Long, Long> model = new HashMap<>();
        MapletBuilder builder =
                fixture.builder(random.nextBoolean() ? WriteMode.CACHED : WriteMode.THROUGH);
        int valueBound = 1 << random.nextInt(7);
        List<FingerprintBuffer> buffers = new ArrayList<>();
        int sources = random.nextInt(5);
        long keyBound = 1L << random.nextInt(1, 18);
        for (int i = 0; i < sources; i++) {
            int value = random.nextInt(valueBound);
            FingerprintBuffer buffer = new FingerprintBuffer(fixture.pool);
            for (int n = random.nextInt(1 << random.nextInt(1, 15)); n > 0; n--) {
                long key = random.nextLong(keyBound);
                buffer.add(MapletFixture.hashOf(key));
                model.merge(key, 1L << value, (a, b) -> a | b);
            }
            assertEquals(FilterLayout.FINGERPRINT_BITS_MAX / 8, FingerprintBuffer.HASH_BYTES);
            builder.add(buffer, value);
            buffers.add(buffer);
        }
        for (Modelled source : maplets) {
            if (random.nextInt(3) > 0) {
                builder.add(source.maplet, remap(random, source.model, valueBound, model));
            }
        }
        Maplet maplet = builder.build();
        buffers.forEach(FingerprintBuffer::close);
        return new Modelled(maplet, model);
    }

    private static int[] remap(
            SplittableRandom random, Map<Long, Long> source, int valueBound, Map<Long, Long> model) {
        int[] newValues = new int[64];
        for (int value = 0; value < 64; value++) {
            newValues[value] = random.nextInt(4) == 0 ? -1 : random.nextInt(valueBound);
        }
        source.forEach((key, values) -> {
            for (long rest = values; rest != 0; rest &= rest - 1) {
                int newValue = newValues[Long.numberOfTrailingZeros(rest)];
                if (newValue >= 0) {
                    model.merge(key, 1L << newValue, (a, b) -> a | b);
                }
            }
        });
        return newValues;
    }

    /** Every key is found, and the maplet holds exactly the fingerprints of the keys. */
    private static void check(MapletFixture fixture, SplittableRandom random, Modelled built) {
        Maplet maplet = built.maplet;
        Map<Long, Long> fingerprints = new HashMap<>();
        built.model.forEach((key, values) -> {
            long hash = MapletFixture.hashOf(key);
            if (maplet.entries() > 0) {
                fingerprints.merge(maplet.shape().fingerprint(hash), values, (a, b) -> a | b);
            }
        });
        assertEquals(fingerprints, fixture.contents(maplet));
        long entries = 0;
        for (Map.Entry<Long, Long> entry : fingerprints.entrySet()) {
            entries += Long.bitCount(entry.getValue());
        }
        assertEquals(entries, maplet.entries());
        assertEquals(entries - fingerprints.size(), maplet.duplicateEntries());
        for (long key : built.model.keySet()) {
            long hash = MapletFixture.hashOf(key);
            assertEquals(fingerprints.get(maplet.shape().fingerprint(hash)), fixture.lookup(maplet, hash));
        }
        for (int i = 0; i < 2000; i++) {
            long hash = random.nextLong();
            long expected = maplet.entries() == 0
                    ? 0
                    : fingerprints.getOrDefault(maplet.shape().fingerprint(hash), 0L);
            assertEquals(expected, fixture.lookup(maplet, hash));
        }
    }
}
