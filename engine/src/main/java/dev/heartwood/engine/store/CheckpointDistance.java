package dev.heartwood.engine.store;

/** How much a store writes between two checkpoints; changed while it runs. Thread-safe. */
final class CheckpointDistance {
    private final long memtableBytes;
    private volatile int memtables;

    CheckpointDistance(int memtables, long memtableBytes) {
        this.memtables = memtables;
        this.memtableBytes = memtableBytes;
    }

    /** The distance in full memtables. */
    int memtables() {
        return memtables;
    }

    /** The distance in bytes of full memtables. */
    long bytes() {
        return memtables * memtableBytes;
    }

    void set(int newMemtables) {
        memtables = newMemtables;
    }
}
