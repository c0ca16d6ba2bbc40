package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls with segments leave nothing on the heap of the calling thread once they are compiled. */
class AllocationTest {
    private static final int RECORDS = 20_000;
    private static final int CALLS = 5_000;
    private static final int ROUNDS_MAX = 400;
    private static final int LARGE_VALUE_BYTES = 1 << 20;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final TestDirectory directory = new TestDirectory("allocation");
    private final KeyValueStore store = Heartwood.open(
            directory.path(), StoreOptions.builder().memory(ByteSize.mib(64)).build());
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment[] keys = new MemorySegment[RECORDS];
    private final MemorySegment value = arena.allocate(Load.VALUE_BYTES);

    AllocationTest() {
        for (int i = 0; i < RECORDS; i++) {
            keys[i] = arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, Load.key(i));
        }
    }

    @AfterEach
    void close() {
        store.close();
        directory.close();
        arena.close();
    }

    @Test
    void readsOfTheMemtable() {
        Load.random(store, RECORDS);
        assertNothingAllocated(i -> assertHit(keys[i % RECORDS]));
    }

    @Test
    void readsOfTheTreeInTheCache() {
        Load.random(store, RECORDS);
        store.checkpoint();
        assertNothingAllocated(i -> assertHit(keys[i % RECORDS]));
    }

    @Test
    void readsAndWritesOfHashedKeys() {
        StoreOptions hashed = store.options().toBuilder().keyOrder(KeyOrder.HASHED).build();
        try (TestDirectory other = new TestDirectory("allocation-hashed");
                KeyValueStore unordered = Heartwood.open(other.path(), hashed)) {
            Load.random(unordered, RECORDS);
            unordered.checkpoint();
            assertNothingAllocated(i -> assertHit(unordered, keys[i % RECORDS]));
            assertNothingAllocated(i -> unordered.put(keys[i % RECORDS], value));
        }
    }

    @Test
    void writes() {
        assertNothingAllocated(i -> store.put(keys[i % RECORDS], value));
    }

    @Test
    void movesOfACursor() {
        Load.random(store, RECORDS);
        assertStepsAllocateNothing();
        store.checkpoint();
        assertStepsAllocateNothing();
    }

    private void assertStepsAllocateNothing() {
        try (Cursor cursor = store.cursor()) {
            assertNothingAllocated(i -> {
                if (!cursor.next()) {
                    cursor.first();
                }
                long bytes = cursor.keySegment().byteSize() + cursor.valueSegment().byteSize();
                if (bytes != Load.RECORD_BYTES) {
                    throw new AssertionError("a record of " + bytes + " bytes");
                }
            });
        }
    }

    @Test
    void aConsumerIsShownItsValueOffTheHeap() {
        byte[] key = {1};
        store.put(key, new byte[LARGE_VALUE_BYTES]);
        long[] seen = new long[1];
        long before = threads.getCurrentThreadAllocatedBytes();
        store.get(key, shown -> seen[0] = shown.byteSize());
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(LARGE_VALUE_BYTES, seen[0]);
        assertTrue(allocated < LARGE_VALUE_BYTES / 4, allocated + " bytes allocated to show " + LARGE_VALUE_BYTES);
    }

    private void assertHit(MemorySegment key) {
        assertHit(store, key);
    }

    private void assertHit(KeyValueStore store, MemorySegment key) {
        if (store.get(key, value) != Load.VALUE_BYTES) {
            throw new AssertionError("a key is missing");
        }
    }

    /** Some round must allocate nothing: before the calls are compiled they may, and a put that seals the memtable does. */
    private void assertNothingAllocated(IntConsumer call) {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS_MAX && least > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                call.accept(round * CALLS + i);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, "bytes that " + CALLS + " calls allocate");
    }
}
