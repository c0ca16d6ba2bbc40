package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MapletSliceTest {
    private final MapletFixture fixture = new MapletFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    /** The kept bits of the hashes of keys [from, to) that begin with so many zero bits, each once. */
    private static int[] expected(long from, long to, int zeroBits, int bits) {
        return LongStream.range(from, to)
                .map(MapletFixture::hashOf)
                .filter(hash -> Long.numberOfLeadingZeros(hash) >= zeroBits)
                .map(hash -> (hash << zeroBits) >>> Long.SIZE - bits << Integer.SIZE - bits)
                .sorted()
                .distinct()
                .mapToInt(hash -> (int) hash)
                .toArray();
    }

    @Test
    void aSliceHasTheLeastHashesOfEachValueFromTheFirstPages() {
        long[] sizes = {1, 500, 3_000, 60_000, 300_000};
        for (long size : sizes) {
            Maplet maplet = fixture.build(new long[][] {{0, size}, {size / 2, size}});
            for (int zeroBits = 0; zeroBits <= 9; zeroBits += 3) {
                MapletSlice slice = MapletSlice.read(fixture.file, maplet, fixture.pool, zeroBits);
                assertArrayEquals(expected(0, size, zeroBits, slice.bits()), slice.of(0), size + ", " + zeroBits);
                assertArrayEquals(expected(size / 2, size, zeroBits, slice.bits()), slice.of(1), size + ", " + zeroBits);
                assertEquals(0, slice.of(2).length);
                assertEquals(Math.min(32, maplet.fingerprintBits() - zeroBits), slice.bits());
                assertTrue(slice.pages() <= (maplet.pages() >>> zeroBits) + 1, slice.pages() + " of " + maplet.pages());
            }
            maplet.release();
        }
    }

    @Test
    void aMapletWithoutEntriesHasAnEmptySlice() {
        MapletSlice slice = MapletSlice.read(fixture.file, fixture.builder().build(), fixture.pool, 3);
        assertEquals(0, slice.of(0).length);
        assertEquals(0, slice.pages());
    }
}
