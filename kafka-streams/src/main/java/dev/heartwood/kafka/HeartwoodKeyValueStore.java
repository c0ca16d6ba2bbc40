package dev.heartwood.kafka;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;

/** A key-value store of bytes, ordered by the unsigned bytes of its keys. */
class HeartwoodKeyValueStore extends TableStore implements KeyValueStore<Bytes, byte[]> {
    private final KeyValueReads reads = new KeyValueReads(name(), this::table, false);

    private HeartwoodKeyValueStore(String name, ValueFormat format) {
        super(name, new TableShape(TableKind.KEY_VALUE, format, 0), TableFilter.NEVER);
    }

    /** A store whose values have the format. */
    static HeartwoodKeyValueStore of(String name, ValueFormat format) {
        return switch (format) {
            case PLAIN -> new HeartwoodKeyValueStore(name, format);
            case TIMESTAMPED -> new Timestamped(name);
            case HEADERS -> new WithHeaders(name);
        };
    }

    private static final class Timestamped extends HeartwoodKeyValueStore implements TimestampedBytesStore {
        Timestamped(String name) {
            super(name, ValueFormat.TIMESTAMPED);
        }
    }

    private static final class WithHeaders extends HeartwoodKeyValueStore implements HeadersBytesStore {
        WithHeaders(String name) {
            super(name, ValueFormat.HEADERS);
        }
    }

    @Override
    final void restore(Collection<ConsumerRecord<byte[], byte[]>> records, RestoreBatch batch) {
        for (ConsumerRecord<byte[], byte[]> record : records) {
            restorePosition(record, batch);
            batch.put(TableKeys.data(record.key()), record.value());
        }
    }

    @Override
    public final void put(Bytes key, byte[] value) {
        requireKey(key);
        table().put(TableKeys.data(key.get()), value);
        updatePosition();
    }

    private static void requireKey(Bytes key) {
        Objects.requireNonNull(key, "key cannot be null");
    }

    @Override
    public final byte[] putIfAbsent(Bytes key, byte[] value) {
        byte[] present = get(key);
        if (present == null) {
            put(key, value);
        }
        return present;
    }

    @Override
    public final void putAll(List<KeyValue<Bytes, byte[]>> entries) {
        // All before any is written.
        for (KeyValue<Bytes, byte[]> entry : entries) {
            requireKey(entry.key);
        }
        for (KeyValue<Bytes, byte[]> entry : entries) {
            put(entry.key, entry.value);
        }
    }

    @Override
    public final byte[] delete(Bytes key) {
        byte[] present = get(key);
        put(key, null);
        return present;
    }

    @Override
    public final byte[] get(Bytes key) {
        return reads.get(key);
    }

    @Override
    public final KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
        return reads.range(from, to);
    }

    @Override
    public final KeyValueIterator<Bytes, byte[]> reverseRange(Bytes from, Bytes to) {
        return reads.reverseRange(from, to);
    }

    @Override
    public final KeyValueIterator<Bytes, byte[]> all() {
        return reads.all();
    }

    @Override
    public final KeyValueIterator<Bytes, byte[]> reverseAll() {
        return reads.reverseAll();
    }

    @Override
    public final <PS extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(P prefix, PS serializer) {
        return reads.prefixScan(prefix, serializer);
    }

    @Override
    public final long approximateNumEntries() {
        return reads.approximateNumEntries();
    }

    /** The store as Kafka Streams 4.4 shows it to readers that want committed data only, or all. */
    public final ReadOnlyKeyValueStore<Bytes, byte[]> readOnly(IsolationLevel level) {
        return new KeyValueReads(name(), this::table, level == IsolationLevel.READ_COMMITTED);
    }
}
