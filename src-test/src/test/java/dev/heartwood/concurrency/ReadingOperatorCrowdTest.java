package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Merge operators read their store while as many threads as there can be operations are in it. */
class ReadingOperatorCrowdTest {
    private static final int THREADS = Epochs.SLOTS + 16;
    private static final byte[] KEY = {1};
    private static final byte[] MERGED = {2};
    private static final byte[] VALUE = {3};

    /** Gives the same, whatever there was: what a test reads. */
    private static final class Reading implements MergeOperator {
        private volatile Supplier<byte[]> read = () -> VALUE;

        @Override
        public String name() {
            return "reading";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            return read.get();
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return read.get();
        }
    }

    /** Each read had a slot while its operator ran, so that the operators found none for reads of theirs. */
    @Test
    void operatorsOfReadsReadToo() throws InterruptedException {
        Reading operator = new Reading();
        CountDownLatch inside = new CountDownLatch(THREADS);
        AtomicInteger right = new AtomicInteger();
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(16)).mergeOperator(operator).build();
        try (TestDirectory directory = new TestDirectory("crowd");
                KeyValueStore opened = Heartwood.open(directory.path(), options)) {
            opened.put(KEY, VALUE);
            opened.merge(MERGED, KEY);
            operator.read = () -> {
                inside.countDown();
                Threads.await(inside);
                return opened.get(KEY);
            };
            List<Thread> crowd = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                crowd.add(Threads.started(() -> {
                    assertArrayEquals(VALUE, opened.get(MERGED));
                    right.incrementAndGet();
                }));
            }
            for (Thread thread : crowd) {
                thread.join();
            }
            operator.read = () -> VALUE;
        }
        assertEquals(THREADS, right.get());
    }

    /** Writers that wait for the memory of a memtable keep their slots, and whoever packs it has an operator that reads. */
    @Test
    void theOperatorOfWhoPacksReadsWhileAllWait() throws InterruptedException {
        Reading operator = new Reading();
        AtomicBoolean isRead = new AtomicBoolean();
        List<Thread> crowd = new ArrayList<>();
        CountDownLatch begun = new CountDownLatch(1);
        // Of which calls have memory for each of them.
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(128)).mergeOperator(operator).build();
        try (TestDirectory directory = new TestDirectory("crowd");
                KeyValueStore opened = Heartwood.open(directory.path(), options)) {
            opened.put(KEY, VALUE);
            operator.read = () -> {
                Threads.await(begun);
                crowd.forEach(ReadingOperatorCrowdTest::awaitWaiting);
                byte[] found = opened.get(KEY);
                isRead.set(true);
                return found;
            };
            opened.merge(MERGED, KEY);
            opened.merge(MERGED, KEY);
            for (int i = 0; i < THREADS; i++) {
                byte[] key = {4, (byte) (i >> 8), (byte) i};
                crowd.add(Threads.started(() -> {
                    while (!isRead.get()) {
                        opened.put(key, new byte[1024]);
                    }
                }));
            }
            begun.countDown();
            for (Thread thread : crowd) {
                thread.join();
            }
            operator.read = () -> VALUE;
            assertArrayEquals(VALUE, opened.get(MERGED));
        }
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.isAlive()
                && thread.getState() != Thread.State.WAITING
                && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }
}
