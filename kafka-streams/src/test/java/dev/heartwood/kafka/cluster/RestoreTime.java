package dev.heartwood.kafka.cluster;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/** Counts restored records, and the time from the first start of a restore to the last end of one. Thread-safe. */
final class RestoreTime implements StateRestoreListener {
    private long records;
    private long beginNanos;
    private long endNanos;
    private boolean begun;

    @Override
    public synchronized void onRestoreStart(TopicPartition partition, String store, long from, long to) {
        if (!begun) {
            begun = true;
            beginNanos = System.nanoTime();
            endNanos = beginNanos;
        }
    }

    @Override
    public synchronized void onBatchRestored(TopicPartition partition, String store, long end, long count) {
        records += count;
    }

    @Override
    public synchronized void onRestoreEnd(TopicPartition partition, String store, long total) {
        endNanos = System.nanoTime();
    }

    /** The records and the milliseconds, as numbers with a space between them. */
    synchronized String said() {
        return records + " " + (endNanos - beginNanos) / 1_000_000;
    }
}
