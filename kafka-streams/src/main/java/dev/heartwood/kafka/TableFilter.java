package dev.heartwood.kafka;

import dev.heartwood.CompactionFilter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Lets merges drop what nobody needs any more: undo records of epochs before a commit that lasts, and data that the table's kind calls
 * expired. Thread-safe.
 *
 * <p>Data that the last commit has and data of times that had nothing then expire by times of their own, which change together.
 */
final class TableFilter implements CompactionFilter {
    /** Decides about one entry of the data, key with its key space and value, by the time from which records are live. */
    @FunctionalInterface
    interface Expiry {
        boolean isExpired(MemorySegment key, MemorySegment value, long liveFrom);
    }

    /** For data that does not expire. */
    static final Expiry NEVER = (key, value, liveFrom) -> false;

    /**
     * What is live.
     *
     * @param from data of before this time is not needed any more
     * @param firstNew the first segment, or begin of a version, with another time, or {@link TableShape#NOTHING_NEW}
     * @param newFrom the time for that one and those after it
     */
    record Live(long from, long firstNew, long newFrom) {
        /** One time for all data. */
        static Live from(long timestamp) {
            return new Live(timestamp, TableShape.NOTHING_NEW, timestamp);
        }
    }

    private static final ValueLayout.OfLong BIG_ENDIAN = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final TableKind kind;
    private final Expiry expiry;

    // Both written by the writer of the table and read by merges; a value that is behind drops less.
    private volatile long committedEpoch;
    private volatile Live live = Live.from(Long.MIN_VALUE);

    TableFilter(TableKind kind, Expiry expiry) {
        this.kind = kind;
        this.expiry = expiry;
    }

    @Override
    public String name() {
        return "dev.heartwood.kafka.table";
    }

    /** Undo records of epochs before this are not needed any more, whatever happens. */
    void committed(long epoch) {
        committedEpoch = Math.max(committedEpoch, epoch);
    }

    void live(Live live) {
        this.live = live;
    }

    @Override
    public Decision filter(MemorySegment key, MemorySegment value) {
        boolean drop = switch (key.get(ValueLayout.JAVA_BYTE, 0)) {
            case TableKeys.UNDO -> longAt(key, 1) < committedEpoch;
            case TableKeys.DATA -> isExpired(key, value, live);
            default -> false;
        };
        return drop ? Decision.DROP : Decision.KEEP;
    }

    private boolean isExpired(MemorySegment key, MemorySegment value, Live live) {
        boolean isNew = live.firstNew() != TableShape.NOTHING_NEW
                && longAt(key, kind.timeOffset((int) key.byteSize())) >= live.firstNew();
        return expiry.isExpired(key, value, isNew ? live.newFrom() : live.from());
    }

    /** Nobody reads undo records of commits before that one, and readers look at the time of data themselves. */
    @Override
    public boolean allowsStaleReads() {
        return true;
    }

    /** A big-endian number in a key or a value. */
    static long longAt(MemorySegment segment, long offset) {
        return segment.get(BIG_ENDIAN, offset);
    }
}
