package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Records nearly as large as a write may be: what was written alone is restored, overwritten and gone back to as well. */
class LargeRecordsTest {
    private static final String MEMORY = "16m";
    private static final int LARGE_BYTES = 900 << 10;

    private final TestDirectory directory = new TestDirectory("large-records");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private StoreContext context(String guarantee) {
        return new StoreContext(
                directory.path(),
                Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee, HeartwoodStoreConfig.MEMORY_MAX_BYTES, MEMORY));
    }

    private static HeartwoodKeyValueStore open(StoreContext context) {
        return context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private HeartwoodKeyValueStore openExactlyOnce() {
        return open(context(StreamsConfig.EXACTLY_ONCE_V2));
    }

    private static byte[] value(int seed, int bytes) {
        byte[] value = new byte[bytes];
        new Random(seed).nextBytes(value);
        return value;
    }

    private static Bytes key(String text) {
        return Bytes.wrap(text.getBytes());
    }

    private static void putSmall(HeartwoodKeyValueStore store, int seed) {
        for (int i = 0; i < 240; i++) {
            store.put(key("k" + i), value(seed + i, 1000));
        }
    }

    private static void assertSmall(HeartwoodKeyValueStore store, int seed) {
        for (int i = 0; i < 240; i++) {
            assertArrayEquals(value(seed + i, 1000), store.get(key("k" + i)));
        }
    }

    @Test
    void aLargeRecordAmongSmallOnesIsRestored() {
        StoreContext context = context(StreamsConfig.AT_LEAST_ONCE);
        HeartwoodKeyValueStore store = open(context);
        List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            changelog.add(KeyValue.pair(("k" + i).getBytes(), value(i, 1000)));
        }
        changelog.add(KeyValue.pair("large".getBytes(), value(-1, LARGE_BYTES)));
        context.streams().restore("s", changelog);
        assertSmall(store, 0);
        assertArrayEquals(value(-1, LARGE_BYTES), store.get(key("large")));
        store.close();
    }

    /** The small ones' records of the way back come before the large one's. */
    @Test
    void aLargeRecordAmongSmallOnesIsGoneBackTo() {
        HeartwoodKeyValueStore store = openExactlyOnce();
        putSmall(store, 0);
        store.put(key("large"), value(-1, LARGE_BYTES));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        putSmall(store, 1_000);
        store.put(key("large"), null);
        store.close();
        store = openExactlyOnce();
        assertSmall(store, 0);
        assertArrayEquals(value(-1, LARGE_BYTES), store.get(key("large")));
        store.close();
    }

    @Test
    void aLargeRecordIsOverwrittenAndGoneBackTo() {
        HeartwoodKeyValueStore store = openExactlyOnce();
        store.put(key("large"), value(1, LARGE_BYTES));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.put(key("large"), value(2, LARGE_BYTES));
        store.put(key("large"), value(3, LARGE_BYTES));
        assertArrayEquals(value(3, LARGE_BYTES), store.get(key("large")));
        store.close();
        store = openExactlyOnce();
        assertArrayEquals(value(1, LARGE_BYTES), store.get(key("large")));
        assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    /** What is more than a process can address is refused as a store's failure is, and nothing stays open. */
    @Test
    void memoryThatCannotBeHadIsAFailureOfTheStore() {
        StoreContext context = new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "1000000g"));
        assertThrows(ProcessorStateException.class, () -> open(context));
        assertEquals(0, SharedEnvironment.openCount());
    }
}
