package dev.heartwood.kafka.cluster;

import dev.heartwood.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.streams.StreamsConfig;

/** What Heartwood's stores are meant to reach beside RocksDB's, and which of it a run has missed. */
final class Bars {
    /** How many times as fast as RocksDB. */
    private static final double FACTOR = 1.5;

    private Bars() {}

    /**
     * The bars that one comparison has missed, each as a sentence with its figures. Under exactly-once Kafka Streams 4.3 tells
     * stores of no commit while they run, so only at-least-once has a bar for what is replayed.
     */
    static List<String> missed(Map<StoreKind, Comparison.Result> results, String guarantee) {
        Comparison.Result heartwood = results.get(StoreKind.HEARTWOOD);
        Comparison.Result rocksdb = results.get(StoreKind.ROCKSDB);
        List<String> missed = new ArrayList<>();
        // No store makes an application faster than one that costs nothing.
        Comparison.Result ceiling = results.get(StoreKind.IN_MEMORY);
        double processing = FACTOR * rocksdb.perSecond();
        if (ceiling != null) {
            processing = Math.min(processing, ceiling.perSecond());
        }
        if (heartwood.perSecond() < processing) {
            missed.add("processes %,d records/s, wanted are %,.0f".formatted(heartwood.perSecond(), processing));
        }
        double restoring = FACTOR * rocksdb.restoredPerSecond();
        if (heartwood.restoredPerSecond() < restoring) {
            missed.add("restores %,d records/s, wanted are %,.0f".formatted(heartwood.restoredPerSecond(), restoring));
        }
        if (guarantee.equals(StreamsConfig.AT_LEAST_ONCE) && heartwood.replayed() > heartwood.intervalChanges()) {
            missed.add("replays %,d records after kill -9, the longest commit interval has %,d"
                    .formatted(heartwood.replayed(), heartwood.intervalChanges()));
        }
        return missed;
    }

    /** The bar of many stores in one instance: what they used at most is within the budget, of which they used something. */
    static Optional<String> missedBudget(long usedBytes, String budget) {
        return usedBytes > 0 && usedBytes <= ByteSize.parse(budget).bytes()
                ? Optional.empty()
                : Optional.of("the stores use %,d bytes of a budget of %s".formatted(usedBytes, budget));
    }
}
