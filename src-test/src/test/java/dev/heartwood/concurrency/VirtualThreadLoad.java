package dev.heartwood.concurrency;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** The process of {@link VirtualThreadTest}: many virtual threads use one store at the same time, each keys of its own. */
final class VirtualThreadLoad {
    static final int THREADS = 10_000;
    static final String DONE = "every thread has done its work";
    private static final int ROUNDS = 4;

    private VirtualThreadLoad() {}

    /** Arguments: the directory, and whether all threads are interrupted. */
    public static void main(String[] args) throws InterruptedException {
        boolean interrupted = Boolean.parseBoolean(args[1]);
        StoreOptions options = StoreOptions.builder()
                .memory(ByteSize.mib(512))
                .memtable(ByteSize.kib(256))
                .build();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (KeyValueStore store = Heartwood.open(Path.of(args[0]), options)) {
            CountDownLatch start = new CountDownLatch(THREADS);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                threads.add(Thread.ofVirtual().start(() -> {
                    try {
                        start.countDown();
                        start.await();
                        if (interrupted) {
                            Thread.currentThread().interrupt();
                        }
                        work(store, thread);
                        if (Thread.currentThread().isInterrupted() != interrupted) {
                            throw new AssertionError("a call took the flag away");
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        if (failure.get() != null) {
            failure.get().printStackTrace();
            System.exit(1);
        }
        System.out.println(DONE);
    }

    private static void work(KeyValueStore store, int thread) {
        byte[] key = String.format("key%05d", thread).getBytes();
        byte[] other = String.format("other%05d", thread).getBytes();
        for (int round = 0; round < ROUNDS; round++) {
            byte[] value = new byte[100 + round];
            Arrays.fill(value, (byte) thread);
            store.put(key, value, thread % 50 == 0 ? Durability.SYNC : Durability.BUFFERED);
            expect(value, store.get(key));
            try (WriteBatch batch = store.newBatch()) {
                batch.put(other, value);
                batch.put(key, value);
                store.write(batch);
            }
            try (Snapshot snapshot = store.snapshot();
                    Cursor cursor = snapshot.cursor(KeyRange.from(key))) {
                if (!cursor.next()) {
                    throw new AssertionError("nothing at or after " + new String(key));
                }
                expect(key, cursor.key());
                expect(value, cursor.value());
                store.delete(other);
                expect(value, snapshot.get(other));
            }
            expect(null, store.get(other));
            if (thread % 2000 == 0) {
                store.checkpoint();
            }
        }
    }

    private static void expect(byte[] expected, byte[] found) {
        if (!Arrays.equals(expected, found)) {
            throw new AssertionError("expected " + Arrays.toString(expected) + ", found " + Arrays.toString(found));
        }
    }
}
