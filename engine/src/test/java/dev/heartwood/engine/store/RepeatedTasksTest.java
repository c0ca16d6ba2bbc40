package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.budget.IdleMemory;
import dev.heartwood.engine.budget.MemtableLoan;
import dev.heartwood.engine.budget.PageLoan;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import java.io.Closeable;
import java.io.IOException;
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
    private static final int SCANS = 1000;
    private static final int ROUNDS_MAX = 60;

    @TempDir
    private Path directory;

    private final List<Runnable> looks = new ArrayList<>();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final Queue<Runnable> merges = new ArrayDeque<>();
    private boolean areMergesHeld;

    /** Keeps what waits for its time, and merges while they are to wait. */
    private final class Queued extends QueuedWorkers {
        Queued() {
            super(tasks);
        }

        @Override
        public void submit(Priority priority, Runnable task) {
            (priority == Priority.COMPACT && areMergesHeld ? merges : tasks).add(task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return delayNanos -> looks.add(task);
        }
    }

    @Test
    void lendingGoesOnAfterTheStoresCouldNotBeAsked() {
        Epochs epochs = new Epochs();
        try (MemoryPool pool = MemoryPool.open(4 << 20);
                MemoryPool lender = MemoryPool.open(4 << 20);
                MemoryPool frames = MemoryPool.open(4 << 20);
                PageCache cache = new PageCache(frames, 1 << 20, epochs)) {
            boolean[] isFull = {true};
            IdleMemory.Load load = new IdleMemory.Load() {
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
            Queued workers = new Queued();
            MemtableLoan memtables = new MemtableLoan(lender, records, cache, epochs, workers, 1 << 20);
            PageLoan merges = new PageLoan(cache, pool, 0);
            IdleMemory loan = new IdleMemory(memtables, merges, epochs, workers, load);
            loan.join(change -> {});
            assertThrows(OutOfMemoryError.class, looks.removeFirst()::run);
            isFull[0] = false;
            loan.join(change -> {});
            assertEquals(1, looks.size());
            looks.removeFirst().run();
            assertEquals(1, looks.size());
        }
    }

    /** Leaves that hold many runs are scanned beside writes, for which it is decided that they are merged eagerly. */
    @Test
    void whatWasDecidedIsCarriedOutInTheEnd() throws IOException {
        List<String> told = new ArrayList<>();
        StoreOptions options = StoreOptions.builder()
                .memtable(ByteSize.kib(64))
                .policy(CompactionPolicyKind.AUTO)
                .listener(new StoreListener() {
                    @Override
                    public void policyChange(PolicyChange change) {
                        if (change.part() == Part.LEAVES) {
                            told.add(change.from());
                        }
                    }
                })
                .build();
        try (EngineEnvironment environment = EngineEnvironment.open(
                        EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
                        path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                        new Surroundings(count -> new Queued(), Clock.SYSTEM, Randomness.SYSTEM, 1));
                KeyValueStore store = environment.open(directory, options);
                Closeable holding = holdMerges()) {
            Runnable deciding = looks.getLast();
            boolean[] isHeapFull = {false};
            int failures = 0;
            for (int round = 0; told.isEmpty() && round < ROUNDS_MAX; round++) {
                pack(store);
                scan(store);
                isHeapFull[0] = failures == 0;
                environment.epochs().defer(() -> {
                    if (isHeapFull[0]) {
                        throw new OutOfMemoryError("for a test");
                    }
                });
                try {
                    deciding.run();
                } catch (OutOfMemoryError full) {
                    failures++;
                }
                isHeapFull[0] = false;
                runAll();
            }
            assertEquals(1, failures);
            assertEquals(List.of("SIZE_TIERED"), told);
        }
    }

    private Closeable holdMerges() {
        areMergesHeld = true;
        return () -> {
            areMergesHeld = false;
            tasks.addAll(merges);
        };
    }

    private void runAll() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private void pack(KeyValueStore store) {
        long until = store.stats().memtablesSealed() + 1;
        for (int key = 0; store.stats().memtablesSealed() < until; key++) {
            store.put(ByteBuffer.allocate(4).putInt(key).array(), new byte[1000]);
            runAll();
        }
    }

    private static void scan(KeyValueStore store) {
        for (int i = 0; i < SCANS; i++) {
            try (Cursor cursor = store.cursor()) {
                cursor.first();
            }
        }
    }
}
