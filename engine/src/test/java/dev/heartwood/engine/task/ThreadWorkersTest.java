package dev.heartwood.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
        workers.timer(Priority.IDLE, ran::incrementAndGet).start(Long.MAX_VALUE / 4);
        for (int delay : new int[] {3, 0, 2}) {
            workers.timer(Priority.IDLE, done::countDown).start(delay * 1_000_000L);
        }
        done.await();
        workers.close();
        assertEquals(0, ran.get());
    }

    /** Whoever looks first finds all of them due, and queues them for the one worker that runs them. */
    @Test
    void timersEndInTheirOrderAndOnceForEachStart() throws InterruptedException {
        List<Integer> ran = new ArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(8);
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            for (Priority priority : new Priority[] {Priority.IDLE, Priority.SEAL}) {
                CountDownLatch begun = new CountDownLatch(1);
                workers.submit(priority, () -> {
                    begun.countDown();
                    awaitQuietly(end);
                });
                begun.await();
            }
            List<Timer> timers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int number = i;
                timers.add(workers.timer(Priority.IDLE, () -> {
                    ran.add(number);
                    done.countDown();
                    if (ran.size() <= 4) {
                        timers.get(number).start(0);
                    }
                }));
            }
            for (int number : new int[] {2, 0, 3, 1}) {
                timers.get(number).start(TimeUnit.HOURS.toNanos(number - 5));
                timers.get(number).start(0);
            }
            end.countDown();
            done.await();
        }
        assertEquals(List.of(0, 1, 2, 3, 0, 1, 2, 3), ran);
    }

    /** A queue for which the Java heap may have no room. */
    private static final class FullHeap extends LinkedList<Runnable> {
        private final AtomicBoolean isFull;

        FullHeap(AtomicBoolean isFull) {
            this.isFull = isFull;
        }

        @Override
        public boolean add(Runnable task) {
            if (isFull.get()) {
                throw new OutOfMemoryError("for a test");
            }
            return super.add(task);
        }
    }

    /** Whoever looked for a task threw before it came to the queues, again and again. */
    @Test
    void aTimerThatTheJavaHeapHasNoRoomToQueueHoldsNoTaskUp() throws InterruptedException {
        AtomicBoolean isFull = new AtomicBoolean();
        AtomicInteger reported = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(2);
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            reported.incrementAndGet();
            isFull.set(false);
        });
        try (ThreadWorkers workers = new ThreadWorkers("test", 1, () -> new FullHeap(isFull))) {
            CountDownLatch begun = new CountDownLatch(1);
            workers.submit(Priority.IDLE, () -> {
                begun.countDown();
                awaitQuietly(end);
            });
            begun.await();
            workers.submit(Priority.IDLE, done::countDown);
            isFull.set(true);
            workers.timer(Priority.IDLE, done::countDown).start(0);
            end.countDown();
            done.await();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        assertEquals(0, reported.get());
    }

    /** What is done again and again ended for good when the Java heap was full as its time came to be set. */
    @Test
    void startingATimerTakesNothingOfTheHeap() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            for (int i = 0; i < 100; i++) {
                Timer timer = workers.timer(Priority.IDLE, () -> {});
                long before = threads.getCurrentThreadAllocatedBytes();
                timer.start(Long.MAX_VALUE / 4);
                // A lock that others have takes something, which it can do without.
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
        }
        assertEquals(0, least);
    }
}
