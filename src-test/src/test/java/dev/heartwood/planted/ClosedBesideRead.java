package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
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

/**
 * Reads of snapshots that find no frame and wait for others' calls, while the snapshots are closed and all memory of memtables is theirs;
 * runs in the engine that {@link ClosedBesideReadTest} has loaded.
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

    private final Thread writer = Thread.currentThread();
    private final List<WaitingRead> reads = new ArrayList<>();
    private boolean hasWaited;

    /** Lets a read go on; returns whether it came to its end without waiting, while nobody else had a call but who waits. */
    private static boolean comesToItsEnd(WaitingRead read) {
        read.goOn();
        while (read.thread().isAlive()) {
            if (read.thread().getState() == Thread.State.TIMED_WAITING) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    /** The writer, which looks for a task and finds none, is about to wait for nobody in the background: so for the reads. */
    private void foundNoTask() {
        if (Thread.currentThread() == writer && !reads.isEmpty()) {
            writerWaits();
        }
    }

    private void writerWaits() {
        hasWaited = true;
        for (WaitingRead read : reads) {
            if (!comesToItsEnd(read)) {
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
                reads.forEach(WaitingRead::goOn);
                reads.forEach(read -> Waits.join(read.thread()));
            }
            for (WaitingRead read : reads) {
                assertNull(read.failure());
                assertArrayEquals(new byte[VALUE_BYTES], read.value());
            }
            reads.clear();
            assertEquals(true, hasWaited, "there was memory without that of the reads");
            assertEquals(0, store.stats().snapshots());
        }
    }

    /** A read that waits, of a snapshot that is closed by then. */
    private void read(KeyValueStore store) {
        try (Snapshot snapshot = store.snapshot()) {
            WaitingRead read = new WaitingRead(() -> snapshot.get(FIRST_KEY));
            reads.add(read);
            assertTrue(read.thread().isAlive(), "the read did not wait");
        }
    }
}
