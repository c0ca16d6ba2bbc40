package dev.heartwood.kafka;

import dev.heartwood.MemoryStats;
import dev.heartwood.StoreStats;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.Sensor.RecordingLevel;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * The gauges of one store at the level INFO, among the other metrics of state stores. Those whose name begins with {@code
 * instance-} are of the environment that the store shares with all others of its KafkaStreams instance, the same at each of them. No gauge
 * is made of both kinds: one store's part of what all have done says nothing of either.
 */
final class TableMetrics {
    /** The scope that store metrics are tagged with. */
    static final String SCOPE = "heartwood";

    private final StreamsMetricsImpl metrics;
    private final String taskId;
    private final String storeName;
    private final SharedEnvironment shared;
    private final List<MetricName> added = new ArrayList<>();
    private StateTable table;

    TableMetrics(StateStoreContext context, String storeName, SharedEnvironment shared) {
        this.metrics = context.metrics() instanceof StreamsMetricsImpl found ? found : null;
        this.taskId = String.valueOf(context.taskId());
        this.storeName = storeName;
        this.shared = shared;
    }

    void add(StateTable table) {
        if (metrics == null) {
            return;
        }
        this.table = table;
        store("disk-bytes", "bytes of the store's files", StoreStats::diskBytes);
        store("live-bytes", "bytes of the store's files that are in use", StoreStats::liveBytes);
        store("user-bytes-written", "bytes of keys and values written", StoreStats::userBytesWritten);
        store("stall-time-ns", "time that writers were slowed, in nanoseconds", StoreStats::stallNanos);
        store("stall-time-ns-max", "the longest single delay of a writer, in nanoseconds", StoreStats::stallNanosMax);
        store("compaction-debt-bytes", "bytes that merges are still due for", StoreStats::debtBytes);
        store("damaged-pages", "different pages of the store found damaged since it was opened", StoreStats::damagedPages);
        store("merges-set-aside", "merges that met a damaged page since the store was opened, and are not done", StoreStats::mergesSetAside);
        store("filter-probes", "filters that point reads of the store asked", StoreStats::filterProbes);
        gauge("write-amplification", "bytes written to the device per byte written", (config, now) -> {
            StoreStats stats = stats();
            return stats == null ? 0.0 : stats.writeAmplification();
        });
        gauge("uncommitted-bytes", "bytes written since the last commit", (config, now) -> table.writtenBytes());
        shared("instance-memory-budget-bytes", "the memory of all stores together", MemoryStats::budgetBytes);
        shared("instance-memory-used-bytes", "what all stores use of it", MemoryStats::usedBytes);
        shared("instance-memtable-bytes", "what memtables of all stores use", MemoryStats::memtableBytes);
        shared("instance-cache-bytes", "what the page cache of all stores uses", MemoryStats::cacheBytes);
        store("instance-page-reads", "pages of all stores read because they were asked for and not in memory", StoreStats::pageReads);
    }

    private void store(String name, String description, ToLongFunction<StoreStats> value) {
        gauge(name, description, (config, now) -> {
            StoreStats stats = stats();
            return stats == null ? 0L : value.applyAsLong(stats);
        });
    }

    private void shared(String name, String description, ToLongFunction<MemoryStats> value) {
        gauge(name, description, (config, now) -> value.applyAsLong(shared.memoryStats()));
    }

    private StoreStats stats() {
        try {
            return table.stats();
        } catch (InvalidStateStoreException | ProcessorStateException e) {
            return null;
        }
    }

    private void gauge(String name, String description, Gauge<?> gauge) {
        added.add(metrics.addStoreLevelMutableMetric(
                taskId, SCOPE, storeName, name, description, RecordingLevel.INFO, gauge));
    }

    /** Takes the gauges away; a closed store is not asked any more. */
    void remove() {
        added.forEach(metrics::removeMetric);
        added.clear();
    }
}
