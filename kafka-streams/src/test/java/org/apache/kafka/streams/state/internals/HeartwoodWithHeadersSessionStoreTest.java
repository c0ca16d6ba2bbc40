package org.apache.kafka.streams.state.internals;

import dev.heartwood.kafka.HeartwoodStores;
import java.time.Duration;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;

/** Kafka's own suite for session stores, on the format with headers. */
public class HeartwoodWithHeadersSessionStoreTest extends HeartwoodSessionStoreTest {
    @Override
    SessionBytesStoreSupplier supplier(Duration retention) {
        return HeartwoodStores.persistentSessionStoreWithHeaders(uniqueName(), retention);
    }
}
