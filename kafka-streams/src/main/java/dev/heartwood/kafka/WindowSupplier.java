package dev.heartwood.kafka;

import dev.heartwood.kafka.HeartwoodWindowStore.Duplicates;
import dev.heartwood.kafka.HeartwoodWindowStore.WindowShape;
import java.time.Duration;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/** Makes window stores. Immutable. */
class WindowSupplier implements WindowBytesStoreSupplier {
    private final String name;
    private final ValueFormat format;
    private final WindowShape windows;

    private WindowSupplier(String name, ValueFormat format, WindowShape windows) {
        this.name = Objects.requireNonNull(name, "name cannot be null");
        this.format = format;
        this.windows = windows;
    }

    /** Kafka Streams looks at the supplier to see whether values carry headers. */
    private static final class WithHeaders extends WindowSupplier implements HeadersBytesStoreSupplier {
        WithHeaders(String name, WindowShape windows) {
            super(name, ValueFormat.HEADERS, windows);
        }
    }

    static WindowSupplier of(String name, ValueFormat format, WindowShape windows) {
        return format == ValueFormat.HEADERS
                ? new WithHeaders(name, windows)
                : new WindowSupplier(name, format, windows);
    }

    /**
     * The shape of windows with segments of half the retention.
     *
     * @throws IllegalArgumentException when a duration is negative, or the retention shorter than a window
     */
    static WindowShape shape(String name, Duration retention, Duration window, Duplicates duplicates) {
        long retentionMillis = Millis.of("retentionPeriod", retention);
        long windowMillis = Millis.of("windowSize", window);
        if (windowMillis > retentionMillis) {
            throw new IllegalArgumentException("The retention period of the window store " + name
                    + " must be no smaller than its window size. Got size=[" + window + "], retention=[" + retention
                    + "]");
        }
        return new WindowShape(Retention.of(retentionMillis), Millis.segment(retentionMillis), windowMillis, duplicates);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final WindowStore<Bytes, byte[]> get() {
        return HeartwoodWindowStore.of(name, format, windows);
    }

    @Override
    public final String metricsScope() {
        return TableMetrics.SCOPE;
    }

    @Override
    public final long segmentIntervalMs() {
        return windows.segmentMillis();
    }

    @Override
    public final long windowSize() {
        return windows.windowMillis();
    }

    @Override
    public final boolean retainDuplicates() {
        return windows.duplicates() == Duplicates.RETAIN;
    }

    @Override
    public final long retentionPeriod() {
        return windows.retention().periodMillis();
    }
}
