package dev.heartwood.engine.auto;

/**
 * What happened in a store within one interval, and how it is at the end of it.
 *
 * @param wasAsked whether a key was looked up, or a cursor opened or moved, also where neither a filter nor a leaf was asked
 * @param bytesWritten bytes of keys and values given to it
 * @param pageReads pages that reads missed in the cache
 * @param leavesScanned leaves that cursors opened, but within groups of keys, where filters say which runs they look into
 * @param leafRunsScanned runs of leaves that they looked into
 * @param innerRunsScanned runs of nodes above that they looked into
 * @param scanReads reads of the device that their seeks waited for
 * @param entriesScanned entries that they moved on from
 * @param owedShare what merges and packing owe now, as a share of what may be owed
 * @param distanceRoom full memtables that half of the store's part of the page cache has room for now
 * @param stores stores that share the cache and the disk now, this one among them
 */
public record WorkloadSample(
        boolean wasAsked,
        long bytesWritten,
        long pageReads,
        long leavesScanned,
        long leafRunsScanned,
        long innerRunsScanned,
        long scanReads,
        long entriesScanned,
        double owedShare,
        int distanceRoom,
        int stores) {
    /** Whether nobody read or wrote. Who settles or verifies the store is not counted. */
    boolean isIdle() {
        return !wasAsked && bytesWritten == 0;
    }
}
