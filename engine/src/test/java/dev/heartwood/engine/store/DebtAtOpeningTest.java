package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.write.LeapClock;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that was closed before its merges were done, and is opened again. They began when a memtable was packed, never in a store that was only
 * read, and who wrote that memtable was slowed for all of them.
 */
class DebtAtOpeningTest {
    private static final int MEMTABLE_BYTES = 256 << 10;
    private static final int VALUE_BYTES = 1000;

    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memtable(new ByteSize(MEMTABLE_BYTES))
            .policy(CompactionPolicyKind.SIZE_TIERED)
            .build();

    @TempDir
    private Path directory;

    private int written;

    /** Workers that do what they are told to; merges only when nothing else waits. */
    private static final class Told implements Workers {
        private final Queue<Runnable> merges = new ArrayDeque<>();
        private final Queue<Runnable> others = new ArrayDeque<>();

        @Override
        public void submit(Priority priority, Runnable task) {
            (priority == Priority.COMPACT ? merges : others).add(task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return delayNanos -> {};
        }

        @Override
        public boolean runOneHere() {
            return runOne(others) || runOne(merges);
        }

        private static boolean runOne(Queue<Runnable> tasks) {
            Runnable task = tasks.poll();
            if (task != null) {
                task.run();
            }
            return task != null;
        }

        void runAllButMerges() {
            while (runOne(others)) {}
        }

        void runMerges() {
            while (runOne(merges)) {}
        }

        @Override
        public int count() {
            return 1;
        }

        @Override
        public void close() {}
    }

    private static EngineEnvironment environment(Told workers) {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> workers, new LeapClock(), Randomness.SYSTEM, 1));
    }

    private void put(KeyValueStore store) {
        store.put(ByteBuffer.allocate(8).putLong(written++ * 0x9E3779B97F4A7C15L).array(), new byte[VALUE_BYTES]);
    }

    /** Leaves so much to be merged that writers are slowed. */
    private void leaveDebt() {
        Told workers = new Told();
        try (EngineEnvironment environment = environment(workers);
                KeyValueStore store = environment.open(directory, OPTIONS)) {
            while (store.stats().stallNanos() == 0 || store.stats().debtBytes() < 16 * MEMTABLE_BYTES) {
                put(store);
                workers.runAllButMerges();
            }
        }
    }

    @Test
    void mergesThatAreDueBegin() {
        leaveDebt();
        Told workers = new Told();
        try (EngineEnvironment environment = environment(workers);
                KeyValueStore store = environment.open(directory, OPTIONS)) {
            assertTrue(store.stats().debtBytes() > 0);
            workers.runMerges();
            assertEquals(0, store.stats().debtBytes());
        }
    }

    @Test
    void writersAreNotSlowedForWhatNobodyCouldMerge() {
        leaveDebt();
        Told workers = new Told();
        try (EngineEnvironment environment = environment(workers);
                KeyValueStore store = environment.open(directory, OPTIONS)) {
            for (int bytes = 0; bytes < MEMTABLE_BYTES / 2; bytes += VALUE_BYTES) {
                put(store);
            }
            assertEquals(0, store.stats().stallNanos());
            assertEquals(0, store.stats().memtablesSealed());
        }
    }
}
