package dev.heartwood.kafka.cluster;

import dev.heartwood.kafka.HeartwoodDslStoreSuppliers;
import java.util.Properties;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

/** The stores that the demonstration puts side by side. */
enum StoreKind {
    HEARTWOOD("Heartwood", HeartwoodDslStoreSuppliers.class),
    /** As Kafka Streams sets it up when nothing is said. */
    ROCKSDB("RocksDB", BuiltInDslStoreSuppliers.RocksDBDslStoreSuppliers.class),
    /** On the heap and not durable: what a store at no cost would do. */
    IN_MEMORY("in memory", BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);

    private final String text;
    private final Class<?> suppliers;

    StoreKind(String text, Class<?> suppliers) {
        this.text = text;
        this.suppliers = suppliers;
    }

    void configure(Properties properties) {
        properties.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, suppliers.getName());
    }

    @Override
    public String toString() {
        return text;
    }
}
