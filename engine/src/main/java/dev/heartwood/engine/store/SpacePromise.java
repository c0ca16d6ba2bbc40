package dev.heartwood.engine.store;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.trunk.Trunk;
import java.util.function.LongSupplier;

/**
 * The extents that are kept for a memtable until it is packed, and what it may take in for them: so that what was accepted always finds
 * space. A memtable, whose records have headers of their own, takes less than its bytes as a rule once it is packed, maplet included. What takes
 * more (keys that leave much of their pages empty) is taken from what was to be left for others. Thread-safe.
 */
final class SpacePromise {
    /** A memtable is promised its space in about so many steps, so that a store that is little written keeps little. */
    private static final int STEPS = 16;

    /**
     * Where the space of a store comes from.
     *
     * @param mergeExtents extents that merges of what is in the tree, and the checkpoint after them, may take before they give as many back
     */
    record Space(ExtentAllocator extents, LongSupplier mergeExtents, long memtableBytes) {
        private int extentsForMerges() {
            return (int) Math.min(mergeExtents.getAsLong(), Integer.MAX_VALUE / 2);
        }
    }

    private final Space space;
    private final Memtable memtable;
    private volatile boolean isForDeletes;
    // Guarded by this.
    private int promised;
    private long limit;
    private boolean ended;

    /** A promise for a memtable that may be new, or hold what a log replayed, for which extents are owed. */
    SpacePromise(Space space, Memtable memtable) {
        this.space = space;
        this.memtable = memtable;
        this.limit = memtable.chunkBytes();
        if (limit > 0) {
            promised = extents(limit);
            space.extents().owe(promised);
        }
        memtable.limit(limit);
    }

    private static int extents(long bytes) {
        return (int) Trunk.packedExtents(bytes);
    }

    /** Whether the memtable takes no such entry before there is space for it, rather than for any other reason. */
    boolean isWanted(long blockBytes, Promised to) {
        return isRefused(to) || memtable.limitWanted(blockBytes) > 0;
    }

    /** Whether there was space for deletes alone when some was wanted last, and the entry is none. */
    boolean isRefused(Promised to) {
        return isForDeletes && to == Promised.GROWTH;
    }

    /**
     * Has the memtable take an entry with a block of so many bytes.
     *
     * @throws NoSpaceException when there is no space for it; nothing has changed
     */
    synchronized void cover(long blockBytes, Promised to) {
        if (ended) {
            return;
        }
        long wanted = Math.max(limit, memtable.limitWanted(blockBytes));
        int left = space.extentsForMerges();
        try {
            cover(Math.max(wanted, Math.min(wanted + space.memtableBytes() / STEPS, space.memtableBytes())), Promised.GROWTH, left);
        } catch (NoSpaceException full) {
            if (to == Promised.GROWTH) {
                throw full;
            }
            cover(wanted, Promised.DELETES, left);
        }
    }

    /**
     * As {@link #cover}, for deletes that may have what merges would need, too, since those free nothing without them.
     *
     * @throws NoSpaceException when there is no space for it; nothing has changed
     */
    synchronized void coverWithLast(long blockBytes) {
        if (!ended) {
            cover(Math.max(limit, memtable.limitWanted(blockBytes)), Promised.DELETES, 0);
        }
    }

    private void cover(long bytes, Promised to, int left) {
        int more = Math.max(0, extents(bytes) - promised);
        space.extents().promise(more, to, left);
        promised += more;
        limit = bytes;
        isForDeletes = to == Promised.DELETES;
        memtable.limit(bytes);
    }

    /** Whether there is, or can be, as much space again as merges may take and memtables have been promised. */
    boolean isAmple() {
        try {
            space.extents().promise(0, Promised.GROWTH, 2 * space.extentsForMerges() + promised());
            return true;
        } catch (NoSpaceException full) {
            return false;
        }
    }

    private synchronized int promised() {
        return promised;
    }

    /** The memtable is packed: what is left of its extents is for others. */
    synchronized void end() {
        if (!ended) {
            ended = true;
            space.extents().withdraw(promised);
        }
    }
}
