package dev.heartwood.engine.budget;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;

/**
 * How the budget of an environment is divided, in bytes. The parts add up to the budget.
 *
 * @param memtableBytes the size at which a store's memtable is sealed, unless its options say otherwise
 * @param memtablesBytes all memtables, active and sealed, of all stores
 * @param mergeBytes merges and packing in progress
 * @param foregroundBytes calls and cursors in progress
 * @param logBytes what of log segments is in memory
 * @param cacheBytes the page cache with its buffers and indexes
 * @param recordBytes the record cache
 * @param segmentBytesMax the largest log segment
 */
public record MemoryPlan(
        long memtableBytes,
        long memtablesBytes,
        long mergeBytes,
        long foregroundBytes,
        long logBytes,
        long cacheBytes,
        long recordBytes,
        int segmentBytesMax) {
    private static final long MERGE_MIN = ByteSize.mib(3).bytes();
    private static final long FOREGROUND_MIN = ByteSize.mib(2).bytes();
    /** Up to this many bytes an eighth of the memory is for calls and cursors, and from then on as much until a share of it is more. */
    private static final long FOREGROUND_FEW = ByteSize.mib(4).bytes();
    private static final long FOREGROUND_MAX = ByteSize.mib(64).bytes();
    /**
     * What small blocks are taken from first (each store's page for superblocks, a call's scratch), so that the largest one stays whole; but where
     * that would have only a part of it beside it.
     */
    private static final long FOREGROUND_SMALL = 128 << 10;

    private static final long MEMTABLE_MIN = ByteSize.mib(1).bytes();
    private static final long MEMTABLE_MAX = ByteSize.mib(64).bytes();
    /** Up to this many bytes, and a little more for much memory, a quarter of what is for caching is for records, the rest for pages. */
    private static final long RECORDS_FEW = ByteSize.mib(64).bytes();

    private static final int MEMTABLES_FREE_PERCENT = 64;
    private static final int MEMTABLES_SHARED_PERCENT = 75;
    private static final int SEGMENT_MIN = 64 << 10;
    private static final int SEGMENT_MAX = 4 << 20;

    public static MemoryPlan of(EnvironmentOptions options) {
        long total = options.memory().bytes();
        long memtable = Math.clamp(total * 3 / 32, MEMTABLE_MIN, MEMTABLE_MAX);
        long memtables = memtable * 5 / 2;
        long merge = Math.clamp(total / 8, MERGE_MIN, 16 * memtable);
        long few = Math.clamp(total / 8, FOREGROUND_MIN, FOREGROUND_FEW);
        long foreground = withSmall(Math.clamp(total / 24, few, FOREGROUND_MAX));
        int segment = Integer.highestOneBit(Math.clamp(total / 64, SEGMENT_MIN, SEGMENT_MAX));
        long log = 4L * segment;
        long caches = total - memtables - merge - foreground - log;
        long records = Math.min(caches / 4, RECORDS_FEW + caches / 16);
        return new MemoryPlan(
                memtable, memtables, merge, foreground, log, caches - records, records, segment);
    }

    private static long withSmall(long foreground) {
        long more = foreground + FOREGROUND_SMALL;
        return Long.highestOneBit(more) == Long.highestOneBit(foreground) ? more : foreground;
    }

    /** What memtables may have while packing is on time: one that is being packed, and most of another, which takes as long to fill. */
    public long memtablesFreeBytes() {
        return memtablesBytes * MEMTABLES_FREE_PERCENT / 100;
    }

    /**
     * What memtables of several stores may have, with one more like the largest of them, before that is sealed: packing costs nobody anything then,
     * as long as it is on time.
     */
    public long memtablesSharedBytes() {
        return memtablesBytes * MEMTABLES_SHARED_PERCENT / 100;
    }

    /** What memtables take of one write. */
    public long writeBytesMax() {
        return memtablesBytes / 4;
    }

    /** Of the cache's memory, what frames take; the rest is for write-back and reads that find no frame. */
    public long framesBytes() {
        return cacheBytes - Math.max(cacheBytes / 16, CACHE_BUFFERS_MIN);
    }

    private static final long CACHE_BUFFERS_MIN = ByteSize.mib(1).bytes();
}
