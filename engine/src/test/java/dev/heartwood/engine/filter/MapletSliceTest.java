package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.page.PageLayout;
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

    /** Pages behind the slice were read with those of it, or to see that it had ended, and a damaged one left it without entries. */
    @Test
    void noOtherPageIsNeeded() {
        try (FingerprintBuffer buffer = fixture.fingerprintsOf(0, 300_000)) {
            Maplet maplet = fixture.builder(WriteMode.THROUGH).add(buffer, 0).build();
            for (int zeroBits = 1; zeroBits <= 8; zeroBits++) {
                int[] whole = expected(0, 300_000, zeroBits, Math.min(32, maplet.fingerprintBits() - zeroBits));
                int pages = MapletSlice.read(fixture.file, maplet, fixture.pool, zeroBits).pages();
                assertTrue(pages < maplet.pages());
                flip(maplet, pages);
                MapletSlice slice = MapletSlice.read(fixture.file, maplet, fixture.pool, zeroBits);
                assertArrayEquals(whole, slice.of(0), zeroBits + " zero bits");
                flip(maplet, pages);
            }
            maplet.release();
        }
    }

    /** Flips a bit of each page from one on. */
    private void flip(Maplet maplet, int from) {
        for (int page = from; page < maplet.pages(); page++) {
            fixture.device.flip((maplet.devicePage(page) * PageLayout.PAGE_BYTES + 1000) * 8);
        }
    }

    /** Entries of a value that the descriptor does not know, which other readers leave out too. */
    @Test
    void entriesOfUnknownValuesAreLeftOut() {
        Maplet maplet = fixture.build(new long[][] {{0, 3_000}, {1_000, 3_000}});
        int[] extents = new int[maplet.extentCount()];
        for (int i = 0; i < extents.length; i++) {
            extents[i] = maplet.extent(i);
        }
        Maplet other = new Maplet(maplet.id(), extents, maplet.shape(), new int[] {3_000}, 0, none -> () -> {});
        MapletSlice slice = MapletSlice.read(fixture.file, other, fixture.pool, 1);
        assertArrayEquals(expected(0, 3_000, 1, slice.bits()), slice.of(0));
        assertEquals(0, slice.of(1).length);
        maplet.release();
    }
}
