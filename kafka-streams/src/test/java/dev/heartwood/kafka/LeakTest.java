package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;

/** Stores that open and close leave nothing behind, and many of them share one budget. */
class LeakTest {
    private static final int CYCLES = 1_000;
    private static final int WARM_CYCLES = 20;
    private static final int STORES = 100;
    private static final Bytes KEY = Bytes.wrap("k".getBytes());

    @Test
    void aThousandCyclesLeaveNothingBehind() throws IOException {
        try (TestDirectory directory = new TestDirectory("leak")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            StoreContext context = new StoreContext(directory.path(), Map.of(), metrics);
            int metricsBefore = metrics.metrics().size();
            HeldResources before = HeldResources.now();
            for (int i = 0; i < WARM_CYCLES + CYCLES; i++) {
                KeyValueStore<Bytes, byte[]> store =
                        context.open(HeartwoodStores.persistentKeyValueStore("s" + i % 3).get());
                store.put(Bytes.wrap(new byte[] {(byte) i}), new byte[100]);
                var forgotten = store.all();
                assertTrue(forgotten.hasNext());
                store.commit(Map.of(StoreContext.CHANGELOG, (long) i));
                store.close();
            }
            assertEquals(before, HeldResources.now());
            assertEquals(0, SharedEnvironment.openCount());
            assertEquals(metricsBefore, metrics.metrics().size(), "gauges go with their store");
        }
    }

    /** As a full Java heap may; the store's lock was held until the JVM ended. */
    @Test
    void anErrorBeforeTheDirectoryIsClosedLeavesNothingOpen() {
        try (TestDirectory directory = new TestDirectory("leak")) {
            StoreContext context = new StoreContext(directory.path(), Map.of());
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            store.put(KEY, new byte[100]);
            OutOfMemoryError error = new OutOfMemoryError("planted");
            store.table().opened(new VersionIterator.Entries("s", cursorThatThrows(error), null, Direction.FORWARD));
            assertSame(error, assertThrows(OutOfMemoryError.class, store::close));
            store.close();
            assertEquals(0, SharedEnvironment.openCount());
            context.open(store);
            assertEquals(100, store.get(KEY).length);
            store.close();
        }
    }

    private static Cursor cursorThatThrows(Error error) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            throw error;
        };
        return (Cursor) Proxy.newProxyInstance(Cursor.class.getClassLoader(), new Class<?>[] {Cursor.class}, handler);
    }

    @Test
    void aHundredStoresShareOneBudget() {
        try (TestDirectory directory = new TestDirectory("budget")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            List<HeartwoodKeyValueStore> stores = new ArrayList<>();
            for (int i = 0; i < STORES; i++) {
                Path task = directory.path().resolve("0_" + i);
                StoreContext context =
                        new StoreContext(task, Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "64m"), metrics);
                stores.add(context.open(HeartwoodKeyValueStore.of("store", ValueFormat.TIMESTAMPED)));
            }
            assertEquals(1, SharedEnvironment.openCount());
            long usedMax = 0;
            for (int round = 0; round < 60; round++) {
                for (HeartwoodKeyValueStore store : stores) {
                    for (int i = 0; i < 10; i++) {
                        byte[] key = ("key" + (round * 31 + i * 7) % 200).getBytes();
                        store.put(Bytes.wrap(key), new byte[1_000]);
                    }
                }
                long used = gauge(metrics, "instance-memory-used-bytes");
                long budget = gauge(metrics, "instance-memory-budget-bytes");
                usedMax = Math.max(usedMax, used);
                assertTrue(used <= budget, () -> used + " bytes of a budget of " + budget);
            }
            assertTrue(usedMax > 0);
            for (HeartwoodKeyValueStore store : stores) {
                assertEquals(1_000, store.get(Bytes.wrap("key0".getBytes())).length);
                store.close();
            }
            assertEquals(0, SharedEnvironment.openCount());
        }
    }

    /** What one of the gauges at the level INFO shows; those of the instance are the same at every store. */
    private static long gauge(StreamsMetricsImpl metrics, String name) {
        return metrics.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals(name))
                .mapToLong(metric -> (Long) metric.getValue().metricValue())
                .findFirst()
                .orElseThrow();
    }
}
