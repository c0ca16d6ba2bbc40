package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/** Kafka's own suite for window stores, on the plain format. */
public class HeartwoodWindowStoreTest extends AbstractWindowBytesStoreTest {
    private int stores;

    /** Some tests of the suite open a second store beside the first, where a name is taken as long as it is open. */
    final String uniqueName() {
        return "store-" + ++stores;
    }

    WindowBytesStoreSupplier supplier(Duration retention, Duration window, boolean retainDuplicates) {
        return HeartwoodStores.persistentWindowStore(uniqueName(), retention, window, retainDuplicates);
    }

    @Override
    <K, V> WindowStore<K, V> buildWindowStore(
            long retentionPeriod, long windowSize, boolean retainDuplicates, Serde<K> keySerde, Serde<V> valueSerde) {
        return Stores.windowStoreBuilder(
                        supplier(Duration.ofMillis(retentionPeriod), Duration.ofMillis(windowSize), retainDuplicates),
                        keySerde,
                        valueSerde)
                .build();
    }
}
