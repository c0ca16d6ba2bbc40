package dev.heartwood.kafka;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;

/** Makes key-value stores. Immutable. */
class KeyValueSupplier implements KeyValueBytesStoreSupplier {
    private final String name;
    private final ValueFormat format;

    private KeyValueSupplier(String name, ValueFormat format) {
        this.name = Objects.requireNonNull(name, "name cannot be null");
        this.format = format;
    }

    /** Kafka Streams looks at the supplier to see whether values carry headers. */
    private static final class WithHeaders extends KeyValueSupplier implements HeadersBytesStoreSupplier {
        WithHeaders(String name) {
            super(name, ValueFormat.HEADERS);
        }
    }

    static KeyValueSupplier of(String name, ValueFormat format) {
        return format == ValueFormat.HEADERS ? new WithHeaders(name) : new KeyValueSupplier(name, format);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final KeyValueStore<Bytes, byte[]> get() {
        return HeartwoodKeyValueStore.of(name, format);
    }

    @Override
    public final String metricsScope() {
        return TableMetrics.SCOPE;
    }
}
