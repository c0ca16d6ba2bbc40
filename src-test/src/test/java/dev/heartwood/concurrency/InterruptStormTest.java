package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TailMergeOperator;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads are interrupted before and during every call: each call finishes and is right, the flag stays set, and the store stays
 * open.
 */
class InterruptStormTest {
    private static final int THREADS = 3;
    private static final int CALLS = 4000;

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void interruptsChangeNothing(DeviceKind device) {
        Campaign.run(getClass(), 1, seed -> {
            StoreOptions options = StoreOptions.builder()
                    .memory(EnvironmentOptions.MEMORY_MIN)
                    .memtable(ByteSize.kib(64))
                    .checkpointDistance(2)
                    .device(device)
                    .mergeOperator(new TailMergeOperator())
                    .build();
            try (TestDirectory directory = new TestDirectory("interrupts"); TestDirectory backups = new TestDirectory("backups")) {
                try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                    storm(store, backups.path(), seed);
                }
                Thread.currentThread().interrupt();
                KeyValueStore again = Heartwood.open(directory.path(), options);
                assertTrue(Thread.interrupted(), "opening took the flag away");
                assertArrayEquals(new byte[] {7}, again.get("last".getBytes()));
                Thread.currentThread().interrupt();
                again.close();
                assertTrue(Thread.interrupted(), "closing took the flag away");
            }
        });
    }

    private static void storm(KeyValueStore store, Path backups, long seed) {
        store.put("first".getBytes(), new byte[1]);
        List<Threads.Body> bodies = new ArrayList<>();
        AtomicInteger working = new AtomicInteger(THREADS);
        Thread[] workers = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            bodies.add(() -> {
                workers[thread] = Thread.currentThread();
                try {
                    SplittableRandom random = new SplittableRandom(seed + thread);
                    int[] newest = new int[64];
                    for (int i = 1; i <= CALLS; i++) {
                        Thread.currentThread().interrupt();
                        call(store, backups, thread, i, newest, random);
                        assertTrue(Thread.currentThread().isInterrupted(), "a call took the flag away");
                    }
                } finally {
                    Thread.interrupted();
                    working.decrementAndGet();
                }
            });
        }
        bodies.add(() -> {
            while (working.get() > 0) {
                for (Thread worker : workers) {
                    if (worker != null) {
                        worker.interrupt();
                    }
                }
                Thread.onSpinWait();
            }
        });
        Threads.run(bodies);
        store.put("last".getBytes(), new byte[] {7});
    }

    private static byte[] key(int thread, int k) {
        return (thread + "/" + k).getBytes();
    }

    private static byte[] value(int number) {
        byte[] value = new byte[number % 9 == 0 ? 3000 : 20];
        value[0] = (byte) number;
        value[1] = (byte) (number >> 8);
        return value;
    }

    private static void call(KeyValueStore store, Path backups, int thread, int i, int[] newest, SplittableRandom random) {
        int k = random.nextInt(newest.length);
        byte[] key = key(thread, k);
        switch (random.nextInt(random.nextInt(40) == 0 ? 18 : 8)) {
            case 0, 1 -> {
                store.put(key, value(i), random.nextInt(20) == 0 ? Durability.SYNC : Durability.BUFFERED);
                newest[k] = i;
            }
            case 2 -> {
                store.delete(key);
                newest[k] = 0;
            }
            case 3 -> {
                try (WriteBatch batch = store.newBatch()) {
                    batch.put(key, value(i));
                    batch.put("shared".getBytes(), value(i));
                    store.write(batch);
                }
                newest[k] = i;
            }
            case 4 -> store.merge("merged".getBytes(), new byte[] {1});
            case 5 -> expect(newest[k], store.get(key));
            case 6 -> {
                try (Snapshot snapshot = store.snapshot()) {
                    expect(newest[k], snapshot.get(key));
                }
            }
            case 7 -> {
                try (Cursor cursor = store.cursor(KeyRange.prefix((thread + "/").getBytes()))) {
                    int count = 0;
                    while (cursor.next()) {
                        count++;
                    }
                    int present = 0;
                    for (int number : newest) {
                        present += number > 0 ? 1 : 0;
                    }
                    assertEquals(present, count);
                }
            }
            case 8 -> store.sync();
            case 9 -> store.checkpoint();
            case 10 -> store.settle();
            case 11 -> store.stats();
            case 12 -> {
                // Several at once take more than the memory has for calls.
                if (thread == 0) {
                    assertEquals(List.of(), store.verify().problems());
                }
            }
            case 13 -> {
                if (thread == 0) {
                    store.backup(backups);
                }
            }
            case 14 -> store.discard(KeyRange.prefix("shared".getBytes()));
            case 15 -> store.tune(store.tuning().withCheckpointDistance(1 + random.nextInt(4)));
            case 16 -> {
                assertEquals(newest[k] != 0, store.contains(key));
                assertEquals(newest[k] != 0, store.get(key, found -> assertEquals(value(newest[k]).length, found.byteSize())));
            }
            default -> {
                try (Cursor cursor = store.cursor()) {
                    assertEquals(newest[k] != 0, cursor.seek(key) && Arrays.equals(key, cursor.key()));
                    assertEquals(newest[k] != 0, cursor.seekBackwards(key) && Arrays.equals(key, cursor.key()));
                    assertTrue(cursor.first() && cursor.last());
                }
            }
        }
    }

    private static void expect(int number, byte[] found) {
        assertArrayEquals(number == 0 ? null : value(number), found);
    }
}
