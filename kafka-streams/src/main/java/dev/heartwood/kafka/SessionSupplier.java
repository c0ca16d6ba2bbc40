package dev.heartwood.kafka;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;

/** Makes session stores. Immutable. */
class SessionSupplier implements SessionBytesStoreSupplier {
    private final String name;
    private final ValueFormat format;
    private final Retention retention;
    private final long segmentMillis;

    private SessionSupplier(String name, ValueFormat format, Retention retention, long segmentMillis) {
        this.name = Objects.requireNonNull(name, "name cannot be null");
        this.format = format;
        this.retention = retention;
        this.segmentMillis = segmentMillis;
    }

    /** Kafka Streams looks at the supplier to see whether values carry headers. */
    private static final class WithHeaders extends SessionSupplier implements HeadersBytesStoreSupplier {
        WithHeaders(String name, Retention retention, long segmentMillis) {
            super(name, ValueFormat.HEADERS, retention, segmentMillis);
        }
    }

    static SessionSupplier of(String name, ValueFormat format, Retention retention, long segmentMillis) {
        return format == ValueFormat.HEADERS
                ? new WithHeaders(name, retention, segmentMillis)
                : new SessionSupplier(name, format, retention, segmentMillis);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final SessionStore<Bytes, byte[]> get() {
        return HeartwoodSessionStore.of(name, format, retention, segmentMillis);
    }

    @Override
    public final String metricsScope() {
        return TableMetrics.SCOPE;
    }

    @Override
    public final long segmentIntervalMs() {
        return segmentMillis;
    }

    @Override
    public final long retentionPeriod() {
        return retention.periodMillis();
    }
}
