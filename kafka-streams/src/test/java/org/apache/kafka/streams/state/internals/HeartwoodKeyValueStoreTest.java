package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Kafka's own suite for key-value stores, on the plain format. */
public class HeartwoodKeyValueStoreTest extends AbstractKeyValueStoreTest {
    KeyValueBytesStoreSupplier supplier() {
        return HeartwoodStores.persistentKeyValueStore("my-store");
    }

    @Override
    @SuppressWarnings("unchecked")
    protected <K, V> KeyValueStore<K, V> createKeyValueStore(StateStoreContext context) {
        KeyValueStore<K, V> store = Stores.keyValueStoreBuilder(
                        supplier(), (Serde<K>) context.keySerde(), (Serde<V>) context.valueSerde())
                .build();
        store.init(context, store);
        return store;
    }
}
