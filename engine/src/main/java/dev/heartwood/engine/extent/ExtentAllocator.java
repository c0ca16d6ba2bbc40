package dev.heartwood.engine.extent;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.page.PageLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;

/** Hands out the extents of one data file, the lowest free one first, and grows the file when it must. Thread-safe. */
public final class ExtentAllocator {
    /*
     * A bitmap, one bit per extent, and the lowest word that may have a clear bit. Low extents first keeps the file short and
     * its used part dense.
     *
     * What memtables will take when they are packed is promised to them before they take it in, so that no packing is without space. A promise
     * for what the store grows by is made only while there is as much again, since what was packed is merged on before it is free, and what
     * merges take for what was packed before, which its caller knows. Beside all of that a reserve is left, for deletes alone. Those leave to
     * merges what they take as long as anything frees some, and then nothing: a merge takes less the more is deleted.
     *
     * What is promised and the reserve are extents that have their blocks, the reserve until free space is given back to the file system. So is
     * the rest where the file system has not much more: what it has others may take. The file grows before it runs out of such extents, by an eighth of its length, 1 MiB to 64 MiB, after free
     * extents without blocks have been given theirs again. When that cannot be done, what would grow the store is refused while compaction
     * and deletes go on with what is left. A refusal is not remembered but for which extents are holes: the next request asks the file system
     * again, so the store heals once there is room.
     *
     * Growing happens under the lock, but for that ahead of use: whoever needs an extent has to wait for it anyway. So does giving a hole its
     * blocks again; where there is no room for that, the lowest extent that has its blocks is handed out instead.
     */
    private static final int STEP_EXTENTS_MIN = (1 << 20) / PageLayout.EXTENT_BYTES;
    private static final int STEP_EXTENTS_MAX = (64 << 20) / PageLayout.EXTENT_BYTES;
    private static final int STEP_SHIFT = 3;
    private static final int RESERVE_EXTENTS_MIN = 4;
    private static final int RESERVE_EXTENTS_MAX = 256;
    private static final int RESERVE_SHIFT = 5;
    /** Of a file of a few MiB, which should be no longer than it must, a sixteenth. */
    private static final int RESERVE_SHIFT_SMALL = 4;

    private static final int RESERVE_EXTENTS_LEAST = 2;

    /** Extents without blocks are as good as those that have theirs when the file system has so many times what is wanted of them. */
    private static final int AVAILABLE_TIMES = 2;

    private final BlockDevice device;
    private final int extentsMax;
    /** What the file had room for at first, which may be more than the most it may grow to. */
    private final int extentsFound;
    private final int firstExtent;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private long[] used = new long[1];
    private int lowestWord;
    private int allocated;
    private int fileExtents;
    /** Free extents without blocks, or, where there are no such, whose contents were given back. */
    private final BitSet holes = new BitSet();
    /** Extents known to have blocks, all that are in use among them. What this life of the file did not make or use may be a hole of an earlier one. */
    private final BitSet backed = new BitSet();

    private int backedCount;
    private int promised;
    /** Of what was promised, what the packing under way has taken. */
    private int packed;
    /** Left alone by merges beside the reserve. */
    private int forCheckpoint;

    /** What the file system had when it was asked last, in extents. */
    private long availableSeen;

    /**
     * An allocator in whose file nothing is allocated yet.
     *
     * @param maxBytes the most that the file may grow to; where more is in use, or lies beyond, it stays, and growth is promised once it is less
     * @param firstExtent the first extent that may be handed out
     */
    public ExtentAllocator(BlockDevice device, long maxBytes, long firstExtent) {
        this.device = device;
        this.extentsMax = (int) Math.min(maxBytes / PageLayout.EXTENT_BYTES, Integer.MAX_VALUE - STEP_EXTENTS_MAX);
        if (firstExtent < 0 || firstExtent > extentsMax) {
            throw new IllegalArgumentException("first extent " + firstExtent + " of " + extentsMax);
        }
        this.firstExtent = (int) firstExtent;
        this.extentsFound = (int) Math.min(device.size() / PageLayout.EXTENT_BYTES, Integer.MAX_VALUE - STEP_EXTENTS_MAX);
        found(Math.min(extentsFound, extentsMax));
        this.lowestWord = this.firstExtent >>> 6;
    }

