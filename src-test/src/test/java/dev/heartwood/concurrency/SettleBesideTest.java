package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.CompactionFilter;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A settling has no end while writers keep it going: checkpoints and backups waited for it, and so for the writers. */
class SettleBesideTest {
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(64))
            .build();

    /** Once it is to, stops the first merge until it is let go on. */
    private static final class Stopping implements CompactionFilter {
        private final AtomicBoolean isToStop = new AtomicBoolean();
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);

        @Override
        public String name() {
            return "stopping";
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            if (isToStop.compareAndSet(true, false)) {
                reached.countDown();
                Threads.await(release);
            }
            return Decision.KEEP;
        }
    }

    @Test
    void checkpointsAndBackupsAreMadeInTheMidstOfSettlings() {
        Stopping filter = new Stopping();
        StoreOptions filtered = options.toBuilder().compactionFilter(filter).build();
        try (TestDirectory directory = new TestDirectory("midst")) {
            try (KeyValueStore store = Heartwood.open(directory.path().resolve("store"), filtered)) {
                for (int run = 0; run < 2; run++) {
                    for (int key = 0; key < 100; key++) {
                        store.put(new byte[] {(byte) key, (byte) run}, new byte[100]);
                    }
                    store.checkpoint();
                }
                assertEquals(2, store.stats().runs());
                filter.isToStop.set(true);
                CountDownLatch settled = new CountDownLatch(1);
                Threads.Body settling = () -> {
                    store.settle();
                    settled.countDown();
                };
                Threads.run(List.of(settling, settling, () -> {
                    filter.reached.await();
                    try {
                        store.put(KEY, VALUE);
                        store.checkpoint();
                        store.backup(directory.path().resolve("backup"));
                        assertEquals(1, settled.getCount(), "its merge has not ended");
                    } finally {
                        filter.release.countDown();
                    }
                }));
                assertEquals(1, store.stats().runs());
            }
            try (KeyValueStore backup = Heartwood.open(directory.path().resolve("backup"), filtered)) {
                assertArrayEquals(VALUE, backup.get(KEY));
            }
        }
    }

    @Test
    void closingEndsASettlingBetweenItsTurns() {
        for (int round = 0; round < 3; round++) {
            try (TestDirectory directory = new TestDirectory("closed")) {
                KeyValueStore store = Heartwood.open(directory.path(), options);
                CountDownLatch checkpoints = new CountDownLatch(5);
                Threads.Body writer = () -> {
                    SplittableRandom random = new SplittableRandom(Thread.currentThread().threadId());
                    Threads.untilClosed(() -> store.put(Long.toString(random.nextLong()).getBytes(), new byte[100]));
                };
                Threads.Body checkpointer = () -> Threads.untilClosed(() -> {
                    store.checkpoint();
                    checkpoints.countDown();
                });
                Threads.Body settling = () -> Threads.untilClosed(store::settle);
                Threads.run(List.of(writer, writer, settling, settling, checkpointer, () -> {
                    checkpoints.await();
                    store.close();
                }));
                assertThrows(ClosedException.class, store::settle);
            }
        }
    }
}
