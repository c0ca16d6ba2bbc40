package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Reads of snapshots that find no frame and wait for others' calls, while the snapshots are closed and all memory of memtables is theirs;
 * runs in the engine that {@link ClosedBesideReadTest} has loaded, which calls {@link #finds} and {@link #waits} there.
 */
public final class ClosedBesideRead implements Runnable {
    private static final int VALUE_BYTES = 10_000;

    /** Half a memtable. */
    private static final int WRITES_FOR_EACH_READ = 25;

    /** Some three times what there is for memtables. */
    private static final int WRITES = 1000;

    private static final byte[] FIRST_KEY = key(0);
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memtable(ByteSize.kib(512)).build();

    private static final ThreadLocal<Read> READ = new ThreadLocal<>();

    private final Thread writer = Thread.currentThread();
    private final List<Read> reads = new ArrayList<>();
    private boolean hasWaited;

    /** A read is about to look its key up. */
    public static void finds() {
        Read read = READ.get();
        if (read != null && !read.hasFailed) {
            read.hasFailed = true;
            throw new InsufficientMemoryException("for a test");
        }
    }

    /** A call has left its epoch, and is about to wait. */
    public static void waits() {
        Read read = READ.get();
        if (read != null) {
            read.begun.countDown();
            Waits.await(read.mayGoOn);
        }
    }

    /** A read in a snapshot, by a thread of its own. */
    private static final class Read {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);
        private final Thread thread;
        private boolean hasFailed;
        private volatile byte[] value;
        private volatile Throwable failure;

        Read(Snapshot snapshot) {
            thread = Thread.ofPlatform().start(() -> {
                READ.set(this);
                try {
                    value = snapshot.get(FIRST_KEY);
                } catch (RuntimeException | Error e) {
                    failure = e;
                } finally {
                    begun.countDown();
                }
            });
            Waits.await(begun);
        }

        /** Lets it go on; returns whether it came to its end without waiting, while nobody else had a call but who waits. */
        boolean goOn() {
            mayGoOn.countDown();
            while (thread.isAlive()) {
                if (thread.getState() == Thread.State.TIMED_WAITING) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }
    }

    /** The writer, which looks for a task and finds none, is about to wait for nobody in the background: so for the reads. */
    private void foundNoTask() {
        if (Thread.currentThread() == writer && !reads.isEmpty()) {
            writerWaits();
        }
    }

    private void writerWaits() {
        hasWaited = true;
        for (Read read : reads) {
            if (!read.goOn()) {
                throw new AssertionError("a read waits for the writer that waits for it");
            }
        }
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    @Override
    public void run() {
        Surroundings surroundings = new Surroundings(count -> new QueuedTasks(this::foundNoTask), Clock.SYSTEM, () -> 1, 2);
        try (EngineEnvironment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1), surroundings);
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, OPTIONS)) {
            try {
                for (int i = 0; i < WRITES && !hasWaited; i++) {
                    store.put(key(i), new byte[VALUE_BYTES], Durability.NONE);
                    if (i % WRITES_FOR_EACH_READ == 0 && !hasWaited) {
                        read(store);
                    }
                }
            } finally {
                reads.forEach(read -> read.mayGoOn.countDown());
                reads.forEach(read -> Waits.join(read.thread));
            }
            for (Read read : reads) {
                assertNull(read.failure);
                assertArrayEquals(new byte[VALUE_BYTES], read.value);
            }
            reads.clear();
            assertEquals(true, hasWaited, "there was memory without that of the reads");
            assertEquals(0, store.stats().snapshots());
        }
    }

    /** A read that waits, of a snapshot that is closed by then. */
    private void read(KeyValueStore store) {
        try (Snapshot snapshot = store.snapshot()) {
            Read read = new Read(snapshot);
            reads.add(read);
            assertFalse(read.begun.getCount() > 0 || !read.thread.isAlive(), "the read did not wait");
        }
    }
}
