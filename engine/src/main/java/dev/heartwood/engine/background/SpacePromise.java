package dev.heartwood.engine.background;

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
public final class SpacePromise {
    /** A memtable is promised its space in about so many steps, so that a store that is little written keeps little. */
    private static final int STEPS = 16;

    /** The file grows ahead by such a part of a memtable at a time. */
    private static final int AHEAD_SHARE = 4;

    /** Where the space of a store comes from. Thread-safe. */
    public static final class Space {
        private final ExtentAllocator extents;
        private final LongSupplier mergeExtentsAtMost;
        private final LongSupplier mergeExtents;
        private final LongSupplier memtableBytes;
        private volatile int forMerges;
        /** It is more than merges take. */
        private volatile boolean isAtMost;

        /**
         * @param mergeExtentsAtMost the same as the next one or more, at once; 0 where that is not known
         * @param mergeExtents walks the tree for the extents that merges of what is there, and the checkpoint after them, may take before they give as many back
         * @param memtableBytes what a memtable has when it is sealed, as a rule
         */
        public Space(
                ExtentAllocator extents, LongSupplier mergeExtentsAtMost, LongSupplier mergeExtents, LongSupplier memtableBytes) {
            this.extents = extents;
            this.mergeExtentsAtMost = mergeExtentsAtMost;
            this.mergeExtents = mergeExtents;
            this.memtableBytes = memtableBytes;
            lookAtTree();
        }

        /** Finds out what merges may take. The tree is walked for that, unless space is plenty, so who writes makes do with what was found last. */
        private synchronized void lookAtTree() {
            long most = mergeExtentsAtMost.getAsLong();
            isAtMost = most > 0;
            forMerges = count(isAtMost ? most : mergeExtents.getAsLong());
        }

        /** The same, whatever space there is. */
        private synchronized void walkTree() {
            isAtMost = false;
            forMerges = count(mergeExtents.getAsLong());
        }

        /** Whether there is so much space for so many extents more, and merges, that none need get blocks for those ahead. */
        private boolean isPlentyFor(long more) {
            return extents.hasForMerges(2 * (2 * more + forMerges));
        }

        private static int count(long extents) {
            return (int) Math.min(extents, Integer.MAX_VALUE / 2);
        }
    }

    private final Space space;
    private final Memtable memtable;
    // Guarded by this.
    private int promised;
    private long limit;
    private boolean ended;

    /** A promise for a memtable that may be new, or hold what a log replayed, for which extents are owed. */
    public SpacePromise(Space space, Memtable memtable) {
        this.space = space;
        this.memtable = memtable;
        this.limit = memtable.chunkBytes();
        if (limit > 0) {
            promised = extents(limit);
            space.extents.owe(promised);
        }
        memtable.limit(limit, false);
    }

    private static int extents(long bytes) {
        return (int) Trunk.packedExtents(bytes);
    }

    /** Whether the memtable takes no such entry before there is space for it, rather than for any other reason. */
    public boolean isWanted(long blockBytes, Promised to) {
        return isRefused(to) || memtable.limitWanted(blockBytes) > 0;
    }

    /** Whether there was space for deletes alone when some was wanted last, and the entry is none. */
    private boolean isRefused(Promised to) {
        return to == Promised.GROWTH && memtable.isForDeletes();
    }

    /**
     * As {@link #cover} where space is plenty: waits for nobody, and allocates nothing. Returns whether the memtable may take the entry now for
     * that.
     */
    public synchronized boolean tryCover(long blockBytes) {
        long wanted = memtable.limitWanted(blockBytes);
        if (ended || wanted == 0 || memtable.isForDeletes()) {
            return false;
        }
        long bytes = ahead(Math.max(limit, wanted));
        int more = Math.max(0, extents(bytes) - promised);
        boolean isPromised = space.extents.tryPromise(more, space.forMerges);
        if (isPromised) {
            promised(bytes, more, Promised.GROWTH);
        }
        return isPromised;
    }

    /** What is promised at once where so many bytes of records are wanted. */
    private long ahead(long wanted) {
        if (limit == 0) {
            return wanted;
        }
        return Math.max(wanted, Math.min(wanted + space.memtableBytes.getAsLong() / STEPS, memtable.bytesMax()));
    }

    /**
     * Has the memtable take an entry with a block of so many bytes.
     *
     * @param isShort whether space was short when some was wanted last, so that the tree has to be looked at
     * @throws NoSpaceException when there is no space for it; nothing has changed
     */
    public void cover(long blockBytes, Promised to, boolean isShort) {
        long bytes = Math.max(memtable.bytesMax(), memtable.limitWanted(blockBytes));
        if (isShort || space.isAtMost && !space.isPlentyFor(extents(bytes))) {
            space.walkTree();
        }
        coverAsSeen(blockBytes, to);
    }

    private synchronized void coverAsSeen(long blockBytes, Promised to) {
        if (ended) {
            return;
        }
        long wanted = Math.max(limit, memtable.limitWanted(blockBytes));
        try {
            promise(ahead(wanted), Promised.GROWTH, space.forMerges);
        } catch (NoSpaceException full) {
            if (to == Promised.GROWTH) {
                throw full;
            }
            promise(wanted, Promised.DELETES, space.forMerges);
        }
    }

    /**
     * As {@link #cover}, for deletes that may have what merges would need, too, since those free nothing without them.
     *
     * @throws NoSpaceException when there is no space for it; nothing has changed
     */
    public synchronized void coverWithLast(long blockBytes) {
        if (!ended) {
            promise(Math.max(limit, memtable.limitWanted(blockBytes)), Promised.DELETES, 0);
        }
    }

    private void promise(long bytes, Promised to, long left) {
        int more = Math.max(0, extents(bytes) - promised);
        space.extents.promise(more, to, left);
        promised(bytes, more, to);
    }

    private void promised(long bytes, int more, Promised to) {
        promised += more;
        limit = bytes;
        memtable.limit(bytes, to == Promised.DELETES);
    }

    /** Whether there is, or can be, as much space again as merges may take and memtables have been promised. */
    public boolean isAmple() {
        if (space.isAtMost) {
            space.walkTree();
        }
        try {
            space.extents.promise(0, Promised.GROWTH, 2L * space.forMerges + promised());
            return true;
        } catch (NoSpaceException full) {
            return false;
        }
    }

    private synchronized int promised() {
        return promised;
    }

    /**
     * For who packs the memtable: sees what merges may take by now, and where memtables fill, has room made on the device for the next one, so
     * that those who write to it need hardly wait for either.
     */
    void prepareNext() {
        space.lookAtTree();
        long full = space.memtableBytes.getAsLong();
        if (memtable.chunkBytes() >= full / 2) {
            space.extents.growAhead(extents(full / AHEAD_SHARE));
        }
    }

    /** The memtable is packed: what is left of its extents is for others. */
    synchronized void end() {
        if (!ended) {
            ended = true;
            space.extents.withdraw(promised);
        }
    }
}
