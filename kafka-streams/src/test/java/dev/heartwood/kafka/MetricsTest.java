package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Sensor.RecordingLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.junit.jupiter.api.Test;

/** What a store shows of itself at the level INFO while it is open. */
class MetricsTest {
    private static final int RECORDS = 2_000;
    private static final int VALUE_BYTES = 1_000;

    @Test
    void everyGaugeOfTheReadmeIsShownAtInfoUntilTheStoreCloses() {
        try (TestDirectory directory = new TestDirectory("metrics")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            StoreContext context =
                    new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "32m"), metrics);
            Set<String> without = gauges(metrics).keySet();
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            for (int i = 0; i < RECORDS; i++) {
                store.put(Bytes.wrap(("key" + i).getBytes()), new byte[VALUE_BYTES]);
            }
            Map<String, Double> shown = gauges(metrics);
            shown.keySet().removeAll(without);
            assertEquals(
                    Set.of(
                            "disk-bytes",
                            "live-bytes",
                            "user-bytes-written",
                            "write-amplification",
                            "stall-time-ns",
                            "stall-time-ns-max",
                            "compaction-debt-bytes",
                            "uncommitted-bytes",
                            "instance-memory-budget-bytes",
                            "instance-memory-used-bytes",
                            "instance-memtable-bytes",
                            "instance-cache-bytes",
                            "instance-page-reads-per-probe"),
                    shown.keySet());
            double written = (double) RECORDS * VALUE_BYTES;
            assertTrue(shown.get("user-bytes-written") > written, shown::toString);
            assertTrue(shown.get("uncommitted-bytes") > written, shown::toString);
            assertTrue(shown.get("disk-bytes") > 0, shown::toString);
            assertTrue(shown.get("instance-memtable-bytes") > 0, shown::toString);
            assertEquals(32 << 20, shown.get("instance-memory-budget-bytes"));
            assertTrue(shown.get("instance-memory-used-bytes") <= shown.get("instance-memory-budget-bytes"), shown::toString);
            store.commit(Map.of(StoreContext.CHANGELOG, 1L));
            assertEquals(0, gauges(metrics).get("uncommitted-bytes"));
            store.table().settle();
            assertTrue(gauges(metrics).get("write-amplification") > 0);
            store.close();
            assertEquals(without, gauges(metrics).keySet());
        }
    }

    /** The numbers among the metrics of state stores that are shown at INFO, by name. */
    private static Map<String, Double> gauges(StreamsMetricsImpl metrics) {
        return metrics.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().group().equals("stream-state-metrics"))
                .filter(metric -> metric.getValue() instanceof KafkaMetric shown
                        && shown.config().recordLevel() == RecordingLevel.INFO
                        && shown.metricValue() instanceof Number)
                .collect(Collectors.toMap(
                        metric -> metric.getKey().name(),
                        metric -> ((Number) metric.getValue().metricValue()).doubleValue(),
                        (one, other) -> one,
                        TreeMap::new));
    }
}
