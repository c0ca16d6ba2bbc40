package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/**
 * Writers, readers and scanners at once, as a store runs them. Every value names its key and sequence, so that a torn or
 * misplaced entry shows. Rerun with {@code -Dmemtable.seed=N}; the interleaving differs.
 */
class MemtableConcurrencyTest {
    private static final int LANES = 3;
    private static final int KEYS = 300;
    private static final int BATCH_KEYS = 5;
    private static final int BATCH_KEY_FIRST = 1_000_000;

    private final long seed = Long.getLong("memtable.seed", System.nanoTime() & 0xffffff);
    private final MemoryPool pool = MemoryPool.open(256 << 20);
    private final MemoryPool scratch = MemoryPool.open(512L << 20);
    private final Memtable memtable = new Memtable(pool, new SortArrays(), 1, LANES, 128 << 20);
    private final ReentrantLock[] laneLocks = new ReentrantLock[LANES];
    private final AtomicLong sequencer = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger writersLeft = new AtomicInteger();

    {
        for (int i = 0; i < LANES; i++) {
            laneLocks[i] = new ReentrantLock();
        }
    }

    @Test
    void entriesAreWholeOrderedAndMonotoneUnderPlatformThreads() throws Exception {
        run(Executors.newFixedThreadPool(9), 3, 3, 3, 3000);
    }

    @Test
    void entriesAreWholeOrderedAndMonotoneUnderManyVirtualThreads() throws Exception {
        run(Executors.newVirtualThreadPerTaskExecutor(), 400, 40, 4, 8);
    }

