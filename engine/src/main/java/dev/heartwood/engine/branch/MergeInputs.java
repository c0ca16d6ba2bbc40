package dev.heartwood.engine.branch;

import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.ExtentReader;
import dev.heartwood.engine.device.IoQueue;
import java.util.ArrayList;
import java.util.List;

/** The branches that one merge reads, oldest first, and the queue that reads them ahead. Belongs to one thread. */
public final class MergeInputs implements AutoCloseable {
    private static final int QUEUE_DEPTH = 64;

    /** Cursors that share the reader, each with one request at most. */
    private static final int SHARING_MAX = 48;

    private final int chunkPages;
    private final List<BranchCursor> cursors = new ArrayList<>();
    private IoQueue queue;
    private ExtentReader reader;

    /** No inputs yet, each to be read {@code chunkPages} at once, a power of two up to an extent. */
    public MergeInputs(CachedFile file, int chunkPages) {
        this.chunkPages = chunkPages;
        try {
            queue = file.device().newQueue(QUEUE_DEPTH);
            reader = new ExtentReader(file, queue);
        } catch (StoreException refused) {
            reader = null; // each cursor then sees for itself, and reads without a queue if it must
        } catch (RuntimeException | Error e) {
            if (queue != null) {
                queue.close(); // a full Java heap; the queue would keep the file open
            }
            throw e;
        }
    }

    /** Adds the entries of a branch in some ranges, disjoint and ascending; younger than all added before. */
    public void add(Branch branch, List<Span> ranges) {
        ExtentReader shared = cursors.size() < SHARING_MAX ? reader : null;
        cursors.add(BranchCursor.streaming(branch, ranges, chunkPages, shared));
    }

    /** Pages read so far that were found in the cache, about. */
    long cachedPages() {
        return reader == null ? 0 : reader.cachedPages();
    }

    /** All entries in order, to be walked from the first; closed with this. */
    public LargeValueCursor merged() {
        if (cursors.size() > 1) {
            cursors.forEach(BranchCursor::readFirstAhead);
        }
        return MergeCursor.of(cursors);
    }

    @Override
    public void close() {
        try {
            cursors.forEach(BranchCursor::close);
        } finally {
            if (queue != null) {
                queue.close();
            }
        }
    }
}
