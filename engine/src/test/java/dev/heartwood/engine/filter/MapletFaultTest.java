package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What a maplet does when memory, space or the device fails, and when its bytes are not what was written. */
class MapletFaultTest {
    private static final long SEED = Long.getLong("heartwood.seed", 11);
    private static final String RERUN = "rerun: -Dtest=MapletFaultTest -Dheartwood.seed=" + SEED;

    @Test
    void aBuildThatRunsOutOfMemoryLeavesNothingBehind() {
        try (MapletFixture fixture = new MapletFixture(4 << 20, 8 << 20, 1 << 30);
                FingerprintBuffer buffer = fixture.fingerprintsOf(0, 20_000)) {
            Maplet older = fixture.build(new long[][] {{0, 30_000}});
            int extentsBefore = fixture.extents.allocatedCount();
            int blocks = (int) ((4 << 20) - fixture.pool.allocated() >> 12);
            long[] hoard = new long[blocks];
            for (int i = 0; i < blocks; i++) {
                hoard[i] = fixture.pool.allocate(4096);
                assertTrue(hoard[i] != 0);
            }
            int given = 0;
            while (true) {
                long before = fixture.pool.allocated();
                try {
                    MapletBuilder builder = fixture.builder().add(buffer, 1).add(older, new int[] {0});
                    builder.build().release();
                    break;
                } catch (InsufficientMemoryException expected) {
                    assertEquals(before, fixture.pool.allocated());
                    assertEquals(extentsBefore, fixture.extents.allocatedCount());
                    fixture.pool.free(hoard[given++], 4096);
                }
            }
            assertTrue(given > 20_000 * 8 / 4096, given + " blocks");
            assertEquals(extentsBefore, fixture.extents.allocatedCount());
        }
    }

    @Test
    void aBuildThatRunsOutOfSpaceLeavesNothingBehind() {
        try (MapletFixture fixture = new MapletFixture(16 << 20, 8 << 20, 5 * PageLayout.EXTENT_BYTES);
                FingerprintBuffer buffer = fixture.fingerprintsOf(0, 200_000)) {
            long before = fixture.pool.allocated();
            for (WriteMode mode : WriteMode.values()) {
                MapletBuilder builder = fixture.builder(mode).add(buffer, 0);
                assertThrows(NoSpaceException.class, builder::build);
                assertEquals(0, fixture.extents.allocatedCount());
                assertEquals(before, fixture.pool.allocated());
                assertEquals(0, fixture.file.dirtyPages());
            }
        }
    }

    @Test
    void aBuildWhoseWriteFailsLeavesNothingBehind() {
        try (MapletFixture fixture = new MapletFixture();
                FingerprintBuffer buffer = fixture.fingerprintsOf(0, 200_000)) {
            long before = fixture.pool.allocated();
            fixture.device.failWritesAfter(1);
            MapletBuilder builder = fixture.builder(WriteMode.THROUGH).add(buffer, 0);
            assertThrows(StoreIoException.class, builder::build);
            assertEquals(0, fixture.extents.allocatedCount());
            assertEquals(before, fixture.pool.allocated());
        }
    }

    @Test
    void aFlippedBitOnTheDeviceIsReportedAndOtherPagesStayReadable() {
        SplittableRandom random = new SplittableRandom(SEED);
        try (MapletFixture fixture = new MapletFixture();
                FingerprintBuffer buffer = fixture.fingerprintsOf(0, 20_000)) {
            Maplet maplet = fixture.builder(WriteMode.THROUGH).add(buffer, 0).build();
            for (int i = 0; i < 100; i++) {
                long hash = MapletFixture.hashOf(random.nextLong(20_000));
                long page = maplet.pageNumberOf(hash);
                long bit = page * PageLayout.PAGE_BYTES * 8 + random.nextInt(PageLayout.PAGE_BYTES * 8);
                fixture.device.flip(bit);
                CorruptionException damage = assertThrows(
                        CorruptionException.class, () -> fixture.lookup(maplet, hash), RERUN);
                assertEquals(page, damage.page(), RERUN);
                assertThrows(CorruptionException.class, () -> fixture.read(maplet, entry -> {}), RERUN);
                fixture.device.flip(bit);
                assertEquals(1, fixture.lookup(maplet, hash), RERUN);
                fixture.file.discard((long) maplet.extent(0) << 5, 32);
            }
        }
    }