    private void run(ExecutorService executor, int writers, int readers, int scanners, int writesEach) throws Exception {
        writersLeft.set(writers);
        List<Future<?>> all = new ArrayList<>();
        try (executor) {
            for (int i = 0; i < writers; i++) {
                all.add(executor.submit(writer(seed + i, writesEach)));
            }
            for (int i = 0; i < readers; i++) {
                all.add(executor.submit(reader(seed + 1000 + i)));
            }
            for (int i = 0; i < scanners; i++) {
                all.add(executor.submit(scanner(seed + 2000 + i)));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=MemtableConcurrencyTest -Dmemtable.seed=" + seed, e);
        }
        memtable.seal();
        checkSealed();
        memtable.release();
        assertEquals(0, pool.allocated());
        pool.close();
        scratch.close();
    }

    private Callable<Void> writer(long writerSeed, int writes) {
        return stoppingOnFailure(() -> {
            SplittableRandom random = new SplittableRandom(writerSeed);
            try (MemtableFixture fixture = new MemtableFixture(memtable, scratch)) {
                for (int i = 0; i < writes && !stop.get(); i++) {
                    int lane = random.nextInt(LANES);
                    laneLocks[lane].lock();
                    try {
                        if (random.nextInt(8) == 0) {
                            writeBatch(fixture, lane, random);
                        } else {
                            writeOne(fixture, lane, random);
                        }
                    } finally {
                        laneLocks[lane].unlock();
                    }
                }
            } finally {
                if (writersLeft.decrementAndGet() == 0) {
                    stop.set(true);
                }
            }
        });
    }

    private void writeOne(MemtableFixture fixture, int lane, SplittableRandom random) {
        int key = random.nextInt(random.nextBoolean() ? KEYS : 4);
        byte[] keyBytes = key(key);
        int length = 16 + random.nextInt(60);
        assertTrue(memtable.reserve(lane, keyBytes.length, length));
        long sequence = sequencer.incrementAndGet();
        fixture.insertReserved(lane, keyBytes, sequence, Entries.PUT, value(key, sequence, length));
    }

    /** All of the batch keys, with one number for all. */
    private void writeBatch(MemtableFixture fixture, int lane, SplittableRandom random) {
        assertTrue(memtable.reserveBatch(lane, BATCH_KEYS, 100L * BATCH_KEYS));
        long sequence = sequencer.incrementAndGet();
        long batch = memtable.beginBatch(lane);
        for (int i = 0; i < BATCH_KEYS; i++) {
            int key = BATCH_KEY_FIRST + i;
            byte[] value = value(key, sequence, 16 + random.nextInt(60));
            fixture.insertInBatch(batch, key(key), sequence, Entries.PUT, value);
        }
        memtable.commitBatch(batch);
    }

    private Callable<Void> reader(long readerSeed) {
        return stoppingOnFailure(() -> {
            SplittableRandom random = new SplittableRandom(readerSeed);
            Map<Integer, Long> seenNewest = new HashMap<>();
            long batchSeen = 0;
            try (MemtableFixture fixture = new MemtableFixture(memtable, scratch)) {
                while (!stop.get()) {
                    int key = random.nextInt(KEYS);
                    batchSeen = readBatchKeys(fixture, random, batchSeen);
                    MemtableFixture.Seen seen = fixture.find(key(key), Entries.NEWEST);
                    if (seen != null) {
                        checkValue(seen);
                        assertTrue(seenNewest.merge(key, seen.sequence(), Math::max) == seen.sequence(), "went back");
                    } else {
                        assertTrue(!seenNewest.containsKey(key), "vanished");
                    }
                    // Not a yield: virtual threads that yield in turns can keep others from ever running.
                    java.util.concurrent.locks.LockSupport.parkNanos(1_000);
                }
            }
        });
    }

    /** Whatever key of the batches is read, it never shows less than another one did before. */
    private long readBatchKeys(MemtableFixture fixture, SplittableRandom random, long batchSeen) {
        long newest = batchSeen;
        for (int i = 0; i < 3; i++) {
            MemtableFixture.Seen seen = fixture.find(key(BATCH_KEY_FIRST + random.nextInt(BATCH_KEYS)), Entries.NEWEST);
            long sequence = seen == null ? 0 : seen.sequence();
            assertTrue(sequence >= newest, "half a batch: " + sequence + " after " + newest);
            newest = sequence;
        }
        return newest;
    }

    private Callable<Void> scanner(long scannerSeed) {
        return stoppingOnFailure(() -> {
            SplittableRandom random = new SplittableRandom(scannerSeed);
            try (MemtableFixture fixture = new MemtableFixture(memtable, scratch)) {
                while (!stop.get()) {
                    if (random.nextBoolean()) {
                        scanSnapshot(random.nextBoolean());
                    } else {
                        scanNewest(fixture, random);
                    }
                    Thread.yield();
                }
            }
        });
    }

    /** As a store makes a snapshot: all writes up to a sequence have returned, so every one of them must be there. */
    private void scanSnapshot(boolean backward) {
        long snapshot = sequencer.get();
        for (ReentrantLock lock : laneLocks) {
            lock.lock();
            lock.unlock();
        }
        long entries = 0;
        long previous = 0;
        Map<Long, Integer> batches = new HashMap<>();
        Map<Long, Boolean> sequences = new HashMap<>();
        EntryCursor cursor = memtable.cursor(snapshot);
        byte[] lastKey = null;
        if (backward) {
            cursor.seekLast();
        } else {
            cursor.seekFirst();
        }
        while (cursor.valid()) {
            MemtableFixture.Seen seen = MemtableFixture.entry(cursor);
            int key = checkValue(seen);
            assertTrue(seen.sequence() <= snapshot);
            int order = lastKey == null ? -1 : java.util.Arrays.compareUnsigned(lastKey, seen.key()) * (backward ? -1 : 1);
            assertTrue(order < 0 || order == 0 && (backward ? previous < seen.sequence() : previous > seen.sequence()));
            if (key >= BATCH_KEY_FIRST) {
                batches.merge(seen.sequence(), 1, Integer::sum);
            }
            sequences.put(seen.sequence(), true);
            lastKey = seen.key();
            previous = seen.sequence();
            entries++;
            if (backward) {
                cursor.previous();
            } else {
                cursor.next();
            }
        }
        cursor.close();
        assertEquals(snapshot, sequences.size(), "every sequence up to the snapshot is there");
        batches.forEach((sequence, count) -> assertEquals(BATCH_KEYS, count, "batch " + sequence));
        assertEquals(snapshot + (long) (BATCH_KEYS - 1) * batches.size(), entries);
    }

    /** A cursor sees at least what a search saw before, and whole batches. */
    private void scanNewest(MemtableFixture fixture, SplittableRandom random) {
        byte[] key = key(BATCH_KEY_FIRST + random.nextInt(BATCH_KEYS));
        MemtableFixture.Seen before = fixture.find(key, Entries.NEWEST);
        EntryCursor cursor = memtable.cursor(Entries.NEWEST);
        fixture.seek(cursor, key(BATCH_KEY_FIRST));
        long newest = -1;
        for (int i = 0; i < BATCH_KEYS && (cursor.valid() || before != null || i > 0); i++) {
            fixture.seek(cursor, key(BATCH_KEY_FIRST + i));
            if (!cursor.valid()) {
                assertTrue(before == null && newest <= 0, "half a batch");
                return;
            }
            MemtableFixture.Seen seen = MemtableFixture.entry(cursor);
            checkValue(seen);
            assertTrue(newest < 0 || newest == seen.sequence(), "half a batch");
            assertTrue(before == null || seen.sequence() >= before.sequence(), "a cursor went back");
            newest = seen.sequence();
        }
    }

    private void checkSealed() {
        long count = 0;
        EntryCursor cursor = memtable.sealedCursor();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            checkValue(MemtableFixture.entry(cursor));
            count++;
        }
        assertEquals(memtable.entries(), count);
    }

    private Callable<Void> stoppingOnFailure(Runnable body) {
        return () -> {
            try {
                body.run();
                return null;
            } catch (Throwable e) {
                stop.set(true);
                throw e;
            }
        };
    }

    private static byte[] key(int number) {
        return "key%08d".formatted(number).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static byte[] value(int key, long sequence, int length) {
        ByteBuffer buffer = ByteBuffer.allocate(length).putLong(sequence).putInt(key).putInt(length);
        while (buffer.hasRemaining()) {
            buffer.put((byte) (sequence + buffer.position()));
        }
        return buffer.array();
    }

    private static int checkValue(MemtableFixture.Seen seen) {
        ByteBuffer buffer = ByteBuffer.wrap(seen.value());
        assertEquals(seen.sequence(), buffer.getLong());
        int key = buffer.getInt();
        assertEquals(new String(key(key)), new String(seen.key()));
        assertEquals(seen.value().length, buffer.getInt());
        while (buffer.hasRemaining()) {
            byte expected = (byte) (seen.sequence() + buffer.position());
            assertEquals(expected, buffer.get());
        }
        return key;
    }
}
