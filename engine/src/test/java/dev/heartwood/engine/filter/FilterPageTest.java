package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FilterPageTest {
    private static final long SEED = Long.getLong("heartwood.seed", 5);
    private static final String RERUN = "rerun: -Dtest=FilterPageTest -Dheartwood.seed=" + SEED;

    /** Fills the page with the first {@code entries} multiples of {@code step}, each with two values. */
    private static void fill(long page, MapletShape shape, int entries, long step) {
        FilterPageWriter writer = new FilterPageWriter(shape);
        writer.begin(page);
        for (int i = 0; i < entries && shape.page(i * step) == 0; i++) {
            writer.add(shape.place(i * step), 1 | 1L << (i & shape.valueMask));
        }
        writer.finish();
        PageSeal.seal(page, PageType.FILTER, 1, 2, 3);
    }

    @Test
    void aPageHasTheseBytes() {
        MapletShape shape = new MapletShape(20, 9, 3, 1);
        assertEquals(35, shape.blocks);
        assertEquals(113, shape.blockBytes);
        try (MemoryPool pool = MemoryPool.open(PageLayout.PAGE_BYTES)) {
            long page = pool.allocate(PageLayout.PAGE_BYTES);
            fill(page, shape, 1050, 998);
            assertEquals(GOLDEN_HEAD, hex(page + FilterLayout.BLOCKS, 64));
            assertEquals(GOLDEN_TRAILER, hex(page + FilterLayout.TRAILER, 8));
            assertEquals(GOLDEN_CHECKSUM, Crc32c.of(page, PageLayout.PAGE_BYTES));
        }
    }

    private static final String GOLDEN_HEAD = "5555aaaa5455aaaaa9aa5255a5aa4c550000000018922138a44350366570488788"
            + "daa8a8eccac07eec00000e0000300183511a85733b07955409b7758bd88e8d";
    private static final String GOLDEN_TRAILER = "14090300b0070000";
    private static final int GOLDEN_CHECKSUM = 827162802;

    /** Whatever a page holds, the region check of Memory sees no access outside it and every walk ends. */
    @Test
    void noContentsLeadOutOfThePage() {
        SplittableRandom random = new SplittableRandom(SEED);
        int refusedLookups = 0;
        int refusedWalks = 0;
        try (MapletFixture fixture = new MapletFixture();
                MemoryPool pool = MemoryPool.open(PageLayout.PAGE_BYTES)) {
            long page = pool.allocate(PageLayout.PAGE_BYTES);
            for (int round = 0; round < 1000; round++) {
                MapletShape shape = shape(random);
                fill(
                        page,
                        shape,
                        random.nextInt(shape.blocks * 24),
                        Math.max(1, (shape.fingerprintMask + 1) / shape.pages / (shape.blocks * 24)));
                damage(random, page);
                for (int i = 0; i < 100; i++) {
                    try {
                        long place = shape.place(random.nextLong() & shape.fingerprintMask);
                        FilterPage.lookup(page, shape, fixture.file, place);
                    } catch (CorruptionException expected) {
                        refusedLookups++;
                    }
                }
                refusedWalks += walk(fixture, page, shape);
            }
        }
        assertTrue(refusedLookups > 1000 && refusedWalks > 800, refusedLookups + ", " + refusedWalks + "; " + RERUN);
    }

    private static MapletShape shape(SplittableRandom random) {
        int valueBits = random.nextInt(7);
        return new MapletPlan(1 << random.nextInt(4, 12), valueBits, random.nextInt(41), 40).shape(1);
    }

    private static void damage(SplittableRandom random, long page) {
        if (random.nextInt(4) == 0) {
            for (int i = PageLayout.BODY; i < FilterLayout.TRAILER; i++) {
                Memory.putByte(page + i, random.nextInt(3) == 0 ? -1 : random.nextInt());
            }
        }
        for (int flips = random.nextInt(1, 60); flips > 0; flips--) {
            long address = page + random.nextInt(PageLayout.BODY, FilterLayout.TRAILER);
            Memory.putByte(address, Memory.getByte(address) ^ 1 << random.nextInt(8));
        }
    }

    private static int walk(MapletFixture fixture, long page, MapletShape shape) {
        FilterPageReader reader = new FilterPageReader(shape, fixture.file);
        try {
            reader.begin(page, 0);
            int entries = 0;
            while (reader.next()) {
                assertTrue(++entries <= shape.slots, RERUN);
            }
            return 0;
        } catch (CorruptionException expected) {
            return 1;
        }
    }

    private static String hex(long address, int length) {
        return HexFormat.of().formatHex(Memory.bytes(address, length));
    }
}
