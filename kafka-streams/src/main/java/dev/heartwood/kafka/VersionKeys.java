package dev.heartwood.kafka;

import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * The entries of a versioned store: one for each version of a key, in the order of time.
 *
 * <pre>
 *   key     1  length of the record key (4)  record key  valid from (8)
 *   value   valid to (8)  1  value       or, when the key was deleted,
 *           valid to (8)  0
 * </pre>
 *
 * <p>The length goes before the record key, so that a key's versions lie together whatever other keys there are. The store is
 * never read in the order of record keys.
 */
final class VersionKeys {
    /** The end of a version that nothing has followed yet. */
    static final long UNDEFINED = Long.MAX_VALUE;

    private static final byte DELETED = 0;
    private static final byte PRESENT = 1;
    private static final int VALUE_HEADER_BYTES = Long.BYTES + 1;

    private VersionKeys() {}

    /**
     * One version of a key.
     *
     * @param validFrom when it began
     * @param validTo when the next one began, or {@link #UNDEFINED}
     * @param value the value, or null when the key was deleted
     */
    record Version(long validFrom, long validTo, byte[] value) {
        /** This version, which ends at a time at the latest. */
        Version endingBy(long time) {
            return validTo <= time ? this : new Version(validFrom, time, value);
        }
    }

    /** Whether a table can have versions of a record key: otherwise it is too long. */
    static boolean fits(byte[] recordKey) {
        return tableKeyBytes(recordKey) <= KeyValueStore.KEY_BYTES_MAX;
    }

    private static int tableKeyBytes(byte[] recordKey) {
        return 1 + Integer.BYTES + recordKey.length + Long.BYTES;
    }

    static byte[] tableKey(byte[] recordKey, long validFrom) {
        return ByteBuffer.allocate(tableKeyBytes(recordKey))
                .put(TableKeys.DATA)
                .putInt(recordKey.length)
                .put(recordKey)
                .putLong(validFrom)
                .array();
    }

    /** All versions of a record key. */
    static KeyRange versionsOf(byte[] recordKey) {
        byte[] first = tableKey(recordKey, 0);
        return KeyRange.between(first, TableKeys.after(tableKey(recordKey, Long.MAX_VALUE)));
    }

    static byte[] tableValue(long validTo, byte[] value) {
        ByteBuffer buffer = ByteBuffer.allocate(VALUE_HEADER_BYTES + (value == null ? 0 : value.length));
        buffer.putLong(validTo).put(value == null ? DELETED : PRESENT);
        if (value != null) {
            buffer.put(value);
        }
        return buffer.array();
    }

    static Version version(byte[] tableKey, byte[] tableValue) {
        ByteBuffer buffer = ByteBuffer.wrap(tableValue);
        long validTo = buffer.getLong();
        byte[] value = null;
        if (buffer.get() == PRESENT) {
            value = new byte[buffer.remaining()];
            buffer.get(value);
        }
        long validFrom = ByteBuffer.wrap(tableKey).getLong(tableKey.length - Long.BYTES);
        return new Version(validFrom, validTo, value);
    }

    /** Whether a version ended before {@code liveFrom}, or says since before then that the key is deleted. */
    static boolean isExpired(MemorySegment tableKey, MemorySegment tableValue, long liveFrom) {
        long validTo = TableFilter.longAt(tableValue, 0);
        if (validTo != UNDEFINED) {
            return validTo < liveFrom;
        }
        return tableValue.byteSize() == VALUE_HEADER_BYTES
                && tableValue.get(ValueLayout.JAVA_BYTE, Long.BYTES) == DELETED
                && TableFilter.longAt(tableKey, tableKey.byteSize() - Long.BYTES) < liveFrom;
    }
}
