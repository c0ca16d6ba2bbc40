package dev.heartwood.engine.checkpoint;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;

/**
 * Page numbers as ranges of neighbours, in order: {@code [ranges varint]} and for each {@code [first page varint][pages varint]}. A node's
 * image fills one extent after the other, so that a range stands for up to 32 of its pages, and for more where extents are neighbours.
 */
final class PageRanges {
    /** No image has more pages. */
    static final int PAGES_MAX = 1 << 16;

    private static final long PAGE_MAX = 1L << 48;

    private PageRanges() {}

    static void encode(long[] pages, ImageWriter image) {
        int ranges = 0;
        for (int from = 0; from < pages.length; from = endOfRange(pages, from)) {
            ranges++;
        }
        image.putVarint(ranges);
        for (int from = 0, to; from < pages.length; from = to) {
            to = endOfRange(pages, from);
            image.putVarint(pages[from]).putVarint(to - from);
        }
    }

    private static int endOfRange(long[] pages, int from) {
        int to = from + 1;
        while (to < pages.length && pages[to] == pages[to - 1] + 1) {
            to++;
        }
        return to;
    }

    /** Reads {@link #encode} back; throws {@link MalformedImageException} on anything else. */
    static long[] decode(ImageReader image) {
        int ranges = image.getCount();
        long[] first = new long[ranges];
        int[] count = new int[ranges];
        int all = 0;
        for (int i = 0; i < ranges; i++) {
            first[i] = image.getVarint();
            count[i] = image.getCount(PAGES_MAX - all);
            all += count[i];
            if (count[i] == 0 || first[i] < 0 || first[i] > PAGE_MAX) {
                throw new MalformedImageException("a root on " + count[i] + " pages from " + first[i] + " on");
            }
        }
        long[] pages = new long[all];
        int page = 0;
        for (int i = 0; i < ranges; i++) {
            for (int k = 0; k < count[i]; k++) {
                pages[page++] = first[i] + k;
            }
        }
        return pages;
    }
}
