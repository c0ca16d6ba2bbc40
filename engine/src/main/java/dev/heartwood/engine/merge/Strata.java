package dev.heartwood.engine.merge;

/**
 * What live snapshots part the sequence numbers into: of the versions of a key, the newest in each stratum is visible to someone and the
 * others to nobody. Stratum 0, at or before the oldest snapshot, is visible to all.
 *
 * @param snapshots the sequence numbers of live snapshots, ascending
 * @param bottom whether nothing older exists than what is looked at
 */
record Strata(long[] snapshots, boolean bottom) {
    /** How many live snapshots are too old to see a sequence number. */
    int of(long sequence) {
        int low = 0;
        int high = snapshots.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (snapshots[middle] < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Whether nothing older than a version in a stratum can be visible. */
    boolean isNothingBelow(int stratum) {
        return bottom && stratum == 0;
    }
}
