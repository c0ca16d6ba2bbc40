package dev.heartwood.engine.budget;

import dev.heartwood.StoreOptions;

/** How large the memtables of a store are, in bytes of records. */
public record MemtableSizes(MemoryPlan plan, StoreOptions options) {
    /** Memtables that a replay makes of a long log, as far as there is memory for them. */
    private static final int PACKED_OF_REPLAY = 16;

    /** The part of the Java heap that such a memtable is no larger than: to order it takes up to as much, where its entries are the smallest. */
    private static final int HEAP_PART_OF_REPLAY = 4;

    /** Memtables of at least so many parts of a file that may not grow beyond a limit: those that wait to be packed take some of it. */
    private static final int MEMTABLES_OF_FULL_FILE = 32;

    /** A full memtable. */
    public long full() {
        long asked = options.memtable().bytes();
        return withinDisk(asked == 0 ? plan.memtableBytes() : Math.min(asked, plan.memtablesBytes() / 2));
    }

    /**
     * The size from which on what was replayed of a log with so many bytes of records is packed. A replay merges nothing, so that many memtables
     * would be as many runs in each leaf: they are larger than others then, if those are small, as far as the Java heap can hold their order, too.
     * The store may have had larger ones when it wrote the log, so its generations tell nothing.
     */
    public long ofReplay(long logBytes) {
        long usual = Math.min(withinDisk(plan.memtableBytes()), Runtime.getRuntime().maxMemory() / HEAP_PART_OF_REPLAY);
        return Math.clamp(logBytes / PACKED_OF_REPLAY, full(), Math.max(full(), usual));
    }

    private long withinDisk(long bytes) {
        long diskBytesMax = options.diskMax().bytes();
        return diskBytesMax == 0 ? bytes : Math.min(bytes, diskBytesMax / MEMTABLES_OF_FULL_FILE);
    }
}
