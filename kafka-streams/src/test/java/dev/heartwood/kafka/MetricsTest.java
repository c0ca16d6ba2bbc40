package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Sensor.RecordingLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.junit.jupiter.api.Test;

/** What a store shows of itself at the level INFO while it is open. */
class MetricsTest {
    private static final int RECORDS = 2_000;
    private static final int VALUE_BYTES = 1_000;
    private static final int EXTENT_BYTES = 128 << 10;

    @Test
    void everyGaugeOfTheReadmeIsShownAtInfoUntilTheStoreCloses() {
        try (TestDirectory directory = new TestDirectory("metrics")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            StoreContext context =
                    new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "32m"), metrics);
            Set<String> without = gauges(metrics).keySet();
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            fill(store);
            Map<String, Double> shown = gauges(metrics);
            shown.keySet().removeAll(without);
            assertEquals(
                    Set.of(
                            "disk-bytes",
                            "live-bytes",
                            "user-bytes-written",
                            "filter-probes",
                            "write-amplification",
                            "stall-time-ns",
                            "stall-time-ns-max",
                            "compaction-debt-bytes",
                            "uncommitted-bytes",
                            "damaged-pages",
                            "merges-set-aside",
                            "instance-memory-budget-bytes",
                            "instance-memory-used-bytes",
                            "instance-memtable-bytes",
                            "instance-cache-bytes",
                            "instance-page-reads"),
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

    /** One of two stores is read more: each shows its own filters, and both the pages of both. A ratio of the two was another at each of them. */
    @Test
    void pageReadsAreOfTheInstanceAndFilterProbesOfTheStore() {
        try (TestDirectory directory = new TestDirectory("metrics")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            StoreContext context =
                    new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "32m"), metrics);
            fillAndClose(context, "busy");
            fillAndClose(context, "idle");
            HeartwoodKeyValueStore busy = context.open(HeartwoodKeyValueStore.of("busy", ValueFormat.PLAIN));
            HeartwoodKeyValueStore idle = context.open(HeartwoodKeyValueStore.of("idle", ValueFormat.PLAIN));
            for (int i = 0; i < RECORDS; i++) {
                busy.get(key(i));
            }
            idle.get(key(0));
            busy.table().settle();
            idle.table().settle();
            Map<String, Double> ofBusy = gauges(metrics, "busy");
            Map<String, Double> ofIdle = gauges(metrics, "idle");
            assertTrue(ofBusy.get("instance-page-reads") > 0, ofBusy::toString);
            assertEquals(ofBusy.get("instance-page-reads"), ofIdle.get("instance-page-reads"));
            assertEquals(busy.table().stats().pageReads(), ofIdle.get("instance-page-reads"));
            assertEquals(busy.table().stats().filterProbes(), ofBusy.get("filter-probes"));
            assertEquals(idle.table().stats().filterProbes(), ofIdle.get("filter-probes"));
            assertTrue(ofBusy.get("filter-probes") > 10 * ofIdle.get("filter-probes"), () -> ofBusy + " and " + ofIdle);
            busy.close();
            idle.close();
        }
    }

    private static void fillAndClose(StoreContext context, String name) {
        HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of(name, ValueFormat.PLAIN));
        fill(store);
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
    }

    @Test
    void damageIsShown() throws IOException {
        try (TestDirectory directory = new TestDirectory("metrics")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            StoreContext context =
                    new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "32m"), metrics);
            HeartwoodKeyValueStore filled = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            fill(filled);
            filled.commit(Map.of(StoreContext.CHANGELOG, 1L));
            filled.close();
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            assertEquals(0, gauges(metrics).get("damaged-pages"));
            assertEquals(0, gauges(metrics).get("merges-set-aside"));
            zeroAllButSuperblocks(TableOpener.directory(context.streams().stateDir(), "s").resolve("data.hw"));
            assertThrows(ProcessorStateException.class, () -> {
                for (int i = 0; i < RECORDS; i++) {
                    store.get(key(i));
                }
            });
            assertTrue(gauges(metrics).get("damaged-pages") > 0);
            fill(store);
            store.table().settle();
            assertTrue(gauges(metrics).get("merges-set-aside") > 0);
            store.close();
        }
    }

    private static Bytes key(int i) {
        return Bytes.wrap(("key" + i).getBytes());
    }

    private static void fill(HeartwoodKeyValueStore store) {
        for (int i = 0; i < RECORDS; i++) {
            store.put(key(i), new byte[VALUE_BYTES]);
        }
    }

    /** What the store has read is with it, and what it reads from now on is damaged. */
    private static void zeroAllButSuperblocks(Path data) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(data.toFile(), "rw")) {
            file.seek(EXTENT_BYTES);
            file.write(new byte[(int) (file.length() - EXTENT_BYTES)]);
        }
    }

    /** The numbers among the metrics of state stores that are shown at INFO, by name. */
    private static Map<String, Double> gauges(StreamsMetricsImpl metrics) {
        return gauges(metrics, tags -> true);
    }

    private static Map<String, Double> gauges(StreamsMetricsImpl metrics, String store) {
        return gauges(metrics, tags -> store.equals(tags.get(TableMetrics.SCOPE + "-state-id")));
    }

    private static Map<String, Double> gauges(StreamsMetricsImpl metrics, Predicate<Map<String, String>> tags) {
        return metrics.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().group().equals("stream-state-metrics"))
                .filter(metric -> tags.test(metric.getKey().tags()))
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
