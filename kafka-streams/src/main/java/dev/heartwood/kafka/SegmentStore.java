package dev.heartwood.kafka;

import java.util.Collection;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStoreContext;

/** What window and session stores have in common: their records expire as stream time passes. */
abstract class SegmentStore extends TableStore {
    private final SegmentKeys keys;
    private final Retention retention;
    private DroppedRecords droppedRecords;
    private long droppedSegment;
    private long droppedNewSegment;

    SegmentStore(String name, TableShape shape, SegmentKeys keys, Retention retention) {
        super(name, shape, keys::isExpired);
        this.keys = keys;
        this.retention = retention;
    }

    @Override
    final void opened(StateStoreContext context) {
        droppedSegment = 0;
        droppedNewSegment = 0;
        droppedRecords = new DroppedRecords(context);
    }

    /** A reader does not show records of before this. */
    final long liveFrom(TableReader reader) {
        return Math.max(before(retention.shownMillis()), keptFrom(reader.streamTime()));
    }

    /** It does not even show records of before this to who emits what has closed. */
    final long emittedFrom(TableReader reader) {
        return Math.max(before(retention.emittedMillis()), keptFrom(reader.streamTime()));
    }

    /** Goes by the time since the store was opened, as Kafka Streams' own stores do. */
    private long before(long millis) {
        long observed = table().observedTime();
        return observed < 0 ? 0 : Math.max(0, observed - millis);
    }

    /** The begin of the first segment that has not expired as a whole by a time. */
    private long keptFrom(long time) {
        return segmentAt(time - retention.keptMillis()) * shape().segmentMillis();
    }

    /**
     * Records of before this come too late. One that is hidden in a segment that has not expired as a whole is written, since that is shown again
     * when the store has been opened again; but not where it would be shown to who emits what has closed.
     */
    private long takenFrom(StateTable table) {
        return retention.emittedMillis() > retention.shownMillis()
                ? before(retention.shownMillis())
                : keptFrom(table.observedTime());
    }

    final byte[] tableKey(byte[] storeKey) {
        return keys.tableKey(storeKey, shape().segmentMillis());
    }

    /** Sets what a store key has, null for nothing, unless it has expired. */
    final void write(Bytes storeKey, byte[] value) {
        StateTable table = table();
        long time = keys.timeOfStoreKey(storeKey.get());
        table.observe(time);
        if (time < takenFrom(table)) {
            droppedRecords.count();
            updatePosition();
            return;
        }
        take(table, time);
        table.put(tableKey(storeKey.get()), value);
        updatePosition();
        dropExpired(table);
    }

    @Override
    final void restore(Collection<ConsumerRecord<byte[], byte[]>> records, RestoreBatch batch) {
        StateTable table = table();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            table.observe(keys.timeOfStoreKey(record.key()));
        }
        long from = keptFrom(table.observedTime());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            restorePosition(record, batch);
            long time = keys.timeOfStoreKey(record.key());
            if (time >= from) {
                take(table, time);
                batch.put(tableKey(record.key()), record.value());
            }
        }
        dropExpired(table);
    }

    /** Has the table take a record whose segment may have expired before the store was opened. */
    private void take(StateTable table, long time) {
        long keptFrom = keptFrom(table.streamTime());
        if (time < keptFrom) {
            table.forgetEarlierTime(SegmentKeys.segmentsBefore(keptFrom / shape().segmentMillis()));
            // What was dropped was so by the earlier time.
            droppedSegment = 0;
            droppedNewSegment = 0;
        }
    }

    /**
     * Lets the table drop what has expired, each time that a whole segment more has: leaves of the tree that hold nothing else go
     * at once, and the rest when a merge meets it. What the last commit has waits for the next one where a way back may lead to it; segments
     * that had nothing then do not wait.
     */
    private void dropExpired(StateTable table) {
        long segment = segmentAt(table.expirableBefore(retention.keptMillis()));
        long newSegment = segmentAt(table.streamTime() - retention.keptMillis());
        if (segment <= droppedSegment && newSegment <= droppedNewSegment) {
            return;
        }
        long firstNew = table.firstNew();
        long millis = shape().segmentMillis();
        table.keepLive(new TableFilter.Live(segment * millis, firstNew, newSegment * millis));
        if (segment > droppedSegment) {
            table.discard(SegmentKeys.segmentsBefore(segment));
        }
        if (newSegment > firstNew) {
            table.discard(SegmentKeys.segments(firstNew, newSegment));
        }
        droppedSegment = segment;
        droppedNewSegment = newSegment;
    }

    private long segmentAt(long time) {
        return Math.max(0, time) / shape().segmentMillis();
    }
}
