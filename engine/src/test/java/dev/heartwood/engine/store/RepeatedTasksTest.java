package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is done again and again goes on after the Java heap was too full to have it done once more. Once it ended for good. */
class RepeatedTasksTest {
    @TempDir
    private Path directory;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<Runnable> scrubs = new ArrayList<>();
    private final List<Runnable> looks = new ArrayList<>();
    private boolean isHeapFull;

    /** Keeps what waits for its time, for which the Java heap may have no room. */
    private final class Queued extends QueuedWorkers {
        Queued() {
            super(tasks);
        }

        @Override
        public void submitLater(Priority priority, long delayNanos, Runnable task) {
            if (isHeapFull) {
                isHeapFull = false;
                throw new OutOfMemoryError("for a test");
            }
            (priority == Priority.IDLE ? scrubs : looks).add(task);
        }
    }

    private EngineEnvironment environment() {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> new Queued(), Clock.SYSTEM, Randomness.SYSTEM, 1));
    }

    private void fail(Runnable task) {
        isHeapFull = true;
        assertThrows(OutOfMemoryError.class, task::run);
    }

    private void pack(KeyValueStore store) {
        long until = store.stats().memtablesSealed() + 1;
        for (int key = 0; store.stats().memtablesSealed() < until; key++) {
            store.put(ByteBuffer.allocate(4).putInt(key).array(), new byte[1000]);
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }
        }
    }

    @Test
    void scrubbingGoesOn() {
        StoreOptions options = StoreOptions.builder()
                .memtable(ByteSize.kib(64))
                .policy(CompactionPolicyKind.SIZE_TIERED)
                .scrubPerSecond(ByteSize.mib(1))
                .build();
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(directory, options)) {
            fail(scrubs.removeFirst());
            assertEquals(0, scrubs.size());
            pack(store);
            assertEquals(1, scrubs.size());
            pack(store);
            assertEquals(1, scrubs.size());
            scrubs.removeFirst().run();
            assertEquals(1, scrubs.size());
        }
    }

    @Test
    void aStoreGoesOnDecidingAndLending() {
        StoreOptions options = StoreOptions.builder()
                .memtable(ByteSize.kib(64))
                .policy(CompactionPolicyKind.AUTO)
                .build();
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(directory, options)) {
            Runnable lending = looks.removeFirst();
            Runnable deciding = looks.removeFirst();
            fail(deciding);
            fail(lending);
            assertEquals(0, looks.size());
            pack(store);
            looks.removeIf(look -> look != deciding);
            assertEquals(List.of(deciding), looks);
            looks.removeFirst().run();
            looks.removeIf(look -> look != deciding && look != lending);
            assertEquals(List.of(lending, deciding), looks);
        }
    }

    @Test
    void lendingGoesOnAfterTheStoresCouldNotBeAsked() {
        try (MemoryPool pool = MemoryPool.open(4 << 20);
                MemoryPool lender = MemoryPool.open(4 << 20)) {
            Epochs epochs = new Epochs();
            boolean[] isFull = {true};
            MemtableLoan.Load load = new MemtableLoan.Load() {
                @Override
                public long bytesWritten() {
                    if (isFull[0]) {
                        throw new OutOfMemoryError("for a test");
                    }
                    return 0;
                }

                @Override
                public boolean isReplaying() {
                    return false;
                }
            };
            RecordCache records = new RecordCache(pool, lender, 1 << 20, epochs);
            MemtableLoan loan = new MemtableLoan(lender, records, epochs, new Queued(), 1 << 20, load);
            loan.join(change -> {});
            assertThrows(OutOfMemoryError.class, looks.removeFirst()::run);
            isFull[0] = false;
            loan.join(change -> {});
            assertEquals(1, looks.size());
            looks.removeFirst().run();
            assertEquals(1, looks.size());
        }
    }
}
