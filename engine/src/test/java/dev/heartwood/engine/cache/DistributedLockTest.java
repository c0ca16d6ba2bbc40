package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DistributedLockTest {
    private static final int LOCKS = 3;
    private static final int STRIPES = 4;

    private MemoryPool pool;
    private DistributedLock locks;

    // Guarded by lock 1; plain on purpose.
    private long first;
    private long second;

    @BeforeEach
    void open() {
        pool = MemoryPool.open(1 << 16);
        locks = new DistributedLock(pool.allocate(DistributedLock.bytes(LOCKS, STRIPES)), LOCKS, STRIPES);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void readersShareAndKeepWritersOut() {
        assertTrue(locks.tryLockRead(1));
        assertTrue(locks.tryLockRead(1));
        assertFalse(locks.tryLockWrite(1));
        locks.unlockRead(1);
        assertFalse(locks.tryLockWrite(1));
        locks.unlockRead(1);
        assertTrue(locks.tryLockWrite(1));
    }

    @Test
    void aWriterKeepsEveryoneOutOfItsLockOnly() {
        locks.lockWrite(1);
        assertFalse(locks.tryLockRead(1));
        assertFalse(locks.tryLockWrite(1));
        assertTrue(locks.tryLockRead(0));
        assertTrue(locks.tryLockRead(2));
        locks.unlockWrite(1);
        assertTrue(locks.tryLockRead(1));
        assertEquals(1, locks.readers(1));
    }

    @Test
    void aClaimSharesWithReadersAndExcludesClaims() {
        locks.lockRead(1);
        locks.lockRead(1);
        assertTrue(locks.tryClaim(1));
        assertFalse(locks.tryClaim(1));
        assertFalse(locks.tryLockWrite(1));
        assertTrue(locks.tryLockRead(1));
        locks.unlockRead(1);
        locks.unlockRead(1);
        locks.upgrade(1);
        assertFalse(locks.tryLockRead(1));
        locks.downgrade(1);
        assertTrue(locks.tryLockRead(1));
        locks.unlockRead(1);
        locks.unclaim(1);
        locks.unlockRead(1);
        assertTrue(locks.tryLockWrite(1));
    }

    @Test
    void aReadLockMayBeReleasedByThreadsOfOtherStripes() throws InterruptedException {
        for (int i = 0; i < 3 * STRIPES; i++) {
            assertTrue(locks.tryLockRead(1));
        }
        for (int i = 0; i < 3 * STRIPES; i++) {
            assertFalse(locks.tryLockWrite(1));
            Thread other = Thread.ofPlatform().start(() -> locks.unlockRead(1));
            other.join();
        }
        assertEquals(0, locks.readers(1));
        assertTrue(locks.tryLockWrite(1));
    }

    @Test
    void writersAndReadersOfManyThreadsExcludeEachOther() throws InterruptedException {
        run(4 * STRIPES, 3_000, Thread.ofPlatform()::start);
    }

    /** Ten thousand virtual threads on a handful of carriers, nearly all of them on one stripe's counter at some time. */
    @Test
    void tenThousandVirtualThreadsExcludeEachOther() throws InterruptedException {
        run(10_000, 4, Thread.ofVirtual()::start);
    }

    /** All of them hold the read lock at once: no counter overflows. */
    @Test
    void tenThousandVirtualThreadsReadTogether() throws InterruptedException {
        int count = 10_000;
        CountDownLatch reading = new CountDownLatch(count);
        CountDownLatch leave = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                locks.lockRead(1);
                reading.countDown();
                await(leave);
                locks.unlockRead(1);
            }));
        }
        reading.await();
        assertEquals(count, locks.readers(1));
        assertFalse(locks.tryLockWrite(1));
        leave.countDown();
        locks.lockWrite(1);
        assertEquals(0, locks.readers(1));
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private interface Starter {
        Thread start(Runnable task);
    }

    private void run(int threadCount, int rounds, Starter starter) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger writes = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < threadCount; t++) {
            int number = t;
            threads.add(starter.start(() -> {
                try {
                    for (int i = 0; i < rounds; i++) {
                        step(number * 31 + i, writes);
                    }
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(null, failure.get());
        assertEquals(writes.get(), first);
        assertEquals(0, locks.readers(1));
        assertTrue(locks.tryLockWrite(1));
    }

    private void step(int choice, AtomicInteger writes) {
        switch (choice % 8) {
            case 0 -> {
                locks.lockWrite(1);
                write(writes);
                locks.unlockWrite(1);
            }
            case 1 -> {
                if (locks.tryLockWrite(1)) {
                    write(writes);
                    locks.unlockWrite(1);
                }
            }
            case 2 -> {
                locks.lockRead(1);
                if (locks.tryClaim(1)) {
                    locks.upgrade(1);
                    write(writes);
                    locks.downgrade(1);
                    assertEquals(first, second);
                    locks.unclaim(1);
                }
                locks.unlockRead(1);
            }
            default -> {
                locks.lockRead(1);
                assertEquals(first, second);
                locks.unlockRead(1);
            }
        }
    }

    private void write(AtomicInteger writes) {
        first++;
        if ((first & 63) == 0) {
            Thread.yield();
        }
        second++;
        writes.incrementAndGet();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
