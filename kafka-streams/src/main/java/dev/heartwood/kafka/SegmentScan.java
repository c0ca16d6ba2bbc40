package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Walks what a {@link SegmentRange} asks for, segment by segment. Between segments, and to the first key within one, it seeks; so it
 * touches the segments that exist and the keys that are asked for, not what lies between them.
 */
abstract class SegmentScan<K> extends TableIterator<K> {
    private final SegmentRange range;
    private final LongSupplier dataUpTo;
    private final Direction direction;
    private boolean started;
    private boolean byGroups;
    private long lastSegment;
    private long segment = -1;
    private byte[] lower;
    private byte[] upper;

    /**
     * A scan of a range.
     *
     * @param dataUpTo the time after which no data lies; asked late, because what is written until the cursor opens is shown
     */
    SegmentScan(
            String storeName, Supplier<Cursor> opening, SegmentRange range, LongSupplier dataUpTo, Direction direction) {
        super(storeName, opening);
        this.range = range;
        this.dataUpTo = dataUpTo;
        this.direction = direction;
    }

    @Override
    final boolean advance(Cursor cursor) {
        if (!started) {
            lastSegment = lastSegment();
            byGroups = range.isFewGroups(lastSegment);
        }
        return byGroups ? advanceInGroups(cursor) : advanceInRange(cursor);
    }

    private boolean advanceInGroups(Cursor cursor) {
        boolean forward = direction == Direction.FORWARD;
        if (!started) {
            started = true;
            segment = forward ? range.segmentFrom() - 1 : lastSegment + 1;
        } else if (find(cursor, step(cursor))) {
            return true;
        }
        while (forward ? segment < lastSegment : segment > range.segmentFrom()) {
            segment += forward ? 1 : -1;
            cursor.enterGroup(range.group(segment));
            boolean valid = forward
                    ? cursor.seek(range.lower(segment))
                    : cursor.seekBackwards(range.upperInGroup(segment));
            if (find(cursor, valid)) {
                return true;
            }
        }
        return false;
    }

    /** Goes on within a group to the next entry that is asked for; false when there is none. */
    private boolean find(Cursor cursor, boolean standing) {
        boolean valid = standing;
        while (valid) {
            byte[] key = cursor.key();
            if (range.matches(key)) {
                return true;
            }
            valid = !range.isBehind(key, direction) && step(cursor);
        }
        return false;
    }

    private boolean advanceInRange(Cursor cursor) {
        boolean forward = direction == Direction.FORWARD;
        boolean valid = started ? step(cursor) : forward ? cursor.first() : cursor.last();
        started = true;
        while (valid) {
            byte[] key = cursor.key();
            enter(SegmentKeys.segment(key));
            if (Arrays.compareUnsigned(key, lower) < 0) {
                if (!forward && segment <= range.segmentFrom()) {
                    return false;
                }
                valid = forward ? cursor.seek(lower) : cursor.seekBackwards(range.upper(segment - 1));
            } else if (Arrays.compareUnsigned(key, upper) > 0) {
                if (forward && segment >= lastSegment()) {
                    return false;
                }
                valid = forward ? cursor.seek(range.lower(segment + 1)) : cursor.seekBackwards(upper);
            } else if (range.matches(key)) {
                return true;
            } else {
                valid = step(cursor);
            }
        }
        return false;
    }

    /** The last segment that is asked for and may hold something. */
    private long lastSegment() {
        return Math.min(range.timeTo(), dataUpTo.getAsLong()) / range.segmentMillis();
    }

    @Override
    final boolean hasNextWhenClosed() {
        return false;
    }

    private boolean step(Cursor cursor) {
        return direction == Direction.FORWARD ? cursor.next() : cursor.previous();
    }

    private void enter(long keySegment) {
        if (keySegment != segment) {
            segment = keySegment;
            lower = range.lower(segment);
            upper = range.upper(segment);
        }
    }
}
