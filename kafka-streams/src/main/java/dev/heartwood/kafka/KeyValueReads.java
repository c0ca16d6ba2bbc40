package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reads of a key-value store, of one state of its table. Thread-safe. */
final class KeyValueReads implements ReadOnlyKeyValueStore<Bytes, byte[]> {
    private static final Logger LOG = LoggerFactory.getLogger(HeartwoodKeyValueStore.class);

    private final String storeName;
    private final Supplier<StateTable> table;
    private final boolean committedOnly;

    KeyValueReads(String storeName, Supplier<StateTable> table, boolean committedOnly) {
        this.storeName = storeName;
        this.table = table;
        this.committedOnly = committedOnly;
    }

    private TableReader reader() {
        StateTable open = table.get();
        return committedOnly ? open.committedReader() : open;
    }

    @Override
    public byte[] get(Bytes key) {
        Objects.requireNonNull(key, "key cannot be null");
        return reader().get(TableKeys.data(key.get()));
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
        return range(from, to, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> reverseRange(Bytes from, Bytes to) {
        return range(from, to, Direction.BACKWARD);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> all() {
        return range(null, null, Direction.FORWARD);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> reverseAll() {
        return range(null, null, Direction.BACKWARD);
    }

    @Override
    public <PS extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(P prefix, PS serializer) {
        Objects.requireNonNull(prefix, "prefix cannot be null");
        Objects.requireNonNull(serializer, "prefixKeySerializer cannot be null");
        byte[] from = TableKeys.data(serializer.serialize(null, prefix));
        return iterator(KeyRange.prefix(from), Direction.FORWARD);
    }

    private KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to, Direction direction) {
        if (from != null && to != null && from.compareTo(to) > 0) {
            LOG.warn(InvalidRange.WARNING);
            return new EmptyIterator<>();
        }
        byte[] lower = from == null ? new byte[] {TableKeys.DATA} : TableKeys.data(from.get());
        byte[] upper =
                to == null ? new byte[] {TableKeys.DATA + 1} : TableKeys.after(TableKeys.data(to.get()));
        return iterator(KeyRange.between(lower, upper), direction);
    }

    private KeyValueIterator<Bytes, byte[]> iterator(KeyRange range, Direction direction) {
        TableReader reader = reader();
        return reader.opened(new Entries(storeName, reader.cursor(range), direction));
    }

    @Override
    public long approximateNumEntries() {
        return table.get().entriesEstimate();
    }

    private static final class Entries extends TableIterator<Bytes> {
        private final Direction direction;
        private boolean started;

        Entries(String storeName, Cursor cursor, Direction direction) {
            super(storeName, cursor);
            this.direction = direction;
        }

        @Override
        boolean advance(Cursor cursor) {
            if (direction == Direction.FORWARD) {
                return cursor.next();
            }
            if (!started) {
                started = true;
                return cursor.last();
            }
            return cursor.previous();
        }

        @Override
        Bytes key(byte[] tableKey) {
            return Bytes.wrap(TableKeys.dataKey(tableKey));
        }
    }
}
