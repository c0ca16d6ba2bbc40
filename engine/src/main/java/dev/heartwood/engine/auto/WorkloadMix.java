package dev.heartwood.engine.auto;

/** The load of a store as it has been for some seconds, and for some minutes. Belongs to one thread at a time. */
final class WorkloadMix {
    private static final int SOON = 3;
    /** Intervals in which scans are remembered. */
    static final int LONG = 100;

    /** The share of the scans of the last minutes that is taken to come again. */
    private static final double AGAIN_SHARE = 0.5;

    private final Average written = new Average(SOON);
    private final Average misses = new Average(SOON);
    private final Average readsPerRun = new Average(SOON);
    private final Rates now = new Rates(SOON);
    private final Rates lately = new Rates(LONG);

    /** Scans in each interval. */
    private static final class Rates {
        private final Average leaves;
        private final Average entries;

        Rates(int intervals) {
            leaves = new Average(intervals);
            entries = new Average(intervals);
        }

        void add(WorkloadSample sample) {
            leaves.add(sample.leavesScanned());
            entries.add(sample.entriesScanned());
        }
    }

    void add(WorkloadSample sample) {
        written.add(sample.bytesWritten());
        misses.add(sample.pageReads());
        now.add(sample);
        lately.add(sample);
        long runs = sample.leafRunsScanned() + sample.innerRunsScanned();
        if (runs > 0) {
            readsPerRun.add((double) sample.scanReads() / runs);
        }
    }

    /** Bytes written in an interval. */
    double written() {
        return written.value();
    }

    /** Pages in an interval that reads missed in the cache. */
    double misses() {
        return misses.value();
    }

    /** Leaves opened by cursors in an interval as they are now. */
    double leavesScanned() {
        return now.leaves.value();
    }

    /** Entries moved on from by cursors in an interval as they are now. */
    double entriesScanned() {
        return now.entries.value();
    }

    /** Leaves opened by cursors in an interval, as they are now, or as some of those of the last minutes will be again. */
    double leavesScannedAgain() {
        return Math.max(now.leaves.value(), AGAIN_SHARE * lately.leaves.value());
    }

    /** Entries moved on from by cursors in an interval, likewise. */
    double entriesScannedAgain() {
        return Math.max(now.entries.value(), AGAIN_SHARE * lately.entries.value());
    }

    /** Reads of the device for each run that a cursor looked into. */
    double readsPerRun() {
        return readsPerRun.value();
    }
}
