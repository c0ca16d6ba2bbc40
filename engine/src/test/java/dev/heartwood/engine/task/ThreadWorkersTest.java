package dev.heartwood.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThreadWorkersTest {
    /** A log segment that found no space was reported by an exception, which ended the worker, until none was left to pack. */
    @Test
    void tasksThatThrowEndNoWorker() throws InterruptedException {
        AtomicInteger reported = new AtomicInteger();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> reported.incrementAndGet());
        try (ThreadWorkers workers = new ThreadWorkers("test", 2)) {
            for (int i = 0; i < 10; i++) {
                workers.submit(Priority.SEAL, () -> {
                    throw new IllegalStateException("a task that fails");
                });
            }
            CountDownLatch done = new CountDownLatch(10);
            for (int i = 0; i < 10; i++) {
                workers.submit(Priority.IDLE, done::countDown);
            }
            done.await();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        assertEquals(10, reported.get());
    }

    /** As when the Java heap is full, and nothing can be said about a task that found it so. */
    @Test
    void handlersThatThrowEndNoWorker() throws InterruptedException {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            throw new OutOfMemoryError("for a test");
        });
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            CountDownLatch done = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                workers.submit(Priority.IDLE, () -> {
                    done.countDown();
                    throw new OutOfMemoryError("for a test");
                });
            }
            done.await();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    /** While some workers are in long tasks a task is run by any other that may run it. */
    @ParameterizedTest
    @CsvSource({"SEAL, 2, COMPACT", "SEAL, 1, SEAL", "CHECKPOINT, 2, COMPACT", "CHECKPOINT, 1, SEAL", "COMPACT, 1, COMPACT", "IDLE, 1, SEAL"})
    void aTaskFindsTheWorkerThatIsFree(Priority priority, int busy, Priority busyWith) throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        try (ThreadWorkers workers = new ThreadWorkers("test", 2)) {
            CountDownLatch begun = new CountDownLatch(busy);
            for (int i = 0; i < busy; i++) {
                workers.submit(busyWith, () -> {
                    begun.countDown();
                    awaitQuietly(end);
                });
            }
            begun.await();
            for (int i = 0; i < 1000; i++) {
                CountDownLatch done = new CountDownLatch(3);
                for (int task = 0; task < 3; task++) {
                    workers.submit(priority, done::countDown);
                }
                done.await();
            }
            end.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void delayedTasksRunWhenTheirTimeComesAndAreForgottenAtTheEnd() throws InterruptedException {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(3);
        ThreadWorkers workers = new ThreadWorkers("delayed", 1);
        workers.submitLater(Priority.IDLE, Long.MAX_VALUE / 4, ran::incrementAndGet);
        for (int delay : new int[] {3, 0, 2}) {
            workers.submitLater(Priority.IDLE, delay * 1_000_000L, done::countDown);
        }
        done.await();
        workers.close();
        assertEquals(0, ran.get());
    }
}
