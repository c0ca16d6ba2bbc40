package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.os.MemoryPool;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody holds all memory of memtables who is not known to give any back: a write fails by name instead of waiting for ever. */
class HeldMemoryTest {
    private static final int VALUE_BYTES = 10_000;

    private static final byte[] SMALL = {1};
    private static final int WRITERS = 4;

    private static final int WRITES = 200;
    private static final int PIECE_BYTES = 64 << 10;

    private final StoreOptions options =
            StoreOptions.builder().memtable(ByteSize.kib(512)).build();

    @TempDir
    private Path directory;

    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build());
    private final List<Long> held = new ArrayList<>();

    @AfterEach
    void close() {
        giveBack();
        environment.close();
    }

    private KeyValueStore open(String name) {
        return environment.open(directory.resolve(name), options);
    }

    /** Takes what is left. */
    private void take() {
        MemoryPool pool = environment.memtableMemory();
        for (long block = takeBlock(pool); block != 0; block = takeBlock(pool)) {
            held.add(block);
        }
    }

    private static long takeBlock(MemoryPool pool) {
        return pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
    }

    private void giveBack() {
        held.forEach(block -> environment.memtableMemory().free(block, MemoryPool.BLOCK_BYTES_MIN));
        held.clear();
    }

    /** Half of it, in pieces. */
    private void giveBackHalf() {
        List<Long> kept = new ArrayList<>();
        for (long block : held) {
            if ((block & PIECE_BYTES) == 0) {
                kept.add(block);
            } else {
                environment.memtableMemory().free(block, MemoryPool.BLOCK_BYTES_MIN);
            }
        }
        held.clear();
        held.addAll(kept);
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static byte[] value(int number) {
        byte[] value = new byte[VALUE_BYTES];
        ByteBuffer.wrap(value).putInt(number);
        return value;
    }

    /** Writes, and takes all memory, until the smallest write is refused. */
    private void writeUntilRefused(KeyValueStore store) {
        for (int i = 0; i < WRITES; i++) {
            store.put(key(i), value(i));
        }
        while (true) {
            store.checkpoint();
            take();
            try {
                store.delete(key(-1));
            } catch (InsufficientMemoryException refused) {
                return;
            }
        }
    }

    private static void expect(KeyValueStore store, int count) {
        for (int i = 0; i < count; i++) {
            assertArrayEquals(value(i), store.get(key(i)), "key " + i);
        }
    }

    @Test
    void aWriteThatNothingCanMakeRoomForFails() {
        try (KeyValueStore store = open("store")) {
            writeUntilRefused(store);
            // So are all others, of every kind and level, and nothing of them is there.
            for (Durability level : Durability.values()) {
                assertThrows(InsufficientMemoryException.class, () -> store.put(key(-1), value(1), level));
                assertThrows(InsufficientMemoryException.class, () -> store.delete(key(0), level));
                try (WriteBatch batch = store.newBatch()) {
                    batch.delete(key(0));
                    batch.put(key(-1), value(1));
                    assertThrows(InsufficientMemoryException.class, () -> store.write(batch, level));
                }
            }
            expect(store, WRITES);
            assertEquals(null, store.get(key(-1)));
            giveBack();
            for (int i = WRITES; i < 2 * WRITES; i++) {
                store.put(key(i), value(i), Durability.SYNC);
            }
            expect(store, 2 * WRITES);
        }
        try (KeyValueStore store = open("store")) {
            expect(store, 2 * WRITES);
            assertEquals(List.of(), store.verify().problems());
        }
    }

    /** The memory is shared. */
    @Test
    void anotherStoreIsRefusedToo() {
        try (KeyValueStore store = open("store"); KeyValueStore other = open("other")) {
            writeUntilRefused(store);
            assertThrows(InsufficientMemoryException.class, () -> other.put(key(0), value(0)));
            expect(store, WRITES);
            giveBack();
            other.put(key(0), value(0));
            expect(other, 1);
        }
    }

    /** A write looks for room again and again, and of that the longest look was told as the longest stall. */
    @Test
    void allThatAWriteWaitsForIsOneStall() {
        try (KeyValueStore store = open("store"); KeyValueStore other = open("other")) {
            writeUntilRefused(store);
            long began = System.nanoTime();
            assertThrows(InsufficientMemoryException.class, () -> other.put(key(0), value(0)));
            long took = System.nanoTime() - began;
            StoreStats stats = other.stats();
            assertEquals(stats.stallNanos(), stats.stallNanosMax());
            assertTrue(stats.stallNanos() > 0 && stats.stallNanos() <= took, stats::toString);
        }
    }

    /** What another store holds in an active memtable comes back, so the writer waits for it. */
    @Test
    void memoryThatAnotherStoreCanGiveBackIsWaitedFor() {
        List<KeyValueStore> stores = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            stores.add(open("store" + i));
        }
        // Together they want more than twice the memory that there is for memtables.
        for (int i = 0; i < 50; i++) {
            for (KeyValueStore store : stores) {
                store.put(key(i), value(i));
            }
        }
        stores.forEach(store -> expect(store, 50));
    }

    /** A record takes more in a memtable than in the log: such a batch was tried for ever beside other writers, and sealed what they wrote. */
    @Test
    void aBatchThatFitsIntoNoMemtableIsRefusedAtOnce() {
        try (KeyValueStore store = open("store")) {
            store.put(key(0), value(0));
            assertThrows(InsufficientMemoryException.class, () -> deleteAll(store, 40_000));
            assertEquals(0, store.stats().memtablesSealed());
            expect(store, 1);
            deleteAll(store, 10_000);
            assertNull(store.get(key(0)));
        }
    }

    private static void deleteAll(KeyValueStore store, int count) {
        try (WriteBatch batch = store.newBatch()) {
            for (int i = 0; i < count; i++) {
                batch.delete(key(i));
            }
            store.write(batch);
        }
    }

    /** Half of the memory is held, in pieces; what is left is enough for small writes, so that the memtable is never empty. */
    @Test
    void aLargeBatchIsRefusedByNameAlsoBesideAWriter() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        try (KeyValueStore store = open("store")) {
            writeUntilRefused(store);
            giveBackHalf();
            CountDownLatch writes = new CountDownLatch(WRITERS);
            List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                writers.add(Thread.ofPlatform().start(() -> {
                    store.put(key(WRITES), SMALL);
                    writes.countDown();
                    while (!stop.get()) {
                        store.put(key(WRITES), SMALL);
                    }
                }));
            }
            writes.await();
            try {
                assertThrows(InsufficientMemoryException.class, () -> deleteAll(store, 20_000));
                for (Thread writer : writers) {
                    assertTrue(writer.isAlive());
                }
            } finally {
                stop.set(true);
                for (Thread writer : writers) {
                    writer.join();
                }
            }
            expect(store, WRITES);
            assertArrayEquals(SMALL, store.get(key(WRITES)));
        }
    }
}
