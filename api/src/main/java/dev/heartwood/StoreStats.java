package dev.heartwood;

/**
 * The counters of a store at one moment, immutable. Counts and bytes run since the store was opened unless they say "now".
 *
 * @param entriesEstimate entries in the tree and the memtables now, overwritten versions and tombstones included
 * @param diskBytes the lengths of the data file and the log files now. What {@link StoreOptions.FreeSpace#RETURN} has given back is a hole in
 *     the file, which its length includes: {@code liveBytes} tells that apart
 * @param liveBytes bytes of extents in use now
 * @param userBytesWritten bytes of keys and values given to put, delete, merge and write
 * @param logBytesWritten bytes appended to the log
 * @param dataBytesWritten bytes of pages written to the data file
 * @param dataBytesRead bytes of pages read from the data file
 * @param pageReads pages read one by one because an operation missed them, in the whole environment
 * @param pagesPrefetched pages read ahead of use, in the whole environment
 * @param pagesDiscardedDirty pages freed before they were ever written, in the whole environment
 * @param filterProbes filters asked by point reads
 * @param filterFalsePositives times a filter named a run that did not hold the key
 * @param memtablesSealed memtables handed to the tree
 * @param flushes times runs were moved to a child by reference
 * @param compactions merges of entries, those among them that then found no space or memory for a filter and were done again
 * @param compactionBytesRead bytes of entries read by merges
 * @param compactionBytesWritten bytes of entries written by merges
 * @param splits nodes split
 * @param nodeMerges underfull nodes merged with a neighbour
 * @param checkpoints checkpoints completed
 * @param stallNanos time that writers were slowed, in nanoseconds
 * @param stallNanosMax the longest single delay of a writer, in nanoseconds
 * @param debtBytes bytes that background work still has to merge now
 * @param height levels of the trunk now; 1 is a single leaf
 * @param nodes trunk nodes now
 * @param runs branches referenced by the trunk now
 * @param filterBytes bytes of filters now
 * @param filterEntries fingerprints in filters now
 * @param snapshots the states that open snapshots and cursors see now; cursors of a snapshot see its own
 * @param filterFailures exceptions and errors thrown by the compaction filter, and in merges by the merge operator, and what they return that
 *     a store cannot hold, such as null for a decision
 * @param damagedPages different pages found damaged, by reads, merges, scrubbing, verification and backups
 * @param pagesScrubbed pages read by the background scrubber
 * @param scrubs times the scrubber has read the whole store
 * @param listenerFailures exceptions and errors thrown by the listener, and events that were not told since too many waited for it
 * @param mergesSetAside merges that met a damaged page; their input stays unmerged until the store is opened again
 * @param recordHits point reads answered by the record cache, in the whole environment
 * @param checkpointDistance memtables between two checkpoints, as tuned or as the store itself has decided
 * @param unwrittenBytes pages in the page cache that are not written yet; what is freed before is never written
 * @param spaceAmplification bytes of the tree's entries for each byte of those that are neither overwritten nor deleted, as estimated
 *     last; 0 before the first time, and without a target
 */
public record StoreStats(
        long entriesEstimate,
        long diskBytes,
        long liveBytes,
        long userBytesWritten,
        long logBytesWritten,
        long dataBytesWritten,
        long dataBytesRead,
        long pageReads,
        long pagesPrefetched,
        long pagesDiscardedDirty,
        long filterProbes,
        long filterFalsePositives,
        long memtablesSealed,
        long flushes,
        long compactions,
        long compactionBytesRead,
        long compactionBytesWritten,
        long splits,
        long nodeMerges,
        long checkpoints,
        long stallNanos,
        long stallNanosMax,
        long debtBytes,
        int height,
        int nodes,
        int runs,
        long filterBytes,
        long filterEntries,
        int snapshots,
        long filterFailures,
        long damagedPages,
        long pagesScrubbed,
        long scrubs,
        long listenerFailures,
        long mergesSetAside,
        long recordHits,
        int checkpointDistance,
        long unwrittenBytes,
        double spaceAmplification) {
    /** Data bytes written per byte that the user wrote, log apart; 0 before the first write. */
    public double dataWriteAmplification() {
        return userBytesWritten == 0 ? 0 : (double) dataBytesWritten / userBytesWritten;
    }

    /** Data and log bytes written per byte that the user wrote; 0 before the first write. */
    public double writeAmplification() {
        return userBytesWritten == 0 ? 0 : (double) (dataBytesWritten + logBytesWritten) / userBytesWritten;
    }

    /** Bits per key that filters take now; 0 when there are none. */
    public double filterBitsPerKey() {
        return filterEntries == 0 ? 0 : 8.0 * filterBytes / filterEntries;
    }
}
