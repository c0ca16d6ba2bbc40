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

    /** Records of before this are not shown. */
    final long liveFrom() {
        return before(retention.shownMillis());
    }

    /** Records of before this are not even shown to who emits what has closed. */
    final long emittedFrom() {
        return before(retention.emittedMillis());
    }

    private long before(long millis) {
        long streamTime = table().streamTime();
        return streamTime < 0 ? 0 : Math.max(0, streamTime - millis);
    }

    final byte[] tableKey(byte[] storeKey) {
        return keys.tableKey(storeKey, shape().segmentMillis());
    }

    /** Sets what a store key has, null for nothing, unless it has expired. */
    final void write(Bytes storeKey, byte[] value) {
        StateTable table = table();
        long time = keys.timeOfStoreKey(storeKey.get());
        table.observe(time);
        if (time < liveFrom()) {
            droppedRecords.count();
            updatePosition();
            return;
        }
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
        long from = emittedFrom();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            restorePosition(record, batch);
            if (keys.timeOfStoreKey(record.key()) >= from) {
                batch.put(tableKey(record.key()), record.value());
            }
        }
        dropExpired(table);
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
