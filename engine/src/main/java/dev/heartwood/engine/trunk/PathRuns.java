package dev.heartwood.engine.trunk;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/** Cursors over the active runs on a path, with the memory that they are lent. Belongs to one thread at a time. */
final class PathRuns implements AutoCloseable {
    private final MemoryPool pool;
    private final ArrayList<BranchCursor> oldestFirst = new ArrayList<>(0);
    private long memory;
    private long memoryBytes;

    /** No runs. */
    PathRuns(MemoryPool pool) {
        this.pool = pool;
    }

    /** Opens the runs of a path, if there is memory for them now; nothing is open. */
    boolean tryOpen(TreePath path) {
        long bytes = bytes(path);
        long address = bytes == 0 ? 0 : pool.allocate(bytes);
        if (bytes != 0 && address == 0) {
            return false;
        }
        open(path, address);
        return true;
    }

    /** As {@link #tryOpen}, and waits for memory while others give some back. */
    void open(TreePath path) {
        open(path, allocate(pool, bytes(path)));
    }

    private static long bytes(TreePath path) {
        return (long) path.runCount() * BranchCursor.LENT_BYTES;
    }

    private void open(TreePath path, long lent) {
        memory = lent;
        memoryBytes = bytes(path);
        // Grows before there is anything to add: on a full Java heap that would not be closed.
        oldestFirst.ensureCapacity(path.runCount());
        for (int i = path.runCount() - 1; i >= 0; i--) {
            long ofRun = lent + (long) i * BranchCursor.LENT_BYTES;
            oldestFirst.add(BranchCursor.scanning(path.run(i).branch(), path.span(i), path.isExact(i), ofRun));
        }
    }

    List<? extends EntryCursor> oldestFirst() {
        return oldestFirst;
    }

    /** How many reads of large values they have begun, about. */
    int largeReads() {
        int reads = 0;
        for (BranchCursor run : oldestFirst) {
            reads += run.largeReads();
        }
        return reads;
    }

    /** Keeps the pages that the runs stand on, but no memory for their keys, which are not asked for any more. */
    void forgetKeys() {
        oldestFirst.forEach(BranchCursor::forgetKey);
    }

    /** Memory from the pool that calls and cursors share, waited for while others give some back. */
    static long allocate(MemoryPool pool, long bytes) {
        long address = pool.allocatePatiently(bytes);
        if (address == 0) {
            throw new InsufficientMemoryException("no " + bytes + " bytes left for a cursor of the " + pool.capacity()
                    + " that the memory budget has for calls and cursors");
        }
        return address;
    }

    /** Closes the runs; others may be opened then. Idempotent. */
    @Override
    public void close() {
        oldestFirst.forEach(EntryCursor::close);
        oldestFirst.clear();
        if (memory != 0) {
            pool.free(memory, memoryBytes);
            memory = 0;
        }
    }
}