    @Test
    void aMergeOfADamagedMapletFailsAndLeavesNothingBehind() {
        try (MapletFixture fixture = new MapletFixture();
                FingerprintBuffer buffer = fixture.fingerprintsOf(0, 200_000)) {
            Maplet maplet = fixture.builder(WriteMode.THROUGH).add(buffer, 0).build();
            fixture.device.flip(maplet.devicePage(maplet.pages() - 1) * PageLayout.PAGE_BYTES * 8 + 999);
            long before = fixture.pool.allocated();
            MapletBuilder builder = fixture.builder().add(maplet, new int[] {1});
            assertThrows(CorruptionException.class, builder::build);
            assertEquals(before, fixture.pool.allocated());
            assertEquals(maplet.extentCount(), fixture.extents.allocatedCount());
        }
    }

    @Test
    void aDescriptorComesBackAsItWas() {
        try (MapletFixture fixture = new MapletFixture()) {
            for (Maplet maplet : new Maplet[] {
                fixture.build(new long[][] {{0, 100_000}, {7, 9}, {0, 0}, {5, 5000}}), Maplet.empty(77)
            }) {
                ByteBuffer image = ByteBuffer.allocate(1000);
                maplet.encode(image.position(3));
                assertEquals(3 + maplet.encodedBytes(), image.position());
                Maplet back = Maplet.decode(image.flip().position(3), "file", 9, extents -> () -> {});
                assertEquals(0, image.remaining());
                assertEquals(maplet.toString(), back.toString());
                assertEquals(maplet.values(), back.values());
                assertEquals(maplet.entries(3), back.entries(3));
                assertEquals(maplet.bytes(), back.bytes());
                long hash = MapletFixture.hashOf(8);
                assertEquals(fixture.lookup(maplet, hash), fixture.lookup(back, hash));
            }
        }
    }

    @Test
    void garbageIsNoDescriptor() {
        SplittableRandom random = new SplittableRandom(SEED);
        try (MapletFixture fixture = new MapletFixture()) {
            Maplet maplet = fixture.build(new long[][] {{0, 100_000}, {7, 9}});
            byte[] bytes = new byte[maplet.encodedBytes()];
            maplet.encode(ByteBuffer.wrap(bytes));
            int refused = 0;
            for (int i = 0; i < 100_000; i++) {
                byte[] damaged = bytes.clone();
                for (int n = random.nextInt(1, 4); n > 0; n--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                int length = random.nextInt(8) == 0 ? random.nextInt(damaged.length) : damaged.length;
                try {
                    Maplet decoded = Maplet.decode(ByteBuffer.wrap(damaged, 0, length), "file", 9, extents -> () -> {});
                    long page = decoded.pageNumberOf(random.nextLong());
                    assertTrue(page >= -1, RERUN);
                } catch (CorruptionException expected) {
                    refused++;
                }
            }
            assertTrue(refused > 20_000, refused + " refused; " + RERUN);
        }
    }

    /** What merges make of it would be more than a builder takes, which stopped the store. */
    @Test
    void aDescriptorOfMoreEntriesThanAMapletMayHaveIsCorruption() {
        int pages = 200_000;
        int fingerprintBits = 36;
        int remainderBits = remainderBits(fingerprintBits, pages);
        for (long entries : new long[] {MapletBuilder.ENTRIES_MAX, MapletBuilder.ENTRIES_MAX + 1}) {
            ByteBuffer image = ByteBuffer.allocate(40_000).order(ByteOrder.LITTLE_ENDIAN);
            image.putLong(1).putInt(pages).put((byte) 1).put((byte) fingerprintBits).put((byte) remainderBits).put((byte) 0).putLong(0);
            image.putInt((int) entries);
            for (int extent = 0; extent < pages / PageLayout.EXTENT_PAGES; extent++) {
                image.putInt(extent);
            }
            image.flip();
            if (entries == MapletBuilder.ENTRIES_MAX) {
                assertEquals(entries, Maplet.decode(image, "file", 9, extents -> () -> {}).entries());
            } else {
                assertThrows(CorruptionException.class, () -> Maplet.decode(image, "file", 9, extents -> () -> {}));
            }
        }
    }

    private static int remainderBits(int fingerprintBits, int pages) {
        for (int bits = 1; bits < fingerprintBits; bits++) {
            if (MapletShape.problem(fingerprintBits, bits, 0, pages) == null) {
                return bits;
            }
        }
        throw new AssertionError("no shape of " + pages + " pages");
    }
}
