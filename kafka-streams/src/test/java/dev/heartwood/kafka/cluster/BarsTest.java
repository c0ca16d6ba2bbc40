package dev.heartwood.kafka.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;

/** What {@code kafka-demo --check} calls missed. */
class BarsTest {
    private static final long REPLAYED = 900;
    private static final long INTERVAL = 1_000;

    private static Comparison.Result result(long perSecond, long restoredPerSecond, long replayed) {
        return new Comparison.Result(perSecond, 1, replayed, INTERVAL, restoredPerSecond, 1, 1);
    }

    private static List<String> missed(Comparison.Result heartwood, String guarantee) {
        return Bars.missed(
                Map.of(StoreKind.HEARTWOOD, heartwood, StoreKind.ROCKSDB, result(100, 200, 5_000)), guarantee);
    }

    @Test
    void eachBarIsNamedOnlyWhenItIsMissed() {
        String atLeastOnce = StreamsConfig.AT_LEAST_ONCE;
        assertEquals(List.of(), missed(result(150, 300, INTERVAL), atLeastOnce));
        assertEquals(List.of("processes 149 records/s, wanted are 150"), missed(result(149, 300, REPLAYED), atLeastOnce));
        assertEquals(List.of("restores 299 records/s, wanted are 300"), missed(result(150, 299, REPLAYED), atLeastOnce));
        assertEquals(
                List.of("replays 1,001 records after kill -9, the longest commit interval has 1,000"),
                missed(result(150, 300, INTERVAL + 1), atLeastOnce));
        assertEquals(List.of(), missed(result(150, 300, INTERVAL + 1), StreamsConfig.EXACTLY_ONCE_V2));
    }

    /** Where stores in memory are not that much faster than RocksDB, as fast as they are is enough. */
    @Test
    void storesInMemoryAreTheCeiling() {
        Map<StoreKind, Comparison.Result> results = new EnumMap<>(StoreKind.class);
        results.put(StoreKind.HEARTWOOD, result(120, 300, REPLAYED));
        results.put(StoreKind.ROCKSDB, result(100, 200, REPLAYED));
        results.put(StoreKind.IN_MEMORY, result(120, 1, REPLAYED));
        assertEquals(List.of(), Bars.missed(results, StreamsConfig.AT_LEAST_ONCE));
        results.put(StoreKind.IN_MEMORY, result(121, 1, REPLAYED));
        assertEquals(1, Bars.missed(results, StreamsConfig.AT_LEAST_ONCE).size());
    }

    @Test
    void aBudgetIsMissedBeyondItAndWhenNothingWasSeen() {
        assertEquals(Optional.empty(), Bars.missedBudget(64 << 20, "64m"));
        assertTrue(Bars.missedBudget((64 << 20) + 1, "64m").isPresent());
        assertTrue(Bars.missedBudget(0, "64m").isPresent());
    }
}
