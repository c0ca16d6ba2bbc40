package dev.heartwood;

/**
 * The memory of an {@link Environment} at one moment, in bytes.
 *
 * @param budgetBytes the budget given in {@link EnvironmentOptions#memory()}
 * @param memtableBytes held by active and sealed memtables
 * @param cacheBytes held by frames of the page cache that contain a page, by what is lent to it, and by the record cache
 * @param cacheCapacityBytes what the page cache and the record cache may hold now: more while memory for memtables and merges is lent to them
 * @param bufferBytes held by merges, scans and other I/O in progress
 * @param metadataBytes held by page maps and other indexes of the cache
 * @param logBytes of the write-ahead logs of open stores, mapped files: the segments being written and those that are ready to follow, as far as
 *     they are in memory. Each store has some 30 KiB at least, so that very many stores in little memory take more than the budget
 */
public record MemoryStats(
        long budgetBytes,
        long memtableBytes,
        long cacheBytes,
        long cacheCapacityBytes,
        long bufferBytes,
        long metadataBytes,
        long logBytes) {
    /** The sum of what is held now. */
    public long usedBytes() {
        return memtableBytes + cacheBytes + bufferBytes + metadataBytes + logBytes;
    }
}
