package dev.heartwood.kafka;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.internals.VersionedKeyValueToBytesStoreAdapter;

/** Makes versioned stores. Immutable. */
final class VersionedSupplier implements VersionedBytesStoreSupplier {
    private final String name;
    private final long historyRetentionMillis;

    VersionedSupplier(String name, long historyRetentionMillis) {
        this.name = Objects.requireNonNull(name, "name cannot be null");
        this.historyRetentionMillis = historyRetentionMillis;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long historyRetentionMs() {
        return historyRetentionMillis;
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
        return new VersionedKeyValueToBytesStoreAdapter(new HeartwoodVersionedStore(name, historyRetentionMillis));
    }

    @Override
    public String metricsScope() {
        return TableMetrics.SCOPE;
    }
}
