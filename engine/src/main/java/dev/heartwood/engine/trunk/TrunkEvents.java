package dev.heartwood.engine.trunk;

import java.util.concurrent.atomic.LongAdder;

/** What happened to a trunk since it was opened, counted. Thread-safe. */
public final class TrunkEvents {
    private final LongAdder flushes = new LongAdder();
    private final LongAdder splits = new LongAdder();
    private final LongAdder merges = new LongAdder();
    private final LongAdder compactions = new LongAdder();
    private final LongAdder bytesRead = new LongAdder();
    private final LongAdder bytesWritten = new LongAdder();
    private final LongAdder entriesAdded = new LongAdder();
    private final LongAdder filterProbes = new LongAdder();
    private final LongAdder filterFalsePositives = new LongAdder();
    private final LongAdder filterFailures = new LongAdder();
    private final LongAdder leavesScanned = new LongAdder();
    private final LongAdder leafRunsScanned = new LongAdder();
    private final LongAdder innerRunsScanned = new LongAdder();
    private final LongAdder scanReads = new LongAdder();
    private final LongAdder entriesScanned = new LongAdder();

    void flushed() {
        flushes.increment();
    }

    void split() {
        splits.increment();
    }

    void merged() {
        merges.increment();
    }

    public void compacted(long read, long written) {
        compactions.increment();
        bytesRead.add(read);
        bytesWritten.add(written);
    }

    void added(long entries) {
        entriesAdded.add(entries);
    }

    void probed(int probes, int falsePositives) {
        filterProbes.add(probes);
        if (falsePositives != 0) {
            filterFalsePositives.add(falsePositives);
        }
    }

    /** Notes that a cursor has left a leaf, after so many entries. */
    void scanned(TreePath path, int reads, int entries) {
        leavesScanned.increment();
        leafRunsScanned.add(path.leafRunCount());
        innerRunsScanned.add(path.runCount() - path.leafRunCount());
        scanReads.add(reads);
        entriesScanned.add(entries);
    }

    void filterFailed() {
        filterFailures.increment();
    }

    /** Times runs were moved to a child by reference. */
    public long flushes() {
        return flushes.sum();
    }

    /** Nodes split. */
    public long splits() {
        return splits.sum();
    }

    /** Underfull nodes merged with a neighbour. */
    public long merges() {
        return merges.sum();
    }

    /** Merges finished. */
    public long compactions() {
        return compactions.sum();
    }

    /** Bytes of entries read by merges. */
    public long bytesRead() {
        return bytesRead.sum();
    }

    /** Bytes of entries written by merges. */
    public long bytesWritten() {
        return bytesWritten.sum();
    }

    /** Entries of packed memtables. */
    public long entriesAdded() {
        return entriesAdded.sum();
    }

    /** Maplets asked by point reads. */
    public long filterProbes() {
        return filterProbes.sum();
    }

    /** Times a maplet named a run that did not hold the key. */
    public long filterFalsePositives() {
        return filterFalsePositives.sum();
    }

    /** Leaves that cursors have opened and left, but those of cursors within a group. */
    public long leavesScanned() {
        return leavesScanned.sum();
    }

    /** Runs of leaves that cursors have looked into. */
    public long leafRunsScanned() {
        return leafRunsScanned.sum();
    }

    /** Runs of nodes above the leaves that cursors have looked into. */
    public long innerRunsScanned() {
        return innerRunsScanned.sum();
    }

    /** Reads of the device that seeks had to wait for. */
    public long scanReads() {
        return scanReads.sum();
    }

    /** Entries that cursors have moved on from, forwards or backwards. */
    public long entriesScanned() {
        return entriesScanned.sum();
    }

    /** Exceptions thrown by the compaction filter. */
    public long filterFailures() {
        return filterFailures.sum();
    }
}
