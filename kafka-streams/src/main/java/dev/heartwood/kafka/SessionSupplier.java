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
    private final long retentionMillis;
    private final long segmentMillis;

    private SessionSupplier(String name, ValueFormat format, long retentionMillis, long segmentMillis) {
        this.name = Objects.requireNonNull(name, "name cannot be null");
        this.format = format;
        this.retentionMillis = retentionMillis;
        this.segmentMillis = segmentMillis;
    }

    /** Kafka Streams looks at the supplier to see whether values carry headers. */
    private static final class WithHeaders extends SessionSupplier implements HeadersBytesStoreSupplier {
        WithHeaders(String name, long retentionMillis, long segmentMillis) {
            super(name, ValueFormat.HEADERS, retentionMillis, segmentMillis);
        }
    }

    static SessionSupplier of(String name, ValueFormat format, long retentionMillis, long segmentMillis) {
        return format == ValueFormat.HEADERS
                ? new WithHeaders(name, retentionMillis, segmentMillis)
                : new SessionSupplier(name, format, retentionMillis, segmentMillis);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final SessionStore<Bytes, byte[]> get() {
        return HeartwoodSessionStore.of(name, format, retentionMillis, segmentMillis);
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
        return retentionMillis;
    }
}
