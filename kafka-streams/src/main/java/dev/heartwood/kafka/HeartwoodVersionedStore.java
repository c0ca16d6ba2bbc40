package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.kafka.VersionKeys.Version;
import java.util.Collection;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.internals.StoreQueryUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A versioned key-value store of bytes. The history retention is also the grace for late records. */
final class HeartwoodVersionedStore extends TableStore implements VersionedKeyValueStore<Bytes, byte[]> {
    private static final Logger LOG = LoggerFactory.getLogger(HeartwoodVersionedStore.class);

    private final long retentionMillis;
    private DroppedRecords droppedRecords;

    HeartwoodVersionedStore(String name, long retentionMillis) {
        super(name, new TableShape(TableKind.VERSIONED, ValueFormat.TIMESTAMPED, 0), VersionKeys::isExpired);
        this.retentionMillis = retentionMillis;
    }

    @Override
    void opened(StateStoreContext context) {
        droppedRecords = new DroppedRecords(context);
    }

    private boolean isExpired(long timestamp) {
        return timestamp < table().observedTime() - retentionMillis;
    }

    /** Whether no version can begin at a time: it is of before the history, or of before all time, which keys have none for. */
    private boolean isTooEarly(long timestamp) {
        return timestamp < 0 || isExpired(timestamp);
    }

    @Override
    public long put(Bytes key, byte[] value, long timestamp) {
        Objects.requireNonNull(key, "key cannot be null");
        StateTable table = table();
        if (isTooEarly(timestamp)) {
            updatePosition();
            droppedRecords.count();
            LOG.warn("Skipping record for expired put.");
            return PUT_RETURN_CODE_NOT_PUT;
        }
        table.observe(timestamp);
        take(table, timestamp);
        long validTo = isDeletionOfNothing(key.get(), value) ? VersionKeys.UNDEFINED : insert(key.get(), value, timestamp, table::put);
        updatePosition();
        dropExpired(table);
        return validTo == VersionKeys.UNDEFINED ? PUT_RETURN_CODE_VALID_TO_UNDEFINED : validTo;
    }

    /** Whether a key is deleted that is too long for the table to have. */
    private static boolean isDeletionOfNothing(byte[] key, byte[] value) {
        return value == null && !VersionKeys.fits(key);
    }

    /**
     * Writes a version, and then where the one before it ends. In this order: a reader that finds the one without the other goes
     * by the version that is nearest, and who reads many by where the next one begins. Who was killed between the two makes it good when the record comes again. A version that ended before is left as
     * it is: what ended it may have been a deletion that is no longer kept.
     */
    private long insert(byte[] key, byte[] value, long timestamp, BiConsumer<byte[], byte[]> writer) {
        Neighbours found = table().reading(() -> neighbours(key, timestamp));
        long validTo = validTo(found, timestamp);
        writer.accept(VersionKeys.tableKey(key, timestamp), VersionKeys.tableValue(validTo, value));
        Version before = found.before();
        if (before != null && before.validTo() > timestamp) {
            writer.accept(
                    VersionKeys.tableKey(key, before.validFrom()), VersionKeys.tableValue(timestamp, before.value()));
        }
        return validTo;
    }

    /** When a version ends: where the one before it did, if what ended that is no longer kept. */
    private static long validTo(Neighbours found, long timestamp) {
        if (found.same() != null) {
            return found.same().validTo();
        }
        Version before = found.before();
        boolean isWithin = before != null && before.validTo() > timestamp;
        return isWithin ? Math.min(found.nextFrom(), before.validTo()) : found.nextFrom();
    }

    /** The version that begins at a time, or null; the one before it, or null; and when the one after it begins. */
    private record Neighbours(Version before, Version same, long nextFrom) {}

    private Neighbours neighbours(byte[] key, long timestamp) {
        try (Cursor versions = table().cursor(VersionKeys.versionsOf(key))) {
            boolean hasBefore = versions.seekBackwards(VersionKeys.tableKey(key, timestamp));
            Version before = hasBefore ? VersionKeys.version(versions.key(), versions.value()) : null;
            boolean hasNext = hasBefore ? versions.next() : versions.first();
            long nextFrom = hasNext
                    ? VersionKeys.version(versions.key(), versions.value()).validFrom()
                    : VersionKeys.UNDEFINED;
            if (before == null || before.validFrom() < timestamp) {
                return new Neighbours(before, null, nextFrom);
            }
            boolean hasOlder = versions.seekBackwards(VersionKeys.tableKey(key, timestamp)) && versions.previous();
            Version older = hasOlder ? VersionKeys.version(versions.key(), versions.value()) : null;
            return new Neighbours(older, before, nextFrom);
        }
    }

