package dev.heartwood.kafka;

import dev.heartwood.KeyRange;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a fetch asks for. All bounds are inclusive.
 *
 * @param keys the kind of keys
 * @param segmentMillis the length of a segment
 * @param keyFrom the least record key, or null
 * @param keyTo the greatest record key, or null
 * @param timeFrom the least window start, or session end; 0 or more
 * @param timeTo the greatest window start, or session end
 * @param startTo the greatest start
 */
record SegmentRange(
        SegmentKeys keys, long segmentMillis, byte[] keyFrom, byte[] keyTo, long timeFrom, long timeTo, long startTo) {
    private static final int GROUPS_MAX = 8;

    /*
     * Record keys have any length and stand before the times, so within a segment the order of table keys is not quite that of
     * record keys: the windows of a key may lie among those of keys that it is a prefix of. The bounds below hold everything
     * that is asked for, and matches() leaves out what else lies between them.
     */
    long segmentFrom() {
        return timeFrom / segmentMillis;
    }

    long segmentTo() {
        return timeTo / segmentMillis;
    }

    /**
     * Whether the keys asked for are one {@linkplain dev.heartwood.Cursor#enterGroup group} in each of a few segments, of which
     * {@code lastSegment} is the last that may hold something.
     */
    boolean isFewGroups(long lastSegment) {
        return isOneKey()
                && keys.kind().groupSuffixBytes() == keys.suffixBytes()
                && lastSegment - segmentFrom() < GROUPS_MAX;
    }

    /** The group of a segment's keys that are asked for. */
    byte[] group(long segment) {
        return SegmentKeys.prefixed(segment, keyFrom);
    }

    /** The greatest table key of the group of a segment that is asked for. */
    byte[] upperInGroup(long segment) {
        return SegmentKeys.prefixed(segment, greatestOf(keyFrom));
    }

    private boolean isOneKey() {
        return keyFrom != null && Arrays.equals(keyFrom, keyTo);
    }

    /** No table key of the segment that is asked for lies before this. */
    byte[] lower(long segment) {
        if (keyFrom == null) {
            return SegmentKeys.prefixed(segment, new byte[0]);
        }
        if (!isOneKey()) {
            return SegmentKeys.prefixed(segment, keyFrom);
        }
        byte[] from = ByteBuffer.allocate(keyFrom.length + Long.BYTES)
                .put(keyFrom)
                .putLong(timeFrom)
                .array();
        return SegmentKeys.prefixed(segment, from);
    }

    /** No table key of the segment that is asked for lies after this. */
    byte[] upper(long segment) {
        if (keyTo == null) {
            return SegmentKeys.prefixed(segment + 1, new byte[0]);
        }
        byte[] greatest = null;
        for (int length = isOneKey() ? keyTo.length : 0; length <= keyTo.length; length++) {
            byte[] candidate = greatestOf(Arrays.copyOf(keyTo, length));
            if (greatest == null || Arrays.compareUnsigned(candidate, greatest) > 0) {
                greatest = candidate;
            }
        }
        return SegmentKeys.prefixed(segment, greatest);
    }

    /** The greatest store key of a record key; a prefix of the upper bound may have a greater one than the bound itself. */
    private byte[] greatestOf(byte[] recordKey) {
        byte[] storeKey = Arrays.copyOf(recordKey, recordKey.length + keys.suffixBytes());
        Arrays.fill(storeKey, recordKey.length, storeKey.length, (byte) 0xff);
        ByteBuffer.wrap(storeKey).putLong(recordKey.length, timeTo);
        return storeKey;
    }

    /** The range of table keys from the first segment to the last. */
    KeyRange tableRange() {
        return KeyRange.between(lower(segmentFrom()), TableKeys.after(upper(segmentTo())));
    }

    /** Whether a key is of a time that a walk through its group comes to only after all times that are asked for. */
    boolean isBehind(byte[] tableKey, Direction direction) {
        long time = keys.time(tableKey);
        return direction == Direction.FORWARD ? time > timeTo : time < timeFrom;
    }

    /** Whether a table key is asked for. */
    boolean matches(byte[] tableKey) {
        long time = keys.time(tableKey);
        if (time < timeFrom || time > timeTo || keys.start(tableKey) > startTo) {
            return false;
        }
        int to = tableKey.length - keys.suffixBytes();
        return (keyFrom == null
                        || Arrays.compareUnsigned(
                                        tableKey, SegmentKeys.PREFIX_BYTES, to, keyFrom, 0, keyFrom.length) >= 0)
                && (keyTo == null
                        || Arrays.compareUnsigned(tableKey, SegmentKeys.PREFIX_BYTES, to, keyTo, 0, keyTo.length) <= 0);
    }
}
