package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Snapshots that nobody closes hold all memory of memtables: a write fails by name instead of waiting for ever. */
class HeldMemoryTest {
    private static final int VALUE_BYTES = 10_000;

    private static final byte[] SMALL = {1};
    private static final int WRITERS = 4;

    /** Snapshots of about two memtables. */
    private static final int SNAPSHOTS_CLOSED_IN_TURN = 80;

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(512))
            .build();

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static byte[] value(int number) {
        byte[] value = new byte[VALUE_BYTES];
        ByteBuffer.wrap(value).putInt(number);
        return value;
    }

    /** Writes and takes a snapshot of every write, until a write is refused; returns how many were not. */
    private static int writeUntilRefused(KeyValueStore store, List<Snapshot> snapshots) {
        for (int i = 0; ; i++) {
            int number = i;
            try {
                store.put(key(number), value(number));
            } catch (InsufficientMemoryException refused) {
                return number;
            }
            snapshots.add(store.snapshot());
        }
    }

    private static void expect(KeyValueStore store, int count) {
        for (int i = 0; i < count; i++) {
            assertArrayEquals(value(i), store.get(key(i)), "key " + i);
        }
    }

    @Test
    void aWriteThatNothingCanMakeRoomForFails() {
        try (TestDirectory directory = new TestDirectory("held")) {
            List<Snapshot> snapshots = new ArrayList<>();
            int written;
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                written = writeUntilRefused(store, snapshots);
                assertTrue(written > 100, "refused after " + written + " writes");
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
                expect(store, written);
                assertEquals(null, store.get(key(-1)));
                assertEquals(null, snapshots.getFirst().get(key(1)));
                assertArrayEquals(value(0), snapshots.getFirst().get(key(0)));
                snapshots.forEach(Snapshot::close);
                for (int i = written; i < 2 * written; i++) {
                    store.put(key(i), value(i), Durability.SYNC);
                }
                expect(store, 2 * written);
            }
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                expect(store, 2 * written);
                assertEquals(List.of(), store.verify().problems());
            }
        }
    }

    /** The memory is shared: who holds it may be another store. */
    @Test
    void snapshotsOfAnotherStoreMayHoldTheMemory() {
        EnvironmentOptions shared =
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory parent = new TestDirectory("held");
                Environment environment = Heartwood.openEnvironment(shared);
                KeyValueStore holder = environment.open(parent.path().resolve("holder"), options);
                KeyValueStore other = environment.open(parent.path().resolve("other"), options)) {
            List<Snapshot> snapshots = new ArrayList<>();
            int held = writeUntilRefused(holder, snapshots);
            assertThrows(InsufficientMemoryException.class, () -> other.put(key(0), value(0)));
            expect(holder, held);
            snapshots.forEach(Snapshot::close);
            other.put(key(0), value(0));
            expect(other, 1);
        }
    }

    /** What another store holds in an active memtable comes back, so the writer waits for it. */
    @Test
    void memoryThatAnotherStoreCanGiveBackIsWaitedFor() {
        EnvironmentOptions shared =
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory parent = new TestDirectory("held"); Environment environment = Heartwood.openEnvironment(shared)) {
            List<KeyValueStore> stores = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                stores.add(environment.open(parent.path().resolve("store" + i), options));
            }
            // Together they want more than twice the memory that there is for memtables.
            for (int i = 0; i < 50; i++) {
                for (KeyValueStore store : stores) {
                    store.put(key(i), value(i));
                }
            }
            stores.forEach(store -> expect(store, 50));
        }
    }

    /** A record takes more in a memtable than in the log: such a batch was tried for ever beside other writers, and sealed what they wrote. */
    @Test
    void aBatchThatFitsIntoNoMemtableIsRefusedAtOnce() {
        try (TestDirectory directory = new TestDirectory("held");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
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
        List<Snapshot> snapshots = new ArrayList<>();
        AtomicBoolean stop = new AtomicBoolean();
        try (TestDirectory directory = new TestDirectory("held");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            int written = writeUntilRefused(store, snapshots);
            for (int i = 0; i < snapshots.size(); i++) {
                if (i % SNAPSHOTS_CLOSED_IN_TURN < SNAPSHOTS_CLOSED_IN_TURN / 2) {
                    snapshots.get(i).close();
                }
            }
            CountDownLatch writes = new CountDownLatch(WRITERS);
            List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                writers.add(Thread.ofPlatform().start(() -> {
                    store.put(key(written), SMALL);
                    writes.countDown();
                    while (!stop.get()) {
                        store.put(key(written), SMALL);
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
                snapshots.forEach(Snapshot::close);
            }
            expect(store, written);
            assertArrayEquals(SMALL, store.get(key(written)));
        }
    }
}
