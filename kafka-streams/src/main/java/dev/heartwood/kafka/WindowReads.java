package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.TimeWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reads of a window store, of one state of its table. Thread-safe. */
final class WindowReads implements ReadOnlyWindowStore<Bytes, byte[]> {
    private static final Logger LOG = LoggerFactory.getLogger(HeartwoodWindowStore.class);

    private final HeartwoodWindowStore store;
    private final boolean committedOnly;

    WindowReads(HeartwoodWindowStore store, boolean committedOnly) {
        this.store = store;
        this.committedOnly = committedOnly;
    }

    private TableReader reader() {
        StateTable open = store.table();
        return committedOnly ? open.committedReader() : open;
    }

    @Override
    public byte[] fetch(Bytes key, long time) {
        Objects.requireNonNull(key, "key cannot be null");
        TableReader reader = reader();
        if (time < store.liveFrom(reader)) {
            return null;
        }
        Bytes storeKey = WindowKeySchema.toStoreKeyBinary(key, time, store.sequenceNumber());
        return reader.get(store.tableKey(storeKey.get()));
    }

    WindowStoreIterator<byte[]> fetch(Bytes key, long from, long to, Direction direction) {
        Objects.requireNonNull(key, "key cannot be null");
        TableReader reader = reader();
        SegmentRange range = range(reader, key, key, from, to);
        if (range == null) {
            return new NoWindows();
        }
        return reader.opened(new Times(store, () -> reader.cursor(range.tableRange()), range, direction));
    }

    KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
            Bytes keyFrom, Bytes keyTo, long from, long to, Direction direction) {
        if (keyFrom != null && keyTo != null && keyFrom.compareTo(keyTo) > 0) {
            LOG.warn(InvalidRange.WARNING);
            return new EmptyIterator<>();
        }
        TableReader reader = reader();
        SegmentRange range = range(reader, keyFrom, keyTo, from, to);
        if (range == null) {
            return new EmptyIterator<>();
        }
        Supplier<Cursor> opening = () -> reader.cursor(range.tableRange());
        return reader.opened(new Windows(store, opening, range, direction));
    }

    /** The range, or null when nothing live can lie in it. */
    private SegmentRange range(TableReader reader, Bytes keyFrom, Bytes keyTo, long from, long to) {
        long liveFrom = Math.max(from, store.liveFrom(reader));
        return to < liveFrom
                ? null
                : new SegmentRange(
                        SegmentKeys.WINDOW,
                        store.shape().segmentMillis(),
                        keyFrom == null ? null : keyFrom.get(),
                        keyTo == null ? null : keyTo.get(),
                        liveFrom,
                        to,
                        Long.MAX_VALUE);
    }

    @Override
    public WindowStoreIterator<byte[]> fetch(Bytes key, Instant from, Instant to) {
        return fetch(key, from.toEpochMilli(), to.toEpochMilli(), Direction.FORWARD);
    }

    @Override
    public WindowStoreIterator<byte[]> backwardFetch(Bytes key, Instant from, Instant to) {
        return fetch(key, from.toEpochMilli(), to.toEpochMilli(), Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo, Instant from, Instant to) {
        return fetch(keyFrom, keyTo, from.toEpochMilli(), to.toEpochMilli(), Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
            Bytes keyFrom, Bytes keyTo, Instant from, Instant to) {
        return fetch(keyFrom, keyTo, from.toEpochMilli(), to.toEpochMilli(), Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
        return fetch(null, null, 0, Long.MAX_VALUE, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
        return fetch(null, null, 0, Long.MAX_VALUE, Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(Instant from, Instant to) {
        return fetch(null, null, from.toEpochMilli(), to.toEpochMilli(), Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(Instant from, Instant to) {
        return fetch(null, null, from.toEpochMilli(), to.toEpochMilli(), Direction.BACKWARD);
    }

    /** Shows the starts of one key's windows. */
    private static final class Times extends SegmentScan<Long> implements WindowStoreIterator<byte[]> {
        Times(HeartwoodWindowStore store, Supplier<Cursor> opening, SegmentRange range, Direction direction) {
            super(store.name(), opening, range, store.table()::dataUpTo, direction);
        }

        @Override
        Long key(byte[] tableKey) {
            return SegmentKeys.WINDOW.time(tableKey);
        }
    }

    /** Shows keys with their windows. */
    private static final class Windows extends SegmentScan<Windowed<Bytes>> {
        private final long windowMillis;

        Windows(HeartwoodWindowStore store, Supplier<Cursor> opening, SegmentRange range, Direction direction) {
            super(store.name(), opening, range, store.table()::dataUpTo, direction);
            windowMillis = store.windowMillis();
        }

        @Override
        Windowed<Bytes> key(byte[] tableKey) {
            long start = SegmentKeys.WINDOW.time(tableKey);
            long end = start + windowMillis;
            Bytes recordKey = Bytes.wrap(SegmentKeys.WINDOW.recordKey(tableKey));
            return new Windowed<>(recordKey, new TimeWindow(start, end < 0 ? Long.MAX_VALUE : end));
        }
    }

    private static final class NoWindows implements WindowStoreIterator<byte[]> {
        private final EmptyIterator<Long> nothing = new EmptyIterator<>();

        @Override
        public boolean hasNext() {
            return false;
        }

        @Override
        public org.apache.kafka.streams.KeyValue<Long, byte[]> next() {
            return nothing.next();
        }

        @Override
        public Long peekNextKey() {
            return nothing.peekNextKey();
        }

        @Override
        public void close() {}
    }
}
