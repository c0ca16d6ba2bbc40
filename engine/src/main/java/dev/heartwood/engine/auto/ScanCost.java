package dev.heartwood.engine.auto;

/** How many runs of one part of the tree scans look into at a leaf, while that part is lazy and while it is eager. Belongs to one thread at a time. */
final class ScanCost {
    private static final int INTERVALS = 3;

    private final Average lazy = new Average(INTERVALS, 0);
    private final Average eager;

    /** @param eagerRuns how many it is taken to be while it is eager, before any were seen */
    ScanCost(double eagerRuns) {
        eager = new Average(INTERVALS, eagerRuns);
    }

    /** Notes the runs that were looked into at some leaves. */
    void add(boolean isEager, long runs, long leaves) {
        if (leaves > 0) {
            (isEager ? eager : lazy).add((double) runs / leaves);
        }
    }

    double lazyRuns() {
        return lazy.value();
    }

    double eagerRuns() {
        return eager.value();
    }

    /** Runs that a scan is spared at a leaf. */
    double spared() {
        return Math.max(0, lazy.value() - eager.value());
    }
}