    @Override
    void restore(Collection<ConsumerRecord<byte[], byte[]>> records, RestoreBatch batch) {
        StateTable table = table();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            restorePosition(record, batch);
            if (isExpired(record.timestamp())) {
                continue;
            }
            table.observe(record.timestamp());
            take(table, record.timestamp());
            if (isDeletionOfNothing(record.key(), record.value())) {
                continue;
            }
            insert(record.key(), record.value(), record.timestamp(), batch::put);
            // The next record may be of the same key, and looks for this one in the table.
            batch.write();
        }
        dropExpired(table);
    }

    /**
     * Has the table take a version that may have been too late before the store was opened. What had expired and is left is history still: of a
     * time whose version has left the disk, the one before says that it had ended.
     */
    private void take(StateTable table, long timestamp) {
        if (timestamp < table.streamTime() - retentionMillis) {
            table.forgetEarlierTime(null);
        }
    }

    /**
     * Lets merges drop what has expired. What the last commit has waits for the next one where a way back may lead to it; versions that begin
     * later do not wait.
     */
    private void dropExpired(StateTable table) {
        table.keepLive(new TableFilter.Live(
                table.expirableBefore(retentionMillis), table.firstNew(), table.streamTime() - retentionMillis));
    }

    @Override
    public VersionedRecord<byte[]> delete(Bytes key, long timestamp) {
        Objects.requireNonNull(key, "key cannot be null");
        if (isTooEarly(timestamp)) {
            droppedRecords.count();
            LOG.warn("Skipping record for expired delete.");
            return null;
        }
        VersionedRecord<byte[]> present = get(key, timestamp);
        put(key, null, timestamp);
        return present;
    }

    @Override
    public VersionedRecord<byte[]> get(Bytes key) {
        Objects.requireNonNull(key, "key cannot be null");
        Version latest = versionAt(key, Long.MAX_VALUE);
        // What ended it may have been a deletion that is no longer kept.
        return latest == null || latest.value() == null || latest.validTo() != VersionKeys.UNDEFINED
                ? null
                : new VersionedRecord<>(latest.value(), latest.validFrom());
    }

    @Override
    public VersionedRecord<byte[]> get(Bytes key, long asOfTimestamp) {
        Objects.requireNonNull(key, "key cannot be null");
        if (isExpired(asOfTimestamp)) {
            VersionedRecord<byte[]> latest = get(key);
            if (latest != null && latest.timestamp() <= asOfTimestamp) {
                return latest;
            }
            LOG.warn("Returning null for expired get.");
            return null;
        }
        Version version = asOfTimestamp < 0 ? null : versionAt(key, asOfTimestamp);
        return version == null || version.value() == null || version.validTo() <= asOfTimestamp
                ? null
                : shown(version);
    }

    /** The newest version that began at or before a time. */
    private Version versionAt(Bytes key, long timestamp) {
        return table().reading(() -> {
            try (Cursor versions = table().cursor(VersionKeys.versionsOf(key.get()))) {
                return versions.seekBackwards(VersionKeys.tableKey(key.get(), timestamp))
                        ? VersionKeys.version(versions.key(), versions.value())
                        : null;
            }
        });
    }

    static VersionedRecord<byte[]> shown(Version version) {
        return version.validTo() == VersionKeys.UNDEFINED
                ? new VersionedRecord<>(version.value(), version.validFrom())
                : new VersionedRecord<>(version.value(), version.validFrom(), version.validTo());
    }

    /** Serves queries for many versions; Kafka Streams serves the others for any store. */
    @Override
    @SuppressWarnings("unchecked")
    public <R> QueryResult<R> query(Query<R> query, PositionBound bound, QueryConfig config) {
        if (!(query instanceof MultiVersionedKeyQuery<?, ?>)) {
            return super.query(query, bound, config);
        }
        long start = config.isCollectExecutionInfo() ? System.nanoTime() : 0;
        Position position = getPosition();
        int partition = context().taskId().partition();
        QueryResult<R> result;
        if (!StoreQueryUtils.isPermitted(position, bound, partition)) {
            result = QueryResult.notUpToBound(position, bound, partition);
        } else {
            try {
                result = (QueryResult<R>)
                        QueryResult.forResult(versions((MultiVersionedKeyQuery<Bytes, byte[]>) query));
            } catch (RuntimeException e) {
                result = QueryResult.forFailure(FailureReason.STORE_EXCEPTION, String.valueOf(e));
            }
        }
        if (config.isCollectExecutionInfo()) {
            result.addExecutionInfo("Handled in " + getClass() + " in " + (System.nanoTime() - start) + "ns");
        }
        result.setPosition(position);
        return result;
    }

    private VersionIterator versions(MultiVersionedKeyQuery<Bytes, byte[]> query) {
        long from = query.fromTime().map(time -> time.toEpochMilli()).orElse(Long.MIN_VALUE);
        long to = query.toTime().map(time -> time.toEpochMilli()).orElse(Long.MAX_VALUE);
        StateTable table = table();
        byte[] key = query.key().get();
        Direction direction =
                query.resultOrder() == ResultOrder.ASCENDING ? Direction.FORWARD : Direction.BACKWARD;
        // Beyond the history only the latest version may be shown, which never expires.
        boolean onlyLatest = isExpired(to);
        VersionIterator.Times times = new VersionIterator.Times(from, to, onlyLatest);
        return new VersionIterator(
                table.opened(new VersionIterator.Entries(name(), table.cursor(VersionKeys.versionsOf(key)), times, direction)));
    }
}
