package dev.heartwood.engine.background;

/** How much a store writes between two checkpoints; changed while it runs. Thread-safe. */
public final class CheckpointDistance {
    /**
     * Memtables between two checkpoints that there is always space to replay: what a nearer checkpoint holds on to would leave a store that is
     * nearly full less to merge with. Nor is their log ever long, however large they are: together they are no more than the memory of all.
     */
    private static final int NEAR = 4;

    private final long memtableBytes;
    private volatile int memtables;

    public CheckpointDistance(int memtables, long memtableBytes) {
        this.memtables = memtables;
        this.memtableBytes = memtableBytes;
    }

    /** The distance in full memtables. */
    int memtables() {
        return memtables;
    }

    /** The distance in bytes of full memtables. */
    public long bytes() {
        return memtables * memtableBytes;
    }

    void set(int newMemtables) {
        memtables = newMemtables;
    }

    /** Whether a checkpoint is due since so much was packed: as many memtables, or as much as so many full ones where some are larger. */
    boolean isReached(PackedMemtables packed) {
        return packed.memtables() >= memtables || packed.memtables() >= NEAR && packed.bytes() >= bytes();
    }

    /** Whether so much is no reason for a checkpoint, even where there may be no space to replay it. */
    boolean isNear(PackedMemtables packed) {
        return packed.memtables() < NEAR && packed.bytes() < NEAR * memtableBytes;
    }
}
