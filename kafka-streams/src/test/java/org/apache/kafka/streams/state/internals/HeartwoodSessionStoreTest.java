package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;

/** Kafka's own suite for session stores, on the plain format. */
public class HeartwoodSessionStoreTest extends AbstractSessionBytesStoreTest {
    private int stores;

    /** Some tests of the suite open a second store beside the first, where a name is taken as long as it is open. */
    final String uniqueName() {
        return "store-" + ++stores;
    }

    SessionBytesStoreSupplier supplier(Duration retention) {
        return HeartwoodStores.persistentSessionStore(uniqueName(), retention);
    }

    @Override
    <K, V> SessionStore<K, V> buildSessionStore(long retentionPeriod, Serde<K> keySerde, Serde<V> valueSerde) {
        return Stores.sessionStoreBuilder(supplier(Duration.ofMillis(retentionPeriod)), keySerde, valueSerde)
                .build();
    }

    /** Tells the suite that records expire as in persistent stores, and that sessions are found by their ends. */
    @Override
    StoreType storeType() {
        return StoreType.RocksDBTimeOrderedSessionStoreWithIndex;
    }
}
