package dev.heartwood.kafka;

import dev.heartwood.KeyRange;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The keys of windows and sessions. What Kafka Streams calls the store key, and writes to changelogs, ends in its times; in the
 * table the number of a time segment goes before it:
 *
 * <pre>
 *   window    1  segment (8)  record key  window start (8)  sequence number (4)
 *   session   1  segment (8)  record key  session end (8)   session start (8)
 * </pre>
 *
 * <p>The segment is the first of the two times divided by the length of a segment. So what expires together lies together, and
 * within a segment a record key's windows lie together in the order of time.
 */
enum SegmentKeys {
    /** Windows; the sequence number tells apart what a store that retains duplicates keeps for one window. */
    WINDOW(TableKind.WINDOW, Long.BYTES + Integer.BYTES),
    /** Sessions. */
    SESSION(TableKind.SESSION, 2 * Long.BYTES);

    /** The bytes before the store key. */
    static final int PREFIX_BYTES = 1 + Long.BYTES;

    private final TableKind kind;
    private final int suffixBytes;

    SegmentKeys(TableKind kind, int suffixBytes) {
        this.kind = kind;
        this.suffixBytes = suffixBytes;
    }

    /** The keys of a kind of table that has segments. */
    static SegmentKeys of(TableKind kind) {
        return kind == TableKind.WINDOW ? WINDOW : SESSION;
    }

    TableKind kind() {
        return kind;
    }

    int suffixBytes() {
        return suffixBytes;
    }

    /** The time in a store key that decides about its segment and its expiry. */
    long timeOfStoreKey(byte[] storeKey) {
        return longAt(storeKey, storeKey.length - suffixBytes);
    }

    byte[] tableKey(byte[] storeKey, long segmentMillis) {
        return prefixed(timeOfStoreKey(storeKey) / segmentMillis, storeKey);
    }

    /** {@code bytes} behind the prefix of a segment. */
    static byte[] prefixed(long segment, byte[] bytes) {
        return ByteBuffer.allocate(PREFIX_BYTES + bytes.length)
                .put(TableKeys.DATA)
                .putLong(segment)
                .put(bytes)
                .array();
    }

    /** The table keys of all segments before one. */
    static KeyRange segmentsBefore(long segment) {
        return KeyRange.between(new byte[] {TableKeys.DATA}, prefixed(segment, new byte[0]));
    }

    /** The table keys of a segment and all after it. */
    static KeyRange segmentsFrom(long segment) {
        return KeyRange.between(prefixed(segment, new byte[0]), new byte[] {TableKeys.UNDO});
    }

    /** The table keys of the segments from one to before another. */
    static KeyRange segments(long from, long before) {
        return KeyRange.between(prefixed(from, new byte[0]), prefixed(before, new byte[0]));
    }

    static long segment(byte[] tableKey) {
        return longAt(tableKey, 1);
    }

    static byte[] storeKey(byte[] tableKey) {
        return Arrays.copyOfRange(tableKey, PREFIX_BYTES, tableKey.length);
    }

    byte[] recordKey(byte[] tableKey) {
        return Arrays.copyOfRange(tableKey, PREFIX_BYTES, tableKey.length - suffixBytes);
    }

    /** The start of a window, or the end of a session. */
    long time(byte[] tableKey) {
        return longAt(tableKey, tableKey.length - suffixBytes);
    }

    /** The start of a window or of a session. */
    long start(byte[] tableKey) {
        return this == WINDOW ? time(tableKey) : longAt(tableKey, tableKey.length - Long.BYTES);
    }

    /** Whether an entry is of before {@code liveFrom}. */
    boolean isExpired(MemorySegment tableKey, MemorySegment value, long liveFrom) {
        return TableFilter.longAt(tableKey, tableKey.byteSize() - suffixBytes) < liveFrom;
    }

    private static long longAt(byte[] bytes, int offset) {
        return ByteBuffer.wrap(bytes).getLong(offset);
    }
}
