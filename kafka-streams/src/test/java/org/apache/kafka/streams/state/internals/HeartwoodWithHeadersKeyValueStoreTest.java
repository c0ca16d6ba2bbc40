package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;

/** Kafka's own suite for key-value stores, on the format with timestamps and headers. */
public class HeartwoodWithHeadersKeyValueStoreTest extends HeartwoodKeyValueStoreTest {
    @Override
    KeyValueBytesStoreSupplier supplier() {
        return HeartwoodStores.persistentTimestampedKeyValueStoreWithHeaders("my-store");
    }
}
