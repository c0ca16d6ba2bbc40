package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.VALUE_OVERFLOWS;

import dev.heartwood.engine.page.PageLayout;

/** Starts reading the large values that a cursor going forward will come to. Belongs to one thread. */
final class LargeValuesAhead {
    /*
     * The leaf says where the values of the next entries lie, so what is asked for is what will be needed, as few reads as their
     * places allow and all at once. A cursor that takes one value after the other is taken to go on as far as it has come, or as far as
     * scans of the branch have taken lately: each time that it has used half of what it asked for, it asks for as much.
     */
    private static final int WINDOW_BYTES_MIN = 16 << 10;
    private static final int WINDOW_BYTES_MAX = PageLayout.EXTENT_BYTES;

    /** Of one value. */
    private static final int VALUE_PAGES_MAX = 2 * PageLayout.EXTENT_PAGES;

    /** Reads begun at once. */
    private static final int STRETCHES_MAX = 8;

    /** Pages between two values that are read along, since one long read is cheaper than two. */
    private static final int GAP_PAGES_MAX = 2;

    private final Branch branch;
    private final boolean isScan;
    private int leaf = -1;
    /** The last entry whose value was taken, and the bytes of those before it without a jump. */
    private int taken;

    private long takenBytes;
    /** The entry at which more is asked for, and the one behind those asked for. */
    private int askAt;

    private int askedTo;
    /** The pages of a group that the next read takes. */
    private OverflowGroup group;

    private int firstPage;
    private int endPage;
    private int stretches;
    private int reads;

    /** For a cursor that scans, or one that merges. */
    LargeValuesAhead(Branch branch, boolean isScan) {
        this.branch = branch;
        this.isScan = isScan;
    }

    /** How many reads of the device were begun, about. */
    int reads() {
        return reads;
    }

    /**
     * The value of an entry of a leaf is taken, the next ones may be.
     *
     * @param page the leaf, and {@code leafNumber} its number in the branch
     * @param limit behind the last entry whose value can be taken
     */
    void take(long page, int leafNumber, int index, int limit, int valueBytes) {
        if (leafNumber == leaf && index == taken) {
            return; // once more
        }
        boolean goesOn = leafNumber == leaf ? index == taken + 1 : leafNumber == leaf + 1;
        boolean goesBack = leafNumber == leaf && index == taken - 1;
        if (!goesOn) {
            end();
        }
        if (!goesOn || leafNumber != leaf) {
            leaf = leafNumber;
            askAt = index;
            askedTo = index;
        }
        taken = index;
        if (index >= askAt && askedTo < limit && !goesBack) {
            ask(page, limit, windowBytes());
            askAt = index + (askedTo - index + 1) / 2;
        }
        takenBytes += valueBytes;
    }

    /** The values that were taken one after the other were a scan, which has ended; what merges take says nothing about scans. */
    void end() {
        if (takenBytes > 0 && isScan) {
            long pages = takenBytes + PageLayout.PAGE_BYTES - 1 >>> PageLayout.PAGE_SHIFT;
            branch.largeScanLength.add((int) Math.min(pages, PageLayout.EXTENT_PAGES));
        }
        takenBytes = 0;
    }

    private long windowBytes() {
        long expected = (long) branch.largeScanLength.pages() << PageLayout.PAGE_SHIFT;
        return Math.clamp(Math.max(takenBytes, expected - takenBytes), WINDOW_BYTES_MIN, WINDOW_BYTES_MAX);
    }

    private void ask(long page, int limit, long windowBytes) {
        int count = KeyedPage.count(page);
        long bytes = 0;
        stretches = 0;
        while (askedTo < limit && bytes < windowBytes && stretches < STRETCHES_MAX) {
            int bounds = KeyedPage.bounds(page, count, askedTo);
            if ((KeyedPage.meta(page, bounds) & VALUE_OVERFLOWS) != 0) {
                bytes += include(page, bounds);
            }
            askedTo++;
        }
        read();
    }

    private long include(long page, int bounds) {
        int reference = KeyedPage.valueOffset(page, bounds, KeyedPage.keyField(page, bounds));
        OverflowGroup of = KeyedPage.group(page, reference, bounds & 0xffff, branch);
        int length = KeyedPage.valueReferenceLength(page, reference, of);
        long position = KeyedPage.referencePosition(page + reference);
        int first = OverflowGroup.pageOf(position);
        int last = OverflowGroup.pageOf(position + length - 1);
        boolean joins = of == group && first >= firstPage && first <= endPage + GAP_PAGES_MAX;
        if (!joins) {
            read();
            group = of;
            firstPage = first;
            endPage = first;
        }
        // Of a larger value the beginning: who reads it reads ahead by himself, and all of it might take the whole cache.
        endPage = Math.max(endPage, Math.min(last + 1, first + VALUE_PAGES_MAX));
        return length;
    }

    private void read() {
        if (group != null) {
            reads += group.isCached(firstPage) ? 0 : 1;
            group.prefetch(firstPage, endPage);
            stretches++;
            group = null;
        }
    }
}
