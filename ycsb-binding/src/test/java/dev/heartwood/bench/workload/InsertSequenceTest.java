package dev.heartwood.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class InsertSequenceTest {
    @Test
    void aGapHoldsBackWhatComesAfterIt() {
        InsertSequence inserts = new InsertSequence(100);
        long first = inserts.next();
        long second = inserts.next();
        inserts.acknowledge(second, () -> false);
        assertEquals(100, inserts.written());
        inserts.acknowledge(first, () -> false);
        assertEquals(102, inserts.written());
    }

    /** Whoever came to the end of the window looked for ever for a record that another could not write. */
    @Test
    void whatIsGivenUpIsNotWaitedFor() {
        InsertSequence inserts = new InsertSequence(0);
        long missing = inserts.next();
        AtomicBoolean isGivenUp = new AtomicBoolean();
        BooleanSupplier atSecondLook = () -> isGivenUp.getAndSet(true);
        while (!isGivenUp.get()) {
            inserts.acknowledge(inserts.next(), atSecondLook);
        }
        assertEquals(missing, inserts.written());
    }

    @Test
    void threadsTogetherLeaveNoGap() throws InterruptedException {
        InsertSequence inserts = new InsertSequence(0);
        AtomicBoolean wentBack = new AtomicBoolean();
        Thread[] threads = new Thread[4];
        int each = 200_000;
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform().start(() -> {
                long seen = 0;
                for (int i = 0; i < each; i++) {
                    inserts.acknowledge(inserts.next(), () -> false);
                    long written = inserts.written();
                    wentBack.compareAndSet(false, written < seen);
                    seen = written;
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals((long) each * threads.length, inserts.written());
        assertEquals(false, wentBack.get());
    }
}
