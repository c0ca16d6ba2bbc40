package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** As many threads as there can be operations wait for one that settles the store. */
class CheckpointCrowdTest {
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    /** Each of them had a slot for an operation, so that a read found none, and a move of a cursor that closing waits for. */
    @Test
    void whoWaitsForACheckpointKeepsNobodyFromReading() throws InterruptedException {
        CountDownLatch merging = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompactionFilter filter = new CompactionFilter() {
            @Override
            public String name() {
                return "stopping";
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                merging.countDown();
                Threads.await(release);
                return Decision.KEEP;
            }
        };
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(16)).compactionFilter(filter).build();
        try (TestDirectory directory = new TestDirectory("crowd");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            for (int i = 0; i < 2; i++) {
                store.put(KEY, VALUE);
                store.checkpoint();
            }
            List<Thread> crowd = new ArrayList<>();
            crowd.add(Threads.started(store::settle));
            // Merges that nobody waits for ask the filter, too: whoever settles may not have begun by then.
            merging.await();
            awaitWaiting(crowd.getFirst());
            for (int i = 0; i < Epochs.SLOTS - 1; i++) {
                crowd.add(Threads.started(i % 2 == 0 ? store::checkpoint : store::settle));
            }
            crowd.forEach(CheckpointCrowdTest::awaitWaiting);
            Thread reader = new Thread(() -> assertArrayEquals(VALUE, store.get(KEY)));
            reader.start();
            while (reader.isAlive() && reader.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            Thread.State state = reader.getState();
            release.countDown();
            reader.join();
            for (Thread thread : crowd) {
                thread.join();
            }
            assertNotEquals(Thread.State.TIMED_WAITING, state, "the read waited for them");
        }
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }
}
