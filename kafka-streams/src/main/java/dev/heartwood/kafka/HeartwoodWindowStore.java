package dev.heartwood.kafka;

import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.apache.kafka.streams.state.internals.WindowKeySchema;

/** A window store of bytes. */
class HeartwoodWindowStore extends SegmentStore implements WindowStore<Bytes, byte[]> {
    private final WindowShape windows;
    private final WindowReads reads = new WindowReads(this, false);
    private volatile int sequenceNumber;

    /**
     * What windows a store has.
     *
     * @param retention how long a window is shown and kept after its start
     * @param segmentMillis the length of a time segment
     * @param windowMillis the length of a window
     * @param duplicates what a second value for a window does to the first
     */
    record WindowShape(Retention retention, long segmentMillis, long windowMillis, Duplicates duplicates) {}

    /** What becomes of several values for one key and window. */
    enum Duplicates {
        REPLACE,
        RETAIN
    }

    private HeartwoodWindowStore(String name, ValueFormat format, WindowShape windows) {
        super(
                name,
                new TableShape(TableKind.WINDOW, format, windows.segmentMillis()),
                SegmentKeys.WINDOW,
                windows.retention());
        this.windows = windows;
    }

    /** A store whose values have the format. */
    static HeartwoodWindowStore of(String name, ValueFormat format, WindowShape windows) {
        return switch (format) {
            case PLAIN -> new HeartwoodWindowStore(name, format, windows);
            case TIMESTAMPED -> new Timestamped(name, windows);
            case HEADERS -> new WithHeaders(name, windows);
        };
    }

    private static final class Timestamped extends HeartwoodWindowStore implements TimestampedBytesStore {
        Timestamped(String name, WindowShape windows) {
            super(name, ValueFormat.TIMESTAMPED, windows);
        }
    }

    private static final class WithHeaders extends HeartwoodWindowStore
            implements TimestampedBytesStore, HeadersBytesStore {
        WithHeaders(String name, WindowShape windows) {
            super(name, ValueFormat.HEADERS, windows);
        }
    }

    final long windowMillis() {
        return windows.windowMillis();
    }

    /** The sequence number of the newest value; 0 when duplicates are not retained. */
    final int sequenceNumber() {
        return sequenceNumber;
    }

    @Override
    public final void put(Bytes key, byte[] value, long windowStart) {
        Objects.requireNonNull(key, "key cannot be null");
        boolean retains = windows.duplicates() == Duplicates.RETAIN;
        if (value == null && retains) {
            return;
        }
        if (retains) {
            sequenceNumber = sequenceNumber + 1 & Integer.MAX_VALUE;
        }
        write(WindowKeySchema.toStoreKeyBinary(key, windowStart, sequenceNumber), value);
    }

    @Override
    public final byte[] fetch(Bytes key, long time) {
        return reads.fetch(key, time);
    }

    @Override
    public final WindowStoreIterator<byte[]> fetch(Bytes key, long from, long to) {
        return reads.fetch(key, from, to, Direction.FORWARD);
    }

    @Override
    public final WindowStoreIterator<byte[]> backwardFetch(Bytes key, long from, long to) {
        return reads.fetch(key, from, to, Direction.BACKWARD);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo, long from, long to) {
        return reads.fetch(keyFrom, keyTo, from, to, Direction.FORWARD);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
            Bytes keyFrom, Bytes keyTo, long from, long to) {
        return reads.fetch(keyFrom, keyTo, from, to, Direction.BACKWARD);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> all() {
        return reads.all();
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
        return reads.backwardAll();
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long from, long to) {
        return reads.fetch(null, null, from, to, Direction.FORWARD);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(long from, long to) {
        return reads.fetch(null, null, from, to, Direction.BACKWARD);
    }

    /** The store as Kafka Streams 4.4 shows it to readers that want committed data only, or all. */
    public final ReadOnlyWindowStore<Bytes, byte[]> readOnly(IsolationLevel level) {
        return new WindowReads(this, level == IsolationLevel.READ_COMMITTED);
    }
}
