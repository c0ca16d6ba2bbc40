package dev.heartwood.engine.node;

import dev.heartwood.engine.branch.Branch;

/** Tells whether the large values of a node's runs lie in so many overflow groups that a scan reads nearly each of them by itself. */
final class ScatteredValues {
    /** As many groups, of like size, are left alone as a settled node may have runs. */
    private static final int GROUPS_MAX = 4;

    /** The mean length of values that take a read of their own wherever they lie. */
    private static final int LONG_VALUE_BYTES = 64 << 10;

    private ScatteredValues() {}

    /** Whether merging all runs of a node and copying their large values, in the order of keys, would spare scans most reads. */
    static boolean in(TrunkNode node) {
        double bytes = 0;
        double squares = 0;
        double entries = 0;
        double allBytes = 0;
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                if (run != null) {
                    Branch branch = run.branch();
                    entries += branch.entries();
                    allBytes += branch.dataBytes();
                    for (double ofGroup : branch.overflowBytes()) {
                        bytes += ofGroup;
                        squares += ofGroup * ofGroup;
                    }
                }
            }
        }
        boolean areMost = bytes > allBytes / 2;
        // As many groups of one size would hold the values as scattered as they are.
        return areMost && bytes < entries * LONG_VALUE_BYTES && bytes * bytes > squares * GROUPS_MAX;
    }
}
