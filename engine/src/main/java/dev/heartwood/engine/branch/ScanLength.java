package dev.heartwood.engine.branch;

import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many pages a scan takes of one branch, on average, lately: of its leaves, or of its large values. Thread-safe: a guess, of which concurrent
 * updates may be lost.
 */
final class ScanLength {
    private static final int UNIT_SHIFT = 4;
    private static final int WEIGHT_SHIFT = 3;
    /** A short scan often ends in its second leaf, and a read of two pages takes a device hardly longer than one of a single page. */
    private static final int PAGES_AT_FIRST = 2;

    private static final int UNKNOWN = 0;

    /** The average in sixteenths of a page. */
    private final AtomicInteger average = new AtomicInteger(UNKNOWN);

    /** Notes a scan that has ended. */
    void add(int pages) {
        int scan = Math.min(pages, PageLayout.EXTENT_PAGES) << UNIT_SHIFT;
        int before = average.getOpaque();
        average.setOpaque(before == UNKNOWN ? scan : before + (scan - before >> WEIGHT_SHIFT));
    }

    /** The pages that the next scan is expected to take, from 1 to an extent's. */
    int pages() {
        int known = average.getOpaque();
        return known == UNKNOWN ? PAGES_AT_FIRST : Math.max(1, known + (1 << UNIT_SHIFT - 1) >> UNIT_SHIFT);
    }
}
