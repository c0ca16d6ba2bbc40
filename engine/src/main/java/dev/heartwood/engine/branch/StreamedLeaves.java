package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.CONTINUED_GROUP_PAGES;

import dev.heartwood.StoreException;
import dev.heartwood.engine.cache.ExtentReader;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Leaves read a chunk at a time into buffers of the cursor's own, one chunk ahead, past the cache; for merges. */
final class StreamedLeaves implements LeafSource {
    /*
     * A chunk is the leaves of one extent, or of an aligned part of it, that lie in one range. While the cursor is in one chunk the
     * next is read into the other buffer, once there is a next; and the first, when that is announced. Without memory or a queue for that,
     * chunks are read when they are needed.
     */
    private static final int QUEUE_DEPTH = 4;
    private static final int NO_REQUEST = -1;

    private final Branch branch;
    private final LeafRanges ranges;
    private final int chunkPages;
    private final long bufferBytes;
    private long buffer;
    private int first;
    private int count;

    private long aheadBuffer;
    private int aheadFirst;
    private int aheadCount;
    private int request = NO_REQUEST;
    private ExtentReader reader;
    private boolean ownsReader;
    private boolean withoutAhead;

    /**
     * Leaves of some ranges.
     *
     * @param chunkPages how much is read at once: a power of two, up to an extent
     * @param reader shared by the cursors of one thread, or null for one of its own
     */
    StreamedLeaves(Branch branch, LeafRanges ranges, int chunkPages, ExtentReader reader) {
        assert Integer.bitCount(chunkPages) == 1 && chunkPages <= PageLayout.EXTENT_PAGES;
        this.branch = branch;
        this.ranges = ranges;
        this.reader = reader;
        int pages = Math.clamp(ranges.leaves() + 1L, Math.min(chunkPages, CONTINUED_GROUP_PAGES), chunkPages);
        this.chunkPages = Integer.highestOneBit(2 * pages - 1);
        this.bufferBytes = (long) this.chunkPages << PageLayout.PAGE_SHIFT;
        this.buffer = PageStream.allocate(branch.storage.mergePool(), bufferBytes);
    }

    @Override
    public long open(int leaf, int lastLeaf) {
        if (leaf < first || leaf >= first + count) {
            turnTo(leaf, lastLeaf);
        }
        return pageAddress(leaf);
    }

    private long pageAddress(int leaf) {
        return buffer + ((long) (leaf - first) << PageLayout.PAGE_SHIFT);
    }

    @Override
    public boolean isAbsent(int leaf) {
        return leaf < first || leaf >= first + count;
    }

    /** Starts reading the first chunk; later ones are read ahead as the cursor comes to them. */
    @Override
    public void readAhead(int leaf, int lastLeaf) {
        if (count == 0 && request == NO_REQUEST && canReadAhead()) {
            beginAhead(leaf, lastLeaf);
        }
    }

    @Override
    public void readAheadBack(int leaf) {
        readAhead(leaf, leaf);
    }

    @Override
    public long openContinuation(int leaf) {
        if (!isAbsent(leaf)) {
            return pageAddress(leaf);
        }
        // Only where less is read at once than values go on within.
        long page = PageStream.allocate(branch.storage.mergePool(), PageLayout.PAGE_BYTES);
        try {
            branch.storage.file().readExtent(devicePage(leaf), 1, page, PageType.BRANCH_LEAF, branch.id);
        } catch (Throwable e) {
            branch.storage.mergePool().free(page, PageLayout.PAGE_BYTES);
            throw e;
        }
        return page;
    }

    @Override
    public void closeContinuation(long page) {
        if (page < buffer || page >= buffer + bufferBytes) {
            branch.storage.mergePool().free(page, PageLayout.PAGE_BYTES);
        }
    }

    private void turnTo(int leaf, int lastLeaf) {
        if (request != NO_REQUEST) {
            finishAhead();
            if (leaf >= aheadFirst && leaf < aheadFirst + aheadCount) {
                long finished = aheadBuffer;
                aheadBuffer = buffer;
                buffer = finished;
                first = aheadFirst;
                count = aheadCount;
                beginAhead();
                return;
            }
        }
        boolean goesBack = leaf < first;
        int begin = goesBack ? leaf & -chunkPages : leaf;
        int end = goesBack ? leaf + 1 : chunkEnd(leaf, lastLeaf);
        count = 0;
        read(begin, end - begin);
        first = begin;
        count = end - begin;
        if (!goesBack) {
            beginAhead();
        }
    }

    private void read(int leaf, int leaves) {
        if (reader != null) {
            reader.finish(reader.begin(devicePage(leaf), leaves, buffer, PageType.BRANCH_LEAF, branch.id));
        } else {
            branch.storage.file().readExtent(devicePage(leaf), leaves, buffer, PageType.BRANCH_LEAF, branch.id);
        }
    }

    /** Behind what is read at once from a leaf on, in a range that ends with {@code lastLeaf}, whose last value may go on in the next. */
    private int chunkEnd(int leaf, int lastLeaf) {
        int chunkEnd = (leaf | chunkPages - 1) + 1;
        return Math.min(chunkEnd, Math.min(lastLeaf + 2, branch.leafPages()));
    }

    private long devicePage(int leaf) {
        return branch.devicePage(leaf);
    }

    private void beginAhead() {
        int after = first + count;
        int range = 0;
        while (range < ranges.count() && ranges.lastLeaf(range) < after) {
            range++;
        }
        if (range == ranges.count() || !canReadAhead()) {
            return;
        }
        beginAhead(Math.max(after, ranges.firstLeaf(range)), ranges.lastLeaf(range));
    }

    private void beginAhead(int leaf, int lastLeaf) {
        aheadFirst = leaf;
        aheadCount = chunkEnd(leaf, lastLeaf) - leaf;
        request = reader.begin(devicePage(aheadFirst), aheadCount, aheadBuffer, PageType.BRANCH_LEAF, branch.id);
    }

    private boolean canReadAhead() {
        if (withoutAhead) {
            return false;
        }
        if (aheadBuffer == 0) {
            aheadBuffer = branch.storage.mergePool().allocate(bufferBytes);
        }
        if (reader == null) {
            openReader();
        }
        withoutAhead = aheadBuffer == 0 || reader == null;
        return !withoutAhead;
    }

    /** A queue is a comfort: where the system refuses one, the merge goes on without. */
    private void openReader() {
        try {
            reader = new ExtentReader(branch.storage.file(), QUEUE_DEPTH);
            ownsReader = true;
        } catch (StoreException refused) {
            reader = null;
        }
    }

    private void finishAhead() {
        int finished = request;
        request = NO_REQUEST;
        reader.finish(finished);
    }

    @Override
    public void close() {
        if (buffer == 0) {
            return;
        }
        if (ownsReader) {
            reader.close();
        } else if (request != NO_REQUEST) {
            reader.abandon(request);
        }
        branch.storage.mergePool().free(buffer, bufferBytes);
        if (aheadBuffer != 0) {
            branch.storage.mergePool().free(aheadBuffer, bufferBytes);
        }
        buffer = 0;
    }
}
