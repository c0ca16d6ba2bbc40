package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
            long number = shape.number(i * step);
            writer.add(shape.homeOf(number, 0), shape.remainderOf(number), 1 | 1L << (i & shape.valueMask));
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
        try {
            read(fixture, page, shape);
            return 0;
        } catch (CorruptionException expected) {
            return 1;
        }
    }

    /** Reads a page: what comes is as it should be, and nothing is written behind the room for a block. */
    private static void read(MapletFixture fixture, long page, MapletShape shape) {
        FilterPageReader reader = new FilterPageReader(shape, fixture.file);
        long blockBytes = FilterPageReader.BLOCK_ENTRIES_MAX * (long) Entry.BYTES;
        long block = fixture.pool.allocate(blockBytes + Entry.BYTES);
        Memory.putLong(block + blockBytes, -1);
        try {
            reader.begin(page, 0);
            long last = -1;
            int number = 0;
            for (int found = reader.readBlock(block); found >= 0; found = reader.readBlock(block)) {
                for (int i = 0; i < found; i++) {
                    long entry = Memory.getLong(block + (long) i * Entry.BYTES);
                    assertTrue(entry > last, RERUN);
                    last = entry;
                    long fingerprint = Entry.fingerprint(entry);
                    assertTrue(fingerprint <= shape.fingerprintMask && shape.page(fingerprint) == 0, RERUN);
                    assertEquals(number, shape.block(shape.place(fingerprint)), RERUN);
                    assertTrue(isStored(page, shape, fingerprint), RERUN);
                }
                number++;
            }
            assertEquals(shape.blocks, number, RERUN);
        } finally {
            assertEquals(-1, Memory.getLong(block + blockBytes), RERUN);
            fixture.pool.free(block, blockBytes + Entry.BYTES);
        }
    }

    /** Whether a slot of the page has the remainder of a fingerprint. */
    private static boolean isStored(long page, MapletShape shape, long fingerprint) {
        long remainder = shape.remainder(shape.place(fingerprint));
        for (int slot = 0; slot < shape.slots; slot++) {
            if (FilterPage.entry(page, shape, slot) >>> shape.valueBits == remainder) {
                return true;
            }
        }
        return false;
    }

    @Test
    void aRunWithoutAnEndIsDamageAndNotRead() {
        MapletShape shape = new MapletPlan(1500, 0, 0, 40).shape(1);
        try (MapletFixture fixture = new MapletFixture();
                MemoryPool pool = MemoryPool.open(PageLayout.PAGE_BYTES)) {
            long page = pool.allocate(PageLayout.PAGE_BYTES);
            fill(page, shape, 1, 1);
            // Ascending entries of the first quotient, more than a block can have, in slots that follow each other.
            long step = (1L << shape.quotientShift) / shape.pages / shape.blocks / 500;
            for (int slot = 0; slot < 500; slot++) {
                long slots = FilterPage.blockAddress(page, shape, slot >>> FilterLayout.BLOCK_SHIFT) + FilterLayout.SLOTS;
                long bit = (long) (slot & 63) * shape.entryBits;
                long address = slots + (bit >>> 3);
                long remainder = shape.remainderOf(shape.number(slot * step));
                Memory.putLong(address, Memory.getLong(address) | remainder << (bit & 7));
            }
            for (int block = 0; block < 8; block++) {
                Memory.putLong(FilterPage.blockAddress(page, shape, block) + FilterLayout.RUN_ENDS, 0);
            }
            CorruptionException damage = assertThrows(CorruptionException.class, () -> read(fixture, page, shape));
            assertTrue(damage.getMessage().contains("319 slots"), damage.getMessage());
        }
    }

    private static String hex(long address, int length) {
        return HexFormat.of().formatHex(Memory.bytes(address, length));
    }
}
