package dev.heartwood.engine.branch;

import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.ExtentReader;
import java.util.ArrayList;
import java.util.List;

/** The branches that one merge reads, oldest first, and the queue that reads them ahead. Belongs to one thread. */
public final class MergeInputs implements AutoCloseable {
    private static final int QUEUE_DEPTH = 64;

    /** Cursors that share the reader, each with one request at most. */
    private static final int SHARING_MAX = 48;

    private final int chunkPages;
    private final List<BranchCursor> cursors = new ArrayList<>();
    private ExtentReader reader;

    /** No inputs yet, each to be read {@code chunkPages} at once, a power of two up to an extent. */
    public MergeInputs(CachedFile file, int chunkPages) {
        this.chunkPages = chunkPages;
        try {
            reader = new ExtentReader(file, QUEUE_DEPTH);
        } catch (StoreException refused) {
            reader = null; // each cursor then sees for itself, and reads without a queue if it must
        }
    }

    /** Adds the entries of a branch in some ranges, disjoint and ascending; younger than all added before. */
    public void add(Branch branch, List<Span> ranges) {
        ExtentReader shared = cursors.size() < SHARING_MAX ? reader : null;
        cursors.add(null);
        // Which has a place then: on a full Java heap it would not be closed.
        cursors.set(cursors.size() - 1, BranchCursor.streaming(branch, ranges, chunkPages, shared));
    }

    /** Pages read so far that were found in the cache, about. */
    long cachedPages() {
        return reader == null ? 0 : reader.cachedPages();
    }

    /** All entries in order, to be walked from the first; back slowly. Closed with this. */
    public LargeValueCursor merged() {
        if (cursors.size() > 1) {
            cursors.forEach(BranchCursor::readFirstAhead);
        }
        return MergeCursor.of(cursors);
    }

    @Override
    public void close() {
        if (reader != null) {
            reader.close(); // what is under way goes into the cursors' memory
        }
        closeFrom(0);
    }

    /** Closes all cursors from one on, whatever happens with one of them. */
    private void closeFrom(int index) {
        if (index < cursors.size()) {
            try {
                if (cursors.get(index) != null) {
                    cursors.get(index).close();
                }
            } finally {
                closeFrom(index + 1);
            }
        }
    }
}
