package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.os.MemoryPool;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What several stores have of the memory of memtables, which none of them would fill: the largest is sealed in time. One thread does everything. */
class SharedMemtablesTest {
    private static final EnvironmentOptions MEMORY =
            EnvironmentOptions.builder().memory(ByteSize.mib(64)).build();
    private static final MemoryPlan PLAN = MemoryPlan.of(MEMORY);
    private static final int VALUE_BYTES = 200;
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int STORES = 9;

    @TempDir
    Path directory;

    private final QueuedWorkers workers = new QueuedWorkers(new ArrayDeque<>());
    /** Time passes only while somebody waits. */
    private final Clock clock = new Clock() {
        private long nanos;

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public void parkNanos(long wanted) {
            nanos += wanted;
        }
    };

    private final EngineEnvironment environment = EngineEnvironment.open(
            MEMORY,
            path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
            new Surroundings(count -> workers, clock, Randomness.SYSTEM, 1));
    private final SplittableRandom random = new SplittableRandom(3);
    private final List<Long> blocks = new ArrayList<>();

    @AfterEach
    void close() {
        blocks.forEach(block -> environment.memtableMemory().free(block, BLOCK_BYTES));
        environment.close();
    }

    private List<KeyValueStore> open(int count) {
        List<KeyValueStore> stores = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stores.add(environment.open(directory.resolve("store-" + i), StoreOptions.builder().build()));
        }
        return stores;
    }

    private void put(KeyValueStore store) {
        store.put(ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong()).array(), new byte[VALUE_BYTES]);
    }

    private long sealed(KeyValueStore store) {
        return store.stats().memtablesSealed();
    }

    @Test
    void theLargestIsSealedBeforeTheMemoryIsGone() {
        List<KeyValueStore> stores = open(STORES);
        KeyValueStore slow = stores.getFirst();
        long most = 0;
        long written = 4 * PLAN.memtablesBytes();
        for (long bytes = 0; bytes < written; bytes += VALUE_BYTES) {
            put(random.nextInt(100) == 0 ? slow : stores.get(1 + random.nextInt(STORES - 1)));
            while (workers.runOneHere()) {
                most = Math.max(most, environment.memoryStats().memtableBytes());
            }
        }
        assertTrue(most <= PLAN.memtablesSharedBytes() + PLAN.memtablesBytes() / 10, most + " bytes");
        assertTrue(most >= PLAN.memtablesSharedBytes() * 8 / 10, most + " bytes");
        assertEquals(0, sealed(slow));
        long sealed = stores.stream().mapToLong(this::sealed).sum();
        // Of stores that fill beside each other the largest has twice the mean.
        long alike = written * (STORES - 1) / PLAN.memtablesSharedBytes();
        assertTrue(sealed >= STORES - 1 && sealed < alike, sealed + " memtables, " + alike + " of the mean size");
        stores.forEach(store -> assertEquals(0, store.stats().stallNanos()));
    }

    /** With as much memory in use by one store it would pay as well. */
    @Test
    void whoWritesPaysForMemoryThatOthersHave() {
        List<KeyValueStore> stores = open(2);
        write(stores.getFirst());
        assertEquals(0, stores.getFirst().stats().stallNanos());
        MemoryPool pool = environment.memtableMemory();
        while (pool.allocated() < PLAN.memtablesBytes() * 9 / 10) {
            blocks.add(pool.allocate(BLOCK_BYTES));
        }
        write(stores.getFirst());
        assertTrue(stores.getFirst().stats().stallNanos() > 0);
    }

    private void write(KeyValueStore store) {
        for (int bytes = 0; bytes < 512 << 10; bytes += VALUE_BYTES) {
            put(store);
        }
    }

    @Test
    void aStoreThatIsAloneFillsItsMemtable() {
        KeyValueStore store = open(1).getFirst();
        for (long bytes = 0; bytes < PLAN.memtableBytes() * 4 / 5; bytes += VALUE_BYTES) {
            put(store);
        }
        while (workers.runOneHere()) {}
        assertEquals(0, sealed(store));
    }
}
