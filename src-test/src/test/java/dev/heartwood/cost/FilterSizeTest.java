package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.TestDirectory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records so small that merges have no memory for the fingerprints of all of a leaf's keys at once. */
class FilterSizeTest {
    private static final int RECORDS = 2_000_000;
    /** Brings keys in no order, each once. */
    private static final long STEP = 1_299_709;

    private static final byte[] VALUE = {1, 2, 3, 4};

    @ParameterizedTest
    @EnumSource(KeyOrder.class)
    void filtersNameEachKeyOnce(KeyOrder order) {
        StoreOptions options = StoreOptions.builder()
                .memory(ByteSize.mib(16))
                .keyOrder(order)
                .build();
        try (TestDirectory directory = new TestDirectory("filters");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(key((int) (i * STEP % RECORDS)), VALUE);
            }
            store.settle();
            StoreStats stats = store.stats();
            assertTrue(stats.filterEntries() < 1.1 * RECORDS, () -> stats.filterEntries() + " fingerprints");
            assertTrue(stats.filterBytes() < 2.5 * RECORDS, () -> stats.filterBytes() + " bytes");
        }
    }

    private static byte[] key(int number) {
        return String.format("user%08d", number).getBytes(StandardCharsets.US_ASCII);
    }
}
