package dev.heartwood.kafka;

import dev.heartwood.kafka.HeartwoodWindowStore.Duplicates;
import dev.heartwood.kafka.HeartwoodWindowStore.WindowShape;
import java.util.Map;
import org.apache.kafka.streams.kstream.EmitStrategy.StrategyType;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Makes every store of the DSL one of Heartwood's:
 *
 * <pre>{@code
 * props.put("dsl.store.suppliers.class", "dev.heartwood.kafka.HeartwoodDslStoreSuppliers");
 * }</pre>
 *
 * <p>Configured by the keys of {@link HeartwoodStoreConfig}.
 */
public final class HeartwoodDslStoreSuppliers implements DslStoreSuppliers {
    private static final long SEGMENT_MILLIS_MIN = 1_000;
    /** Of a window, or of the retention of sessions, where they are emitted when they close. */
    private static final int CLOSING_SEGMENTS = 16;

    /** For Kafka Streams, which makes one by its class name. */
    public HeartwoodDslStoreSuppliers() {}

    /**
     * Checks the keys of {@link HeartwoodStoreConfig}.
     *
     * @throws org.apache.kafka.common.config.ConfigException when one is not known or out of range
     */
    @Override
    public void configure(Map<String, ?> configs) {
        HeartwoodStoreConfig.of(configs);
    }

    @Override
    public KeyValueBytesStoreSupplier keyValueStore(DslKeyValueParams params) {
        return KeyValueSupplier.of(params.name(), ValueFormat.of(params.dslStoreFormat()));
    }

    @Override
    public WindowBytesStoreSupplier windowStore(DslWindowParams params) {
        Duplicates duplicates = params.retainDuplicates() ? Duplicates.RETAIN : Duplicates.REPLACE;
        WindowShape shape =
                WindowSupplier.shape(params.name(), params.retentionPeriod(), params.windowSize(), duplicates);
        if (params.emitStrategy().type() == StrategyType.ON_WINDOW_CLOSE) {
            long segmentMillis = params.isSlidingWindow()
                    ? Math.max(1, shape.windowMillis())
                    : closingSegmentMillis(shape.windowMillis());
            Retention retention = Retention.ofClosingWindows(shape.retention().periodMillis());
            shape = new WindowShape(retention, segmentMillis, shape.windowMillis(), duplicates);
        }
        ValueFormat format =
                params.dslStoreFormat() == null ? ValueFormat.TIMESTAMPED : ValueFormat.of(params.dslStoreFormat());
        return WindowSupplier.of(params.name(), format, shape);
    }

    /**
     * Windows are fetched by the time at which they close. Tumbling and hopping windows start at few times, so that few share a segment; sliding
     * windows start at any. But Kafka Streams' cache goes through all segments of a range that is fetched, whether something starts there or not.
     */
    private static long closingSegmentMillis(long windowMillis) {
        return Math.max(windowMillis / CLOSING_SEGMENTS, Math.clamp(windowMillis, 1, SEGMENT_MILLIS_MIN));
    }

    @Override
    public SessionBytesStoreSupplier sessionStore(DslSessionParams params) {
        long retentionMillis = Millis.of("retentionPeriod", params.retentionPeriod());
        boolean isClosing = params.emitStrategy().type() == StrategyType.ON_WINDOW_CLOSE;
        Retention retention = isClosing ? Retention.ofClosingSessions(retentionMillis) : Retention.of(retentionMillis);
        long segmentMillis = isClosing
                ? Math.max(retentionMillis / CLOSING_SEGMENTS, SEGMENT_MILLIS_MIN)
                : Millis.segment(retentionMillis);
        ValueFormat format =
                params.storeFormat() == null ? ValueFormat.PLAIN : ValueFormat.of(params.storeFormat());
        return SessionSupplier.of(params.name(), format, retention, segmentMillis);
    }
}
