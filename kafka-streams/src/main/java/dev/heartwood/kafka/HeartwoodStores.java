package dev.heartwood.kafka;

import dev.heartwood.kafka.HeartwoodWindowStore.Duplicates;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Suppliers of Heartwood's stores, shaped like {@link org.apache.kafka.streams.state.Stores}, for the Processor API and for
 * {@code Materialized.as}. They go into the store builders of {@code Stores} as any other supplier does.
 */
public final class HeartwoodStores {
    private HeartwoodStores() {}

    /** A key-value store, for {@code Stores.keyValueStoreBuilder}. */
    public static KeyValueBytesStoreSupplier persistentKeyValueStore(String name) {
        return KeyValueSupplier.of(name, ValueFormat.PLAIN);
    }

    /** A key-value store that keeps timestamps, for {@code Stores.timestampedKeyValueStoreBuilder}. */
    public static KeyValueBytesStoreSupplier persistentTimestampedKeyValueStore(String name) {
        return KeyValueSupplier.of(name, ValueFormat.TIMESTAMPED);
    }

    /** A key-value store that keeps timestamps and headers, for {@code Stores.timestampedKeyValueStoreWithHeadersBuilder}. */
    public static KeyValueBytesStoreSupplier persistentTimestampedKeyValueStoreWithHeaders(String name) {
        return KeyValueSupplier.of(name, ValueFormat.HEADERS);
    }

    /**
     * A versioned key-value store, for {@code Stores.versionedKeyValueStoreBuilder} and {@code Materialized.as}.
     *
     * @param historyRetention how long, in stream time, earlier versions can be read and late records are taken
     * @throws IllegalArgumentException when the duration is negative
     */
    public static VersionedBytesStoreSupplier persistentVersionedKeyValueStore(String name, Duration historyRetention) {
        return new VersionedSupplier(name, Millis.of("historyRetention", historyRetention));
    }

    /**
     * A window store, for {@code Stores.windowStoreBuilder}.
     *
     * @param retainDuplicates whether several values for one key and window are kept; null values are ignored then
     * @throws IllegalArgumentException when a duration is negative, or the retention shorter than a window
     */
    public static WindowBytesStoreSupplier persistentWindowStore(
            String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
        return windows(name, ValueFormat.PLAIN, retentionPeriod, windowSize, retainDuplicates);
    }

    /** As {@link #persistentWindowStore}, keeping timestamps, for {@code Stores.timestampedWindowStoreBuilder}. */
    public static WindowBytesStoreSupplier persistentTimestampedWindowStore(
            String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
        return windows(name, ValueFormat.TIMESTAMPED, retentionPeriod, windowSize, retainDuplicates);
    }

    /**
     * As {@link #persistentWindowStore}, keeping timestamps and headers, for {@code
     * Stores.timestampedWindowStoreWithHeadersBuilder}.
     */
    public static WindowBytesStoreSupplier persistentTimestampedWindowStoreWithHeaders(
            String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
        return windows(name, ValueFormat.HEADERS, retentionPeriod, windowSize, retainDuplicates);
    }

    private static WindowBytesStoreSupplier windows(
            String name, ValueFormat format, Duration retention, Duration window, boolean retainDuplicates) {
        Duplicates duplicates = retainDuplicates ? Duplicates.RETAIN : Duplicates.REPLACE;
        return WindowSupplier.of(name, format, WindowSupplier.shape(name, retention, window, duplicates));
    }

    /**
     * A session store, for {@code Stores.sessionStoreBuilder}.
     *
     * @throws IllegalArgumentException when the retention is negative
     */
    public static SessionBytesStoreSupplier persistentSessionStore(String name, Duration retentionPeriod) {
        return sessions(name, ValueFormat.PLAIN, retentionPeriod);
    }

    /** As {@link #persistentSessionStore}, keeping headers, for {@code Stores.sessionStoreWithHeadersBuilder}. */
    public static SessionBytesStoreSupplier persistentSessionStoreWithHeaders(String name, Duration retentionPeriod) {
        return sessions(name, ValueFormat.HEADERS, retentionPeriod);
    }

    private static SessionBytesStoreSupplier sessions(String name, ValueFormat format, Duration retention) {
        long retentionMillis = Millis.of("retentionPeriod", retention);
        return SessionSupplier.of(name, format, Retention.of(retentionMillis), Millis.segment(retentionMillis));
    }
}