    /**
     * The lowest free extent, now in use.
     *
     * @throws NoSpaceException when the file may not or cannot grow and the extents left in it are promised or used up
     */
    public int allocate(Purpose purpose) {
        lock.lock();
        try {
            boolean mayTakeAll = purpose != Purpose.COMPACTION;
            NoSpaceException refusal = null;
            while (refusal == null && backedFree() <= (mayTakeAll ? 0 : promised + reserve() + forCheckpoint)) {
                refusal = back();
            }
            if (refusal != null) {
                throw refusal;
            }
            int extent = lowestBacked();
            set(extent);
            if (purpose == Purpose.PACKING && promised > 0) {
                promised--;
                packed++;
            }
            return extent;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Keeps so many more extents for what will be packed, until they are {@link #withdraw withdrawn}.
     *
     * @param left extents to be left for merges of what was packed before
     * @throws NoSpaceException when there are not so many beside all promises; nothing is promised
     */
    public void promise(int extents, Promised to, long left) {
        lock.lock();
        try {
            long withThese = (long) promised + extents;
            long kept = to == Promised.GROWTH ? reserve() : 0;
            long all = withThese + (to == Promised.GROWTH ? withThese : 0) + left + kept;
            if (to == Promised.GROWTH && all > withinLimit()) {
                throw full();
            }
            backUpTo(withThese + kept);
            if (all > backedFree() && AVAILABLE_TIMES * (all - backedFree()) > available()) {
                backUpTo(all);
            }
            promised += extents;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives free extents without blocks theirs, and grows the file, if that can be done, until so many more may be promised for growth without: for
     * who has the time, where who writes has not. Others go on meanwhile.
     */
    public void growAhead(int extents) {
        see(device.available());
        while (backAhead(extents)) {
            // A few at a time, so that who needs the lock hardly waits.
        }
        for (int target = growthAhead(extents); target > 0; target = growthAhead(extents)) {
            try {
                device.allocate((long) target * PageLayout.EXTENT_BYTES);
            } catch (NoSpaceException full) {
                return; // who writes is told, if it is still so then
            }
            lock.lock();
            try {
                grown(target);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Has merges leave so many extents for the next checkpoint, without which nothing that they give up is free. */
    public void keepForCheckpoint(int extents) {
        lock.lock();
        try {
            forCheckpoint = extents;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether there are, or by what the file system says can be, so many extents for merges beside all that is promised or kept, and as many again
     * as are promised.
     */
    public boolean hasForMerges(long wanted) {
        lock.lock();
        try {
            long missing = wanted + 2L * promised + reserve() + forCheckpoint - backedFree();
            return missing <= 0 || missing <= available();
        } finally {
            lock.unlock();
        }
    }

    /** Whether so many extents beside the reserve are, or might be, in use or free, whatever is promised. */
    public boolean mayHave(long wanted) {
        lock.lock();
        try {
            // It may be that nothing of what the file has is a hole.
            long more = available() + Math.max(0, fileExtents - firstExtent - backedCount);
            return wanted + reserve() <= backedCount + Math.min(more, withoutBlocks());
        } finally {
            lock.unlock();
        }
    }

    private void see(long availableBytes) {
        lock.lock();
        try {
            availableSeen = availableBytes / PageLayout.EXTENT_BYTES;
        } finally {
            lock.unlock();
        }
    }

    /** Whether some free extents had to be given their blocks for that, and were. */
    private boolean backAhead(int extents) {
        lock.lock();
        try {
            int lowest = isShortAhead(extents) && withoutBlocks() > 0 ? nextWithoutBlocks(firstExtent) : -1;
            return lowest >= 0 && backFrom(lowest) == null;
        } finally {
            lock.unlock();
        }
    }

    /** The extents that the file is to have; 0 when it has enough, or may have no more. */
    private int growthAhead(int extents) {
        lock.lock();
        try {
            int target = Math.min(fileExtents + step(), extentsMax);
            return isShortAhead(extents) && target > fileExtents ? target : 0;
        } finally {
            lock.unlock();
        }
    }

    private boolean isShortAhead(int extents) {
        return backedFree() < (long) promised + reserve() + extents;
    }

    /**
     * As {@link #promise} for growth, if that takes nothing of the device and there is plenty by what its file system said last.
     *
     * @return whether it is promised
     */
    public boolean tryPromise(int extents, long left) {
        lock.lock();
        try {
            long withThese = (long) promised + extents;
            long free = backedFree();
            long all = 2 * withThese + left + reserve();
            boolean isFar = AVAILABLE_TIMES * (all - free) > Math.min(withoutBlocks(), availableSeen);
            if (free < withThese + reserve() || isFar || all > withinLimit()) {
                return false;
            }
            promised += extents;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void backUpTo(long free) {
        while (backedFree() < free) {
            NoSpaceException refusal = back();
            if (refusal != null) {
                throw refusal;
            }
        }
    }

    /** Extents that could get blocks by what the file may grow to and by what its file system says. */
    private long available() {
        availableSeen = device.available() / PageLayout.EXTENT_BYTES;
        return Math.min(withoutBlocks(), availableSeen);
    }

    /** Extents that could get blocks by what the file may grow to; fewer than none where it is larger already. */
    private long withoutBlocks() {
        return (long) extentsMax - firstExtent - backedCount;
    }

    /** Extents that may come into use by what the file may grow to; fewer than none where more are. */
    private long withinLimit() {
        return (long) extentsMax - firstExtent - allocated;
    }

    /** As {@link #promise} for what has been taken in already, whether there are so many or not. */
    public void owe(int extents) {
        lock.lock();
        try {
            promised += extents;
        } finally {
            lock.unlock();
        }
    }

    /** Takes back what is left of a promise of so many extents: what it was for is packed, one after the other. */
    public void withdraw(int extents) {
        lock.lock();
        try {
            promised += packed - extents;
            packed = 0;
            assert promised >= 0 : promised + " extents promised";
        } finally {
            lock.unlock();
        }
    }

    /** Promises again what a packing has taken that failed, and will be tried again; before any of that is freed but by {@link #giveBack}. */
    public void packingFailed() {
        lock.lock();
        try {
            promised += packed;
            packed = 0;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes an extent out of use; it may be handed out again at once.
     *
     * @throws IllegalStateException when it is not in use
     */
    public void free(int extent) {
        lock.lock();
        try {
            requireAllocated(extent);
            used[extent >>> 6] &= ~(1L << extent);
            lowestWord = Math.min(lowestWord, extent >>> 6);
            allocated--;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #free}, of an extent that was allocated for a purpose which came to nothing: one that was promised to a packing is so again. */
    public void giveBack(int extent, Purpose purpose) {
        lock.lock();
        try {
            free(extent);
            if (purpose == Purpose.PACKING && packed > 0) {
                packed--;
                promised++;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives the blocks of every free extent that is not promised back to the file system, where they may be lost to others; those given back
     * before are passed over. Extents may be allocated and freed meanwhile. Ends where the file system is too full to note one more hole.
     *
     * @return how many extents were given back
     */
    public int discardFree() {
        int discarded = 0;
        for (int extent = firstExtent; ; extent++) {
            extent = takeUndiscarded(extent);
            if (extent < 0) {
                return discarded;
            }
            // In use meanwhile, so that nobody writes what is about to be punched out.
            boolean isHole = false;
            try {
                device.discard((long) extent * PageLayout.EXTENT_BYTES, PageLayout.EXTENT_BYTES);
                isHole = true;
                discarded++;
            } catch (NoSpaceException full) {
                return discarded;
            } finally {
                freeWithoutBlocks(extent, isHole);
            }
        }
    }

    private void freeWithoutBlocks(int extent, boolean isHole) {
        lock.lock();
        try {
            free(extent);
            holes.set(extent, isHole);
            if (backed.get(extent) && device.mayHaveHoles()) {
                backed.clear(extent);
                backedCount--;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes the first free extent of the file from {@code from} on that may have blocks and is not promised; -1 when there is none. */
    private int takeUndiscarded(int from) {
        lock.lock();
        try {
            for (int extent = from; extent < fileExtents; extent++) {
                boolean isPromised = backed.get(extent) && backedFree() <= promised;
                if (!isSet(extent) && !holes.get(extent) && !isPromised) {
                    set(extent);
                    return extent;
                }
            }
            return -1;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Marks an extent that recovery found in use.
     *
     * @throws IllegalStateException when it is marked already or not the allocator's to hand out
     * @throws CorruptionException when the file is too short to hold it
     */
    public void markUsed(int extent) {
        lock.lock();
        try {
            if (extent < firstExtent || isSet(extent)) {
                throw new IllegalStateException("extent " + extent + " of " + device.name() + " is used twice");
            }
            if (extent >= Math.max(fileExtents, extentsFound)) {
                throw new CorruptionException(
                        device.name(),
                        (long) extent << PageLayout.EXTENT_SHIFT,
                        "extent",
                        "a file of at least " + (extent + 1L) + " extents",
                        "one of " + Math.max(fileExtents, extentsFound));
            }
            if (extent >= fileExtents) {
                // More is in use than the limit allows: all of the file serves merges and deletes, which make it less.
                found(extentsFound);
            }
            set(extent);
        } finally {
            lock.unlock();
        }
    }

    /** The extents in use. */
    public int allocatedCount() {
        lock.lock();
        try {
            return allocated;
        } finally {
            lock.unlock();
        }
    }

    /** The extents that the file has room for, those below the first included. */
    public long fileExtents() {
        lock.lock();
        try {
            return fileExtents;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an extent is in use. */
    public boolean isAllocated(int extent) {
        lock.lock();
        try {
            return isSet(extent);
        } finally {
            lock.unlock();
        }
    }

    private void requireAllocated(int extent) {
        if (!isSet(extent)) {
            throw new IllegalStateException("extent " + extent + " of " + device.name() + " is not in use");
        }
    }

    private int backedFree() {
        return backedCount - allocated;
    }

    private int reserve() {
        int extents = Math.min(fileExtents, extentsMax);
        int least = Math.clamp(extents >>> RESERVE_SHIFT_SMALL, RESERVE_EXTENTS_LEAST, RESERVE_EXTENTS_MIN);
        return Math.clamp(extents >>> RESERVE_SHIFT, least, RESERVE_EXTENTS_MAX);
    }

    /** Gives free extents that may be without blocks their blocks, the lowest that can be, or grows the file; returns why neither can be done, or null. */
    private NoSpaceException back() {
        int lowest = nextWithoutBlocks(firstExtent);
        return lowest < 0 ? grow() : backFrom(lowest);
    }

    /** The next free extent of the file that may be without blocks; -1 when there is none. */
    private int nextWithoutBlocks(int first) {
        int from = first;
        while (from < fileExtents && !lacksBlocks(from)) {
            from = backed.nextClearBit(from + 1);
        }
        return from < fileExtents ? from : -1;
    }

    /**
     * As {@link #back()} from the lowest extent that may be without blocks: where it is a hole, and the file system is full, others may have
     * theirs. Known holes are passed over but for the lowest, by which it is found out that there is room again.
     */
    private NoSpaceException backFrom(int lowest) {
        NoSpaceException refusal = back(lowest, STEP_EXTENTS_MIN);
        int extent = lowest;
        while (refusal != null) {
            holes.set(extent);
            do {
                extent = nextWithoutBlocks(holes.nextClearBit(extent));
            } while (extent >= 0 && holes.get(extent));
            if (extent < 0) {
                return refusal;
            }
            refusal = back(extent, 1);
        }
        return null;
    }

    /** Gives a free extent without blocks its own, and up to so many in all with those that follow it; returns why that cannot be done, or null. */
    private NoSpaceException back(int from, int most) {
        int count = 1;
        long countMax = Math.min(most, withoutBlocks());
        while (count < countMax && from + count < fileExtents && lacksBlocks(from + count)) {
            count++;
        }
        while (true) {
            try {
                restore(from, count);
                return null;
            } catch (NoSpaceException refusal) {
                if (count == 1) {
                    return refusal;
                }
                count >>>= 1;
            }
        }
    }

    /** Whether it is free and may be without blocks; one in use without them is being given back. */
    private boolean lacksBlocks(int extent) {
        return !backed.get(extent) && !isSet(extent);
    }

    private void restore(int extent, int count) {
        device.restore((long) extent * PageLayout.EXTENT_BYTES, (long) count * PageLayout.EXTENT_BYTES);
        holes.clear(extent, extent + count);
        backed.set(extent, extent + count);
        backedCount += count;
    }

    /** Grows the file by a step, or by less when that is all there is; returns why it could not grow at all, or null. */
    private NoSpaceException grow() {
        int step = step();
        while (true) {
            int target = Math.min(fileExtents + step, extentsMax);
            if (target <= fileExtents) {
                return full();
            }
            try {
                device.allocate((long) target * PageLayout.EXTENT_BYTES);
                grown(target);
                return null;
            } catch (NoSpaceException refusal) {
                if (step == 1) {
                    return refusal;
                }
                step >>>= 1;
            }
        }
    }

    private int step() {
        return Math.clamp(fileExtents >>> STEP_SHIFT, STEP_EXTENTS_MIN, STEP_EXTENTS_MAX);
    }

    /** The file had room for so many extents when it was opened. */
    private void found(int target) {
        if (device.mayHaveHoles()) {
            fileExtents = target;
        } else {
            grown(target);
        }
    }

    /** The file has room for so many extents now, if it had not before. */
    private void grown(int target) {
        int from = Math.max(fileExtents, firstExtent);
        if (target > from) {
            backed.set(from, target);
            backedCount += target - from;
        }
        fileExtents = Math.max(fileExtents, target);
    }

    private NoSpaceException full() {
        return new NoSpaceException(device.name() + " is full: " + mebibytes(allocated) + " of at most " + mebibytes(extentsMax)
                + " in use, and what is left is kept for merges and deletes");
    }

    private static String mebibytes(int extents) {
        return String.format(Locale.ROOT, "%.1f MiB", extents * (double) PageLayout.EXTENT_BYTES / (1 << 20));
    }

    /** The lowest free extent that has its blocks, or gets them now. */
    private int lowestBacked() {
        int lowest = lowestFree();
        if (backed.get(lowest)) {
            return lowest;
        }
        try {
            restore(lowest, 1);
            return lowest;
        } catch (NoSpaceException refusal) {
            for (int extent = backed.nextSetBit(lowest); extent >= 0; extent = backed.nextSetBit(extent + 1)) {
                if (!isSet(extent)) {
                    return extent;
                }
            }
            throw refusal;
        }
    }

    private int lowestFree() {
        for (int word = lowestWord; ; word++) {
            long free = word < used.length ? ~used[word] : -1L;
            if (word == firstExtent >>> 6) {
                free &= -1L << firstExtent;
            }
            if (free != 0) {
                lowestWord = word;
                return (word << 6) + Long.numberOfTrailingZeros(free);
            }
        }
    }

    private boolean isSet(int extent) {
        int word = extent >>> 6;
        return extent >= 0 && word < used.length && (used[word] & 1L << extent) != 0;
    }

    private void set(int extent) {
        int word = extent >>> 6;
        if (word >= used.length) {
            used = Arrays.copyOf(used, Math.max(word + 1, used.length * 2));
        }
        used[word] |= 1L << extent;
        holes.clear(extent);
        if (!backed.get(extent)) {
            backed.set(extent);
            backedCount++;
        }
        allocated++;
    }
}
