package dev.heartwood.engine.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.FormatTooNewException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SuperblocksTest {
    private static final long FAR = 1L << 34;

    /** Pages as a node's image has them: the rest of one extent, then whole ones wherever they are. */
    private static long[] pages(int count, long base) {
        Random random = new Random(count);
        long[] pages = new long[count];
        for (int i = 0; i < count; i++) {
            boolean isFirst = i == 0 || (pages[i - 1] + 1) % PageLayout.EXTENT_PAGES == 0;
            long extent = base / PageLayout.EXTENT_PAGES + random.nextInt(1 << 24);
            pages[i] = i == 0 ? base + 7 : isFirst ? extent * PageLayout.EXTENT_PAGES : pages[i - 1] + 1;
        }
        return pages;
    }

    private static Superblock superblock(int format, long[] rootPages) {
        return new Superblock(format, 5, 2, 3, 4, 9, rootPages, 1, StoreOptions.defaults().toString());
    }

    /** A root of 64 KiB keys has thousands of pages: named one by one they did not fit, and no checkpoint was made any more. */
    @Test
    void thePagesOfTheLargestRootFit() {
        ArrayDevice device = new ArrayDevice();
        try (MemoryPool pool = MemoryPool.open(1 << 20);
                Superblocks superblocks = new Superblocks(device, pool)) {
            for (int count : new int[] {0, 1, 32, 1300, 5000, 16500}) {
                Superblock written = superblock(FormatVersion.CURRENT.number(), pages(count, FAR));
                superblocks.write(written);
                Superblock read = superblocks.read();
                assertArrayEquals(written.rootPages(), read.rootPages());
                assertTrue(read.sameAs(written));
            }
        }
    }

    /** Whether the system still has to write it nobody can tell, but of the only one nothing is put at risk. */
    @Test
    void whatWasFoundIsWrittenOnceMoreUnlessItIsTheOnlyOne() {
        ArrayDevice device = new ArrayDevice();
        int[] writes = {0};
        try (MemoryPool pool = MemoryPool.open(1 << 20);
                Superblocks superblocks = new Superblocks(device, pool)) {
            superblocks.write(superblock(FormatVersion.CURRENT.number(), pages(1, FAR)));
            Superblock both = superblocks.read();
            byte[] found = device.block(Superblocks.FIRST_PAGE).clone();
            device.whileWriting = () -> {
                writes[0]++;
                device.block(Superblocks.FIRST_PAGE)[0]++;
            };
            superblocks.makeDurable(both);
            assertEquals(1, writes[0]);
            assertArrayEquals(found, device.block(Superblocks.FIRST_PAGE), "as it was");
            device.block(Superblocks.SECOND_PAGE)[100]++;
            superblocks.makeDurable(superblocks.read());
            assertEquals(1, writes[0], "the other is damaged");
        }
    }

    /** They were called damage, which the other copy was believed over, and which both had salvage advised for. */
    @Test
    void optionsOfALaterVersionAreNoDamageInWhicheverCopy() {
        Superblock own = superblock(FormatVersion.CURRENT.number(), pages(1, FAR));
        for (String line : new String[] {"colour = red", "fanout = 99", "policy = NONE_YET", "keyOrder = HASHED\ngroupSuffixBytes = 8", "colour"}) {
            Superblock later = new Superblock(
                    own.format(), own.storeId(), 7, 3, 4, 9, own.rootPages(), 1, own.options() + line + "\n");
            ArrayDevice device = new ArrayDevice();
            try (MemoryPool pool = MemoryPool.open(1 << 20);
                    Superblocks superblocks = new Superblocks(device, pool)) {
                superblocks.write(own);
                byte[] first = device.block(Superblocks.FIRST_PAGE).clone();
                byte[] second = device.block(Superblocks.SECOND_PAGE).clone();
                superblocks.write(later);
                refusesTooNew(superblocks, own.format(), line);
                byte[] laterFirst = device.block(Superblocks.FIRST_PAGE).clone();
                System.arraycopy(first, 0, device.block(Superblocks.FIRST_PAGE), 0, first.length);
                refusesTooNew(superblocks, own.format(), line);
                System.arraycopy(laterFirst, 0, device.block(Superblocks.FIRST_PAGE), 0, first.length);
                System.arraycopy(second, 0, device.block(Superblocks.SECOND_PAGE), 0, second.length);
                refusesTooNew(superblocks, own.format(), line);
                device.block(Superblocks.FIRST_PAGE)[100]++;
                assertTrue(superblocks.read().sameAs(own), "the other is damaged, whatever it said");
            }
        }
    }

    private static void refusesTooNew(Superblocks superblocks, int format, String line) {
        FormatTooNewException refused = assertThrows(FormatTooNewException.class, superblocks::read, line);
        assertEquals(format, refused.found());
        assertTrue(refused.getMessage().contains("a later one has written it: "), refused.getMessage());
        assertThrows(FormatTooNewException.class, superblocks::copies, line);
    }

    @Test
    void superblocksOfOlderFormatsNamePagesOneByOne() {
        for (int format = 1; format <= FormatVersion.CURRENT.number(); format++) {
            Superblock written = superblock(format, pages(40, 64));
            Superblock read = Superblock.decode(written.encode());
            assertArrayEquals(written.rootPages(), read.rootPages());
            assertEquals(written.options(), read.options());
            int rangesSpare = format < FormatVersion.V4.number() ? 0 : 40 / 2;
            assertTrue(written.encode().length <= superblock(1, pages(40, 64)).encode().length - rangesSpare);
        }
    }

    @Test
    void rangesThatCannotBeAreRefused() {
        for (long[] image : new long[][] {
            {1, 7, 0}, {1, -1, 1}, {1, 1L << 49, 1}, {1, 7, PageRanges.PAGES_MAX + 1}, {2, 7, PageRanges.PAGES_MAX, 9, 1}, {1, 7, -1}, {9, 7, 1}
        }) {
            ImageWriter writer = new ImageWriter();
            for (long number : image) {
                writer.putVarint(number);
            }
            assertThrows(MalformedImageException.class, () -> PageRanges.decode(new ImageReader(writer.toBytes())));
        }
    }
}
