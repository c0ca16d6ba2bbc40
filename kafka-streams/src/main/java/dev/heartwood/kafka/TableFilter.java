package dev.heartwood.kafka;

import dev.heartwood.CompactionFilter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Lets merges drop what nobody needs any more: undo records of epochs before the last commit, and data that the table's kind calls
 * expired. Thread-safe.
 */
final class TableFilter implements CompactionFilter {
    /** Decides about one entry of the data, key with its key space and value, by the time from which records are live. */
    @FunctionalInterface
    interface Expiry {
        boolean isExpired(MemorySegment key, MemorySegment value, long liveFrom);
    }

    /** For data that does not expire. */
    static final Expiry NEVER = (key, value, liveFrom) -> false;

    private static final ValueLayout.OfLong BIG_ENDIAN = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Expiry expiry;

    // Both written by the writer of the table and read by merges; a value that is behind drops less.
    private volatile long committedEpoch;
    private volatile long liveFrom = Long.MIN_VALUE;

    TableFilter(Expiry expiry) {
        this.expiry = expiry;
    }

    @Override
    public String name() {
        return "dev.heartwood.kafka.table";
    }

    void committed(long epoch) {
        committedEpoch = epoch;
    }

    void liveFrom(long timestamp) {
        liveFrom = timestamp;
    }

    @Override
    public Decision filter(MemorySegment key, MemorySegment value) {
        boolean drop = switch (key.get(ValueLayout.JAVA_BYTE, 0)) {
            case TableKeys.UNDO -> longAt(key, 1) < committedEpoch;
            case TableKeys.DATA -> expiry.isExpired(key, value, liveFrom);
            default -> false;
        };
        return drop ? Decision.DROP : Decision.KEEP;
    }

    /** Nobody reads undo records of commits before the last one, and readers look at the time of data themselves. */
    @Override
    public boolean allowsStaleReads() {
        return true;
    }

    /** A big-endian number in a key or a value. */
    static long longAt(MemorySegment segment, long offset) {
        return segment.get(BIG_ENDIAN, offset);
    }
}
