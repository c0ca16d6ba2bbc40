package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;

/** Kafka's own suite for key-value stores, on the format with timestamps. */
public class HeartwoodTimestampedKeyValueStoreTest extends HeartwoodKeyValueStoreTest {
    @Override
    KeyValueBytesStoreSupplier supplier() {
        return HeartwoodStores.persistentTimestampedKeyValueStore("my-store");
    }
}
