package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

/** Lanes, syncs, preparation and losses of power beside each other. */
class LogConcurrencyTest {
    private static final long STORE_ID = 9;
    private static final int LANES = 4;
    private static final LogOptions OPTIONS = new LogOptions(16 << 10, 64 << 10);

    /** The n-th entry of a lane: the key is 4 bytes of lane and 4 of n, the value n times one byte. */
    private static final class Writer {
        final int lane;
        final Arena arena = Arena.ofShared();
        final long buffer = arena.allocate(512, 8).address();

        Writer(int lane) {
            this.lane = lane;
            MemoryRegions.add(buffer, 512);
            Memory.putInt(buffer, lane);
        }

        void append(WriteAheadLog log, AtomicLong sequence, int n) {
            int valueLength = n * 31 % 200;
            log.reserve(lane, WriteAheadLog.entryPayloadBytes(8, valueLength));
            Memory.putInt(buffer + 4, n);
            Memory.fill(buffer + 8, valueLength, n);
            log.append(lane, sequence.getAndIncrement(), Entries.PUT, buffer, 8, buffer + 8, valueLength);
        }

        void close() {
            MemoryRegions.remove(buffer);
            arena.close();
        }
    }

    /** Checks that every lane's entries come in order and without a hole. */
    private static final class Counting implements ReplaySink {
        final int[] counts = new int[LANES];
        private long last = -1;

        @Override
        public void beginGeneration(long generation) {}

        @Override
        public void beginBatch(long sequence, int count) {}

        @Override
        public void entry(long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
            assertTrue(sequence > last);
            last = sequence;
            int lane = Memory.getInt(key);
            assertEquals(counts[lane]++, Memory.getInt(key + 4));
            assertEquals((counts[lane] - 1) * 31 % 200, valueLength);
            for (int i = 0; i < valueLength; i++) {
                assertEquals((byte) (counts[lane] - 1), Memory.getByte(value + i));
            }
        }

        @Override
        public void endBatch() {}
    }

    private static void run(List<Thread> threads, AtomicBoolean failed) throws InterruptedException {
        for (Thread thread : threads) {
            thread.setUncaughtExceptionHandler((t, e) -> {
                e.printStackTrace();
                failed.set(true);
            });
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** It waited for the sync of the claims, with all that changes the log's structure behind it. */
    @Test
    void aLaneBeginsASegmentWhileClaimsAreSynced() throws InterruptedException {
        CrashStorage storage = new CrashStorage("boot");
        try (WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS)) {
            log.rotate(1, 0);
            log.reserve(0, 10);
            Thread other = Thread.ofPlatform().unstarted(() -> log.reserve(1, 10));
            boolean[] ended = {false};
            storage.beforeSync = name -> {
                if (name.equals(LaneClaims.FILE)) {
                    storage.beforeSync = again -> {};
                    other.start();
                    do {
                        ended[0] = !other.isAlive();
                    } while (!ended[0] && !waitsForThisThread(other));
                }
            };
            Writer writer = new Writer(0);
            writer.append(log, new AtomicLong(1), 0);
            log.sync();
            other.join();
            writer.close();
            assertTrue(ended[0], "it waits for a lock of whoever syncs");
        }
        storage.discard();
    }

    /** It may wait for others as well, as for the JVM's own. */
    private static boolean waitsForThisThread(Thread other) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(other.threadId());
        return info != null && info.getLockOwnerId() == Thread.currentThread().threadId();
    }

