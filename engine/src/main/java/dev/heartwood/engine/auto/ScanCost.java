package dev.heartwood.engine.auto;

/**
 * How many runs of one part of the tree scans look into at a leaf, while that part is lazy and while it is eager. Belongs to one thread
 * at a time.
 */
final class ScanCost {
    private static final int INTERVALS = 3;

    /** Intervals over which eager nodes that do not come to have few runs are believed not to: first they have to be merged. */
    private static final int DOUBT_INTERVALS = 120;

    private final Average lazy = new Average(INTERVALS);
    private double eager;

    /** @param eagerRuns how many it is taken to be while it is eager, before any were seen */
    ScanCost(double eagerRuns) {
        eager = eagerRuns;
    }

    /** Notes the runs that were looked into at some leaves. */
    void add(boolean isEager, long runs, long leaves) {
        if (leaves == 0) {
            return;
        }
        double each = (double) runs / leaves;
        if (isEager) {
            eager += (each - eager) / (each < eager ? INTERVALS : DOUBT_INTERVALS);
        } else {
            lazy.add(each);
        }
    }

    /** Notes what lazy nodes have while nobody scans: it is what scans will look into. */
    void expect(double runs) {
        lazy.add(runs);
    }

    /** Runs that scans look into as the part is now. */
    double runs(boolean isEager) {
        return isEager ? eager : lazy.value();
    }

    double lazyRuns() {
        return lazy.value();
    }

    double eagerRuns() {
        return eager;
    }

    /** Runs that a scan is spared at a leaf. */
    double spared() {
        return Math.max(0, lazy.value() - eager);
    }
}
