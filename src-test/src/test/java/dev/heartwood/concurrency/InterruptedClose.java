package dev.heartwood.concurrency;

import dev.heartwood.ClosedException;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The process of {@link VirtualThreadTest}: an interrupted virtual thread closes a store while another, which shares its carrier, is
 * in the midst of a read and cannot end it without the carrier.
 */
final class InterruptedClose {
    static final String DONE = "closed, and the flag was kept";

    private InterruptedClose() {}

    /** On a virtual thread, merges only when it is told to. */
    private static final class Held implements MergeOperator {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        @Override
        public String name() {
            return "held";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            if (Thread.currentThread().isVirtual()) {
                begun.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return operands.getLast();
        }
    }

    /** Argument: the directory. */
    public static void main(String[] args) throws InterruptedException {
        Held operator = new Held();
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .mergeOperator(operator)
                .build();
        KeyValueStore store = Heartwood.open(Path.of(args[0]), options);
        store.merge(new byte[] {1}, new byte[] {2});
        AtomicReference<byte[]> found = new AtomicReference<>();
        Thread reader = Thread.ofVirtual().start(() -> found.set(store.get(new byte[] {1})));
        operator.begun.await();
        AtomicReference<Boolean> isInterrupted = new AtomicReference<>();
        Thread closer = Thread.ofVirtual().start(() -> {
            Thread.currentThread().interrupt();
            store.close();
            isInterrupted.set(Thread.currentThread().isInterrupted());
        });
        // From then on the closing thread waits for nobody but the reader.
        while (!isClosed(store)) {
            Thread.onSpinWait();
        }
        operator.released.countDown();
        closer.join();
        reader.join();
        if (found.get() == null || found.get()[0] != 2 || !isInterrupted.get()) {
            throw new AssertionError("not closed as it should be");
        }
        System.out.println(DONE);
    }

    private static boolean isClosed(KeyValueStore store) {
        try {
            return store.contains(new byte[] {0});
        } catch (ClosedException e) {
            return true;
        }
    }
}
