package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.internals.SessionKeySchema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reads of a session store, of one state of its table. Thread-safe. */
final class SessionReads implements ReadOnlySessionStore<Bytes, byte[]> {
    private static final Logger LOG = LoggerFactory.getLogger(HeartwoodSessionStore.class);

    private final HeartwoodSessionStore store;
    private final boolean committedOnly;

    SessionReads(HeartwoodSessionStore store, boolean committedOnly) {
        this.store = store;
        this.committedOnly = committedOnly;
    }

    private TableReader reader() {
        StateTable open = store.table();
        return committedOnly ? open.committedReader() : open;
    }

    /** Sessions of keys that end at or after {@code earliestEnd} and start at or before {@code latestStart}. */
    KeyValueIterator<Windowed<Bytes>, byte[]> overlapping(
            Bytes keyFrom, Bytes keyTo, long earliestEnd, long latestStart, Direction direction) {
        if (keyFrom != null && keyTo != null && keyFrom.compareTo(keyTo) > 0) {
            LOG.warn(InvalidRange.WARNING);
            return new EmptyIterator<>();
        }
        if (!store.isOpen()) {
            // As Kafka Streams' own session stores do.
            return new EmptyIterator<>();
        }
        TableReader reader = reader();
        long from = Math.max(earliestEnd, store.liveFrom(reader));
        return sessions(reader, range(keyFrom, keyTo, from, Long.MAX_VALUE, latestStart), direction);
    }

    /** Sessions of all keys that end within the bounds, to be emitted: they have closed, and so they may have expired. */
    KeyValueIterator<Windowed<Bytes>, byte[]> ending(long earliestEnd, long latestEnd) {
        TableReader reader = reader();
        long from = Math.max(earliestEnd, store.emittedFrom(reader));
        return sessions(reader, range(null, null, from, latestEnd, Long.MAX_VALUE), Direction.FORWARD);
    }

    /** The range; an open end is where the data ends, so that no segment is looked for that is not there. */
    private SegmentRange range(Bytes keyFrom, Bytes keyTo, long endFrom, long endTo, long startTo) {
        return new SegmentRange(
                SegmentKeys.SESSION,
                store.shape().segmentMillis(),
                keyFrom == null ? null : keyFrom.get(),
                keyTo == null ? null : keyTo.get(),
                endFrom,
                Math.min(endTo, store.table().dataUpTo()),
                startTo);
    }

    private KeyValueIterator<Windowed<Bytes>, byte[]> sessions(
            TableReader reader, SegmentRange range, Direction direction) {
        if (range.timeTo() < range.timeFrom()) {
            return new EmptyIterator<>();
        }
        Supplier<Cursor> opening = () -> reader.cursor(range.tableRange());
        return reader.opened(new Sessions(store, opening, range, direction));
    }

    private KeyValueIterator<Windowed<Bytes>, byte[]> ofKey(
            Bytes key, long earliestEnd, long latestStart, Direction direction) {
        Objects.requireNonNull(key, "key cannot be null");
        if (latestStart < 0) {
            // As Kafka Streams' own session stores do, but only for one key.
            throw new IllegalArgumentException("Window startMs time cannot be negative.");
        }
        return overlapping(key, key, earliestEnd, latestStart, direction);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes key, long earliestEnd, long latestStart) {
        return ofKey(key, earliestEnd, latestStart, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes key, Instant earliestEnd, Instant latestStart) {
        return ofKey(key, earliestEnd.toEpochMilli(), latestStart.toEpochMilli(), Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes key, long earliestEnd, long latestStart) {
        return ofKey(key, earliestEnd, latestStart, Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes key, Instant earliestEnd, Instant latestStart) {
        return ofKey(key, earliestEnd.toEpochMilli(), latestStart.toEpochMilli(), Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
            Bytes keyFrom, Bytes keyTo, long earliestEnd, long latestStart) {
        return overlapping(keyFrom, keyTo, earliestEnd, latestStart, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
            Bytes keyFrom, Bytes keyTo, Instant earliestEnd, Instant latestStart) {
        return findSessions(keyFrom, keyTo, earliestEnd.toEpochMilli(), latestStart.toEpochMilli());
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes keyFrom, Bytes keyTo, long earliestEnd, long latestStart) {
        return overlapping(keyFrom, keyTo, earliestEnd, latestStart, Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes keyFrom, Bytes keyTo, Instant earliestEnd, Instant latestStart) {
        return backwardFindSessions(keyFrom, keyTo, earliestEnd.toEpochMilli(), latestStart.toEpochMilli());
    }

    @Override
    public byte[] fetchSession(Bytes key, long start, long end) {
        Objects.requireNonNull(key, "key cannot be null");
        TableReader reader = reader();
        if (end < store.liveFrom(reader)) {
            return null;
        }
        return reader.get(store.tableKey(SessionKeySchema.toBinary(key, start, end).get()));
    }

    @Override
    public byte[] fetchSession(Bytes key, Instant start, Instant end) {
        return fetchSession(key, start.toEpochMilli(), end.toEpochMilli());
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
        return ofKey(key, 0, Long.MAX_VALUE, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
        return ofKey(key, 0, Long.MAX_VALUE, Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo) {
        return overlapping(keyFrom, keyTo, 0, Long.MAX_VALUE, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes keyFrom, Bytes keyTo) {
        return overlapping(keyFrom, keyTo, 0, Long.MAX_VALUE, Direction.BACKWARD);
    }

    private static final class Sessions extends SegmentScan<Windowed<Bytes>> {
        Sessions(HeartwoodSessionStore store, Supplier<Cursor> opening, SegmentRange range, Direction direction) {
            super(store.name(), opening, range, store.table()::dataUpTo, direction);
        }

        @Override
        Windowed<Bytes> key(byte[] tableKey) {
            SegmentKeys keys = SegmentKeys.SESSION;
            return new Windowed<>(
                    Bytes.wrap(keys.recordKey(tableKey)), new SessionWindow(keys.start(tableKey), keys.time(tableKey)));
        }
    }
}
