package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import java.time.Duration;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/** Kafka's own suite for window stores, on the format with timestamps. */
public class HeartwoodTimestampedWindowStoreTest extends HeartwoodWindowStoreTest {
    @Override
    WindowBytesStoreSupplier supplier(Duration retention, Duration window, boolean retainDuplicates) {
        return HeartwoodStores.persistentTimestampedWindowStore(uniqueName(), retention, window, retainDuplicates);
    }
}
