package dev.heartwood.kafka;

import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.processor.internals.metrics.TaskMetrics;

/** Counts records that came too late, in the task's metric for them. Belongs to the writer of a store. */
final class DroppedRecords {
    private final Sensor sensor;

    DroppedRecords(StateStoreContext context) {
        sensor = context.metrics() instanceof StreamsMetricsImpl metrics
                ? TaskMetrics.droppedRecordsSensor(
                        Thread.currentThread().getName(), String.valueOf(context.taskId()), metrics)
                : null;
    }

    void count() {
        if (sensor != null) {
            sensor.record(1.0);
        }
    }
}