    @Test
    void whatWasSyncedSurvivesTheLossOfPowerAtAnyMoment() throws InterruptedException {
        long seed = Long.getLong("seed", System.nanoTime());
        CrashStorage storage = new CrashStorage("boot");
        WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS);
        log.rotate(1, 0);
        AtomicLong sequence = new AtomicLong(1);
        AtomicLongArray synced = new AtomicLongArray(LANES);
        AtomicBoolean failed = new AtomicBoolean();
        AtomicInteger running = new AtomicInteger(LANES);
        List<Thread> threads = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            Writer writer = new Writer(lane);
            threads.add(Thread.ofPlatform().unstarted(() -> {
                try {
                    for (int n = 0; n < 1500; n++) {
                        writer.append(log, sequence, n);
                        if (n % 7 == writer.lane) {
                            log.sync();
                            synced.set(writer.lane, n + 1);
                        }
                    }
                } finally {
                    running.decrementAndGet();
                }
                writer.close();
            }));
        }
        threads.add(Thread.ofPlatform().unstarted(() -> {
            Random random = new Random(seed);
            while (running.get() > 0) {
                log.prepareSpare();
                long[] promised = new long[LANES];
                Arrays.setAll(promised, synced::get);
                CrashStorage image = storage.losePower(random);
                Counting counting = new Counting();
                try (WriteAheadLog after = WriteAheadLog.open(image, STORE_ID, LANES, OPTIONS, 0)) {
                    after.replay(counting);
                } catch (RuntimeException e) {
                    throw new AssertionError("rerun with -Dtest=LogConcurrencyTest -Dseed=" + seed, e);
                }
                for (int lane = 0; lane < LANES; lane++) {
                    assertTrue(counting.counts[lane] >= promised[lane], "seed " + seed);
                }
                image.discard();
            }
        }));
        run(threads, failed);
        assertTrue(!failed.get());
        Counting counting = new Counting();
        try (WriteAheadLog after = WriteAheadLog.open(storage.kill(), STORE_ID, LANES, OPTIONS, 0)) {
            assertEquals(LANES * 1500, after.replay(counting).records());
        }
        log.close();
        assertEquals(0, storage.openMappings);
    }

    @Test
    void syncsAreSharedAlsoByVirtualThreadsThatAreInterrupted() throws InterruptedException {
        CrashStorage storage = new CrashStorage("boot");
        WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS);
        log.rotate(1, 0);
        AtomicLong sequence = new AtomicLong(1);
        AtomicBoolean failed = new AtomicBoolean();
        AtomicInteger interrupted = new AtomicInteger();
        Writer writer = new Writer(0);
        Object owner = new Object();
        AtomicInteger count = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            threads.add(Thread.ofVirtual().unstarted(() -> {
                for (int k = 0; k < 20; k++) {
                    synchronized (owner) {
                        writer.append(log, sequence, count.getAndIncrement());
                    }
                    Thread.currentThread().interrupt();
                    log.sync();
                    interrupted.addAndGet(Thread.interrupted() ? 1 : 0);
                }
            }));
        }
        run(threads, failed);
        assertTrue(!failed.get());
        assertEquals(4000, interrupted.get());
        Counting counting = new Counting();
        try (WriteAheadLog after =
                WriteAheadLog.open(storage.losePower(new Random(3)), STORE_ID, LANES, OPTIONS, 0)) {
            after.replay(counting);
        }
        assertEquals(4000, counting.counts[0]);
        log.close();
        writer.close();
    }

    @Test
    void aFailedSyncIsFinalForAll() throws InterruptedException {
        for (int first = 0; first < 12; first++) {
            CrashStorage storage = new CrashStorage("boot");
            WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS);
            log.rotate(1, 0);
            storage.syncsUntilFailure = first;
            AtomicLong sequence = new AtomicLong(1);
            AtomicInteger original = new AtomicInteger();
            AtomicInteger previous = new AtomicInteger();
            AtomicBoolean failed = new AtomicBoolean();
            List<Thread> threads = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                Writer writer = new Writer(lane);
                threads.add(Thread.ofPlatform().unstarted(() -> {
                    try {
                        for (int n = 0; ; n++) {
                            writer.append(log, sequence, n);
                            log.sync();
                        }
                    } catch (PreviousFailureException e) {
                        previous.incrementAndGet();
                    } catch (StoreIoException e) {
                        original.incrementAndGet();
                    }
                    writer.close();
                }));
            }
            run(threads, failed);
            assertTrue(!failed.get());
            assertEquals(1, original.get());
            assertEquals(LANES - 1, previous.get());
            storage.syncsUntilFailure = Integer.MAX_VALUE;
            assertThrows(PreviousFailureException.class, log::sync);
            StoreException e = assertThrows(PreviousFailureException.class, () -> log.reserve(0, 10));
            assertTrue(e.getCause() instanceof StoreIoException);
            log.close();
            assertEquals(0, storage.openMappings);
        }
    }

    /**
     * A worker that made segments ready went on when the log had been closed: it opened files in a directory that was closed, too, and
     * left mapped what it had made before another was refused.
     */
    @Test
    void closingWaitsForASegmentThatIsMadeReady() throws InterruptedException {
        CrashStorage storage = new CrashStorage("boot");
        WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS);
        log.rotate(1, 0);
        AtomicLong sequence = new AtomicLong(1);
        for (int lane = 0; lane < 2; lane++) {
            Writer writer = new Writer(lane);
            for (int n = 0; n < 40; n++) {
                writer.append(log, sequence, n);
            }
            writer.close();
        }
        CountDownLatch maps = new CountDownLatch(1);
        CountDownLatch mayMap = new CountDownLatch(1);
        storage.beforeMapping = () -> {
            storage.beforeMapping = () -> {
                throw new StoreIoException(24, "EMFILE", "open", "the second", -1);
            };
            maps.countDown();
            await(mayMap);
        };
        int mappings = storage.mappingsMade;
        Thread worker = new Thread(log::prepareSpare);
        worker.start();
        maps.await();
        Thread closer = new Thread(log::close);
        closer.start();
        while (closer.isAlive() && closer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        boolean waited = closer.isAlive();
        mayMap.countDown();
        worker.join();
        closer.join();
        assertEquals(1, storage.mappingsMade - mappings);
        assertEquals(0, storage.openMappings);
        assertTrue(waited, "closed while a segment was made ready");
        storage.discard();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
