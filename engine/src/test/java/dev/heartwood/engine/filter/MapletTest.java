package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MapletTest {
    private final MapletFixture fixture = new MapletFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void anEmptyMapletHasNoPageAndNamesNothing() {
        Maplet maplet = fixture.builder().build();
        assertEquals(0, fixture.lookup(maplet, 42));
        assertEquals(-1, maplet.pageNumberOf(42));
        assertEquals(0, maplet.bytes());
        assertEquals(0, maplet.entries());
        assertEquals(Map.of(), fixture.contents(maplet));
        maplet.release();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    @Test
    void oneKeyIsFoundWithItsValue() {
        try (FingerprintBuffer buffer = fixture.fingerprints(0x123456789abcdef0L)) {
            Maplet maplet = fixture.builder().add(buffer, 63).build();
            assertEquals(1L << 63, fixture.lookup(maplet, 0x123456789abcdef0L));
            assertEquals(0, fixture.lookup(maplet, 0x923456789abcdef0L));
            assertEquals(1, maplet.entries());
            assertEquals(1, maplet.entries(63));
            assertEquals(PageLayout.PAGE_BYTES, maplet.bytes());
        }
    }

    @Test
    void theExtremeHashesAreFound() {
        try (FingerprintBuffer buffer = fixture.fingerprints(0, -1, 1L << 63, Long.MAX_VALUE)) {
            Maplet maplet = fixture.builder().add(buffer, 0).build();
            for (long hash : new long[] {0, -1, 1L << 63, Long.MAX_VALUE}) {
                assertEquals(1, fixture.lookup(maplet, hash));
            }
        }
    }

    @Test
    void aFingerprintKeepsEachOfItsValuesOnce() {
        long hash = MapletFixture.hashOf(1);
        try (FingerprintBuffer twice = fixture.fingerprints(hash, hash);
                FingerprintBuffer once = fixture.fingerprints(hash)) {
            Maplet maplet = fixture.builder().add(twice, 5).add(once, 2).add(once, 40).add(once, 5).build();
            assertEquals(1L << 2 | 1L << 5 | 1L << 40, fixture.lookup(maplet, hash));
            assertEquals(3, maplet.entries());
            assertEquals(2, maplet.duplicateEntries());
            assertEquals(1, maplet.distinctKeys());
        }
    }

    @Test
    void everyValueOfManyFingerprintsIsKept() {
        MapletBuilder builder = fixture.builder();
        try (FingerprintBuffer buffer = fixture.fingerprintsOf(0, 500)) {
            for (int value = 0; value < 64; value++) {
                builder.add(buffer, value);
            }
            Maplet maplet = builder.build();
            for (long key = 0; key < 500; key++) {
                assertEquals(-1L, fixture.lookup(maplet, MapletFixture.hashOf(key)));
            }
            assertEquals(500 * 63, maplet.duplicateEntries());
        }
    }

    @Test
    void lookupInPageIsLookupInItsPage() {
        Maplet maplet = fixture.build(new long[][] {{0, 20_000}, {10_000, 30_000}});
        int slot = fixture.epochs.enter();
        for (long key = 0; key < 40_000; key += 7) {
            long hash = MapletFixture.hashOf(key);
            long page = fixture.file.page(
                    maplet.pageNumberOf(hash), dev.heartwood.engine.page.PageType.FILTER, maplet.id());
            assertEquals(maplet.lookup(fixture.file, hash), maplet.lookupInPage(fixture.file, page, hash));
        }
        fixture.epochs.exit(slot);
    }

    @Test
    void duplicateEntriesEstimateWhatIsSuperseded() {
        Maplet maplet = fixture.build(new long[][] {{0, 50_000}, {0, 25_000}, {0, 10_000}});
        assertEquals(35_000, maplet.duplicateEntries(), 35_000 * 0.02);
        assertEquals(50_000, maplet.distinctKeys(), 50_000 * 0.02);
        assertEquals(10_000, maplet.entries(2), 100);
    }

    @Test
    void aMergeRemapsAndDrops() {
        Maplet first = fixture.build(new long[][] {{0, 1000}, {1000, 2000}, {2000, 3000}});
        Maplet second = fixture.build(new long[][] {{500, 1500}, {3000, 4000}});
        Maplet merged = fixture.builder()
                .add(first, new int[] {1, -1, 0})
                .add(second, new int[] {1, 3})
                .build();
        int falsePositives = 0;
        for (long key = 0; key < 4000; key++) {
            long expected = (key < 1500 ? 2 : 0) | (key >= 2000 && key < 3000 ? 1 : 0) | (key >= 3000 ? 8 : 0);
            long found = fixture.lookup(merged, MapletFixture.hashOf(key));
            assertEquals(expected, found & expected, "key " + key);
            falsePositives += found == expected ? 0 : 1;
        }
        assertTrue(falsePositives < 10, falsePositives + " false positives");
        assertEquals(0b1011, merged.values());
        assertTrue(merged.fingerprintBits() <= Math.min(first.fingerprintBits(), second.fingerprintBits()));
    }

    @Test
    void theLastReleaseFreesTheExtents() {
        Maplet maplet = fixture.build(new long[][] {{0, 200_000}});
        assertEquals(maplet.extentCount(), fixture.extents.allocatedCount());
        assertTrue(maplet.extentCount() > 1);
        maplet.retain();
        maplet.release();
        assertEquals(maplet.extentCount(), fixture.extents.allocatedCount());
        maplet.release();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    @Test
    void bothWriteModesWriteTheSame() {
        try (FingerprintBuffer buffer = fixture.fingerprintsOf(0, 100_000)) {
            Maplet cached = fixture.builder(WriteMode.CACHED).add(buffer, 1).build();
            Maplet through = fixture.builder(WriteMode.THROUGH).add(buffer, 1).build();
            assertEquals(fixture.contents(cached), fixture.contents(through));
            assertTrue(fixture.device.bytesWritten() >= through.bytes());
        }
    }

    @Test
    void shortFingerprintsAreReportedByTheirNewValues() {
        Maplet small = fixture.build(new long[][] {{0, 30_000}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 40_000}});
        int[] newValues = {4, 0, 0, 0, 0, 9};
        try (FingerprintBuffer buffer = fixture.fingerprintsOf(0, 500_000)) {
            MapletBuilder builder = fixture.builder().add(small, newValues).add(buffer, 0);
            assertEquals(1L << 4 | 1L << 9, builder.needsRefresh());
            newValues[0] = -1;
            MapletBuilder dropping = fixture.builder().add(small, newValues).add(buffer, 0);
            assertEquals(1L << 9, dropping.needsRefresh());
            assertEquals(0, fixture.builder().add(small, newValues).needsRefresh());
        }
    }

    @Test
    void oneBitTooShortIsLongEnough() {
        Maplet maplet = fixture.build(new long[][] {{0, 30_000}});
        long entriesMax = 1L << maplet.fingerprintBits() - MapletPlan.FALSE_POSITIVE_SHIFT;
        assertFalse(MapletBuilder.needsRefresh(maplet, 2 * entriesMax));
        assertTrue(MapletBuilder.needsRefresh(maplet, 2 * entriesMax + 1));
    }

    @Test
    void aMapletOfPiecesIsAsOneMadeAtOnce() {
        int pieces = 9;
        int entries = 70_000;
        MapletBuilder joined = fixture.builder();
        MapletBuilder atOnce = fixture.builder();
        List<FingerprintBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < pieces; i++) {
            FingerprintBuffer buffer = fixture.fingerprintsOf((long) i * entries, (i + 1L) * entries);
            buffers.add(buffer);
            atOnce.add(buffer, 5);
            Maplet piece = fixture.builder().add(buffer, 0).pieceOf((long) pieces * entries).build();
            assertTrue(piece.bytes() < 3L * entries, piece.toString());
            joined.add(piece, new int[] {5});
        }
        assertEquals(0, joined.needsRefresh());
        assertEquals(fixture.contents(atOnce.build()), fixture.contents(joined.build()));
        buffers.forEach(FingerprintBuffer::close);
    }

    @Test
    void valuesAndRemapsAreChecked() {
        Maplet maplet = fixture.build(new long[][] {{0, 10}, {0, 10}});
        try (FingerprintBuffer buffer = fixture.fingerprints(1)) {
            MapletBuilder builder = fixture.builder();
            assertThrows(IllegalArgumentException.class, () -> builder.add(buffer, 64));
            assertThrows(IllegalArgumentException.class, () -> builder.add(buffer, -1));
            assertThrows(IllegalArgumentException.class, () -> builder.add(maplet, new int[] {0}));
            assertThrows(IllegalArgumentException.class, () -> builder.add(maplet, new int[] {0, 64}));
            assertThrows(IllegalArgumentException.class, () -> builder.add(maplet, new int[] {0, -2}));
        }
    }

    @Test
    void crowdedHashesCostFalsePositivesAndNothingElse() {
        FingerprintBuffer buffer = new FingerprintBuffer(fixture.pool);
        for (long i = 0; i < 30_000; i++) {
            buffer.add(0x5a5a000000000000L | i << 25);
        }
        MapletBuilder builder = fixture.builder();
        for (int value = 0; value < 64; value += 3) {
            builder.add(buffer, value);
        }
        Maplet maplet = builder.build();
        for (long i = 0; i < 30_000; i++) {
            assertEquals(maplet.values(), fixture.lookup(maplet, 0x5a5a000000000000L | i << 25));
        }
        assertFalse(fixture.contents(maplet).isEmpty());
        buffer.close();
    }
}
