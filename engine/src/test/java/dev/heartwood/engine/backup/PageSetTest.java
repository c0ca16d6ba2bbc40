package dev.heartwood.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PageSetTest {
    private static final int SPACE = 400;
    /** Pages from here on lie beyond 8 TiB. */
    private static final long BEYOND_INTS = 1L << 31;

    private static PageSet copy(PageSet pages) {
        ImageWriter image = new ImageWriter();
        pages.putTo(image);
        return PageSet.readFrom(new ImageReader(image.toBytes()));
    }

    /** As a set of bits does, wherever in the file. */
    @Test
    void whatWasAddedIsThere() {
        long seed = Long.getLong("seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        for (long origin : new long[] {0, BEYOND_INTS - SPACE / 2, BEYOND_INTS}) {
            PageSet pages = new PageSet();
            BitSet model = new BitSet();
            for (int i = 0; i < 200; i++) {
                int first = random.nextInt(SPACE);
                int count = 1 + random.nextInt(8);
                boolean all = model.get(first) && model.nextClearBit(first) >= first + count;
                boolean any = model.nextSetBit(first) >= 0 && model.nextSetBit(first) < first + count;
                assertEquals(all, pages.containsAll(origin + first, count), "rerun with -Dseed=" + seed);
                assertEquals(any, pages.containsAny(origin + first, count), "rerun with -Dseed=" + seed);
                if (random.nextInt(3) == 0) {
                    pages.add(origin + first, count);
                    model.set(first, first + count);
                }
                assertEquals(model.cardinality(), pages.count(), "rerun with -Dseed=" + seed);
            }
            assertEquals(pages, copy(pages));
        }
    }

    @Test
    void pagesThatNoFileHasAreRefused() {
        byte[] image = new ImageWriter().putVarint(PageSet.PAGES_MAX - 1).putVarint(2).toBytes();
        assertThrows(MalformedImageException.class, () -> PageSet.readFrom(new ImageReader(image)));
        byte[] negative = new ImageWriter().putVarint(-1).putVarint(2).toBytes();
        assertThrows(MalformedImageException.class, () -> PageSet.readFrom(new ImageReader(negative)));
    }
}
