package dev.heartwood.kafka;

import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.internals.SessionKeySchema;

/** A session store of bytes. */
class HeartwoodSessionStore extends SegmentStore implements SessionStore<Bytes, byte[]> {
    private final SessionReads reads = new SessionReads(this, false);

    private HeartwoodSessionStore(String name, ValueFormat format, Retention retention, long segmentMillis) {
        super(name, new TableShape(TableKind.SESSION, format, segmentMillis), SegmentKeys.SESSION, retention);
    }

    /** A store whose values have the format. Sessions carry no timestamp of their own, so timestamped ones are plain. */
    static HeartwoodSessionStore of(String name, ValueFormat format, Retention retention, long segmentMillis) {
        return format == ValueFormat.HEADERS
                ? new WithHeaders(name, retention, segmentMillis)
                : new HeartwoodSessionStore(name, ValueFormat.PLAIN, retention, segmentMillis);
    }

    private static final class WithHeaders extends HeartwoodSessionStore implements HeadersBytesStore {
        WithHeaders(String name, Retention retention, long segmentMillis) {
            super(name, ValueFormat.HEADERS, retention, segmentMillis);
        }
    }

    @Override
    public final void put(Windowed<Bytes> session, byte[] aggregate) {
        Objects.requireNonNull(session, "sessionKey cannot be null");
        write(SessionKeySchema.toBinary(session), aggregate);
    }

    @Override
    public final void remove(Windowed<Bytes> session) {
        put(session, null);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(long earliestEnd, long latestEnd) {
        return reads.ending(earliestEnd, latestEnd);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes key, long earliestEnd, long latestStart) {
        return reads.findSessions(key, earliestEnd, latestStart);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes key, long earliestEnd, long latestStart) {
        return reads.backwardFindSessions(key, earliestEnd, latestStart);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
            Bytes keyFrom, Bytes keyTo, long earliestEnd, long latestStart) {
        return reads.findSessions(keyFrom, keyTo, earliestEnd, latestStart);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
            Bytes keyFrom, Bytes keyTo, long earliestEnd, long latestStart) {
        return reads.backwardFindSessions(keyFrom, keyTo, earliestEnd, latestStart);
    }

    @Override
    public final byte[] fetchSession(Bytes key, long start, long end) {
        return reads.fetchSession(key, start, end);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
        return reads.fetch(key);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
        return reads.backwardFetch(key);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo) {
        return reads.fetch(keyFrom, keyTo);
    }

    @Override
    public final KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes keyFrom, Bytes keyTo) {
        return reads.backwardFetch(keyFrom, keyTo);
    }

    /** The store as Kafka Streams 4.4 shows it to readers that want committed data only, or all. */
    public final ReadOnlySessionStore<Bytes, byte[]> readOnly(IsolationLevel level) {
        return new SessionReads(this, level == IsolationLevel.READ_COMMITTED);
    }
}
