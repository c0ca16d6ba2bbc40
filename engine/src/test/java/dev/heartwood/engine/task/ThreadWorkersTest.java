package dev.heartwood.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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

    /**
     * Where more stores than there are workers had memtables to be packed all the time nothing was merged, so that packing took longer and longer, and no
     * checkpoint was made.
     */
    @ParameterizedTest
    @CsvSource({"1,COMPACT", "1,CHECKPOINT", "2,COMPACT", "2,CHECKPOINT"})
    void whatIsSealedAllTheTimeLeavesTheOthersTheirTurn(int count, Priority priority) throws InterruptedException {
        int most = 100_000;
        AtomicInteger sealed = new AtomicInteger();
        AtomicInteger sealedBefore = new AtomicInteger(most);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        try (ThreadWorkers workers = new ThreadWorkers("test", count)) {
            Runnable[] sealing = new Runnable[1];
            sealing[0] = () -> {
                awaitQuietly(begin);
                if (sealed.incrementAndGet() < most && done.getCount() > 0) {
                    workers.submit(Priority.SEAL, sealing[0]);
                }
            };
            // All are busy, and one more waits.
            for (int i = 0; i < count + 2; i++) {
                workers.submit(Priority.SEAL, sealing[0]);
            }
            workers.submit(priority, () -> {
                sealedBefore.set(sealed.get());
                done.countDown();
            });
            begin.countDown();
            done.await();
        }
        assertTrue(sealedBefore.get() < most / 2, sealedBefore + " tasks before");
    }

    /** Checkpoints, or pages to be written back, may wait all the time too. */
    @Test
    void checkpointsLeaveMergesTheirTurnWhereMuchIsSealed() throws InterruptedException {
        int most = 100_000;
        AtomicInteger tasks = new AtomicInteger();
        AtomicInteger before = new AtomicInteger(most);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            for (Priority each : List.of(Priority.SEAL, Priority.SEAL, Priority.SEAL, Priority.CHECKPOINT, Priority.CHECKPOINT)) {
                Runnable[] again = new Runnable[1];
                again[0] = () -> {
                    awaitQuietly(begin);
                    if (tasks.incrementAndGet() < most && done.getCount() > 0) {
                        workers.submit(each, again[0]);
                    }
                };
                workers.submit(each, again[0]);
            }
            workers.submit(Priority.COMPACT, () -> {
                before.set(tasks.get());
                done.countDown();
            });
            begin.countDown();
            done.await();
        }
        assertTrue(before.get() < most / 2, before + " tasks before");
    }

    /** As long as one worker merges, whoever else has packed packs again. */
    @Test
    void whatIsSealedComesFirstWhileSomebodyMerges() throws InterruptedException {
        CountDownLatch merging = new CountDownLatch(1);
        CountDownLatch sealing = new CountDownLatch(2);
        CountDownLatch last = new CountDownLatch(3);
        CountDownLatch workerEnds = new CountDownLatch(1);
        CountDownLatch othersEnd = new CountDownLatch(1);
        List<Priority> order = Collections.synchronizedList(new ArrayList<>());
        try (ThreadWorkers workers = new ThreadWorkers("test", 2)) {
            workers.submit(Priority.COMPACT, () -> {
                merging.countDown();
                awaitQuietly(othersEnd);
            });
            merging.await();
            for (int i = 0; i < 2; i++) {
                workers.submit(Priority.SEAL, () -> {
                    sealing.countDown();
                    awaitQuietly(Thread.currentThread().getName().equals("test-seal") ? othersEnd : workerEnds);
                });
            }
            sealing.await();
            for (Priority each : List.of(Priority.COMPACT, Priority.SEAL, Priority.SEAL)) {
                workers.submit(each, () -> {
                    order.add(each);
                    last.countDown();
                });
            }
            assertTrue(workers.isAnyWaiting());
            workerEnds.countDown();
            last.await();
            assertFalse(workers.isAnyWaiting());
            othersEnd.countDown();
        }
        assertEquals(List.of(Priority.SEAL, Priority.SEAL, Priority.COMPACT), order);
    }

    /** While merges never came to an end no page was scrubbed. */
    @Test
    void timersOfTheLowestPriorityDoNotStarve() throws InterruptedException {
        long merge = ThreadWorkers.LATE_NANOS / 100;
        AtomicLong nanos = new AtomicLong();
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger merges = new AtomicInteger();
        AtomicInteger mergesBefore = new AtomicInteger();
        try (ThreadWorkers workers = new ThreadWorkers("test", 1, nanos::get)) {
            Runnable[] merging = new Runnable[1];
            merging[0] = () -> {
                nanos.addAndGet(merge);
                if (merges.incrementAndGet() < 1000) {
                    workers.submit(Priority.COMPACT, merging[0]);
                }
            };
            CountDownLatch begin = new CountDownLatch(1);
            workers.submit(Priority.COMPACT, () -> {
                awaitQuietly(begin);
                workers.submit(Priority.COMPACT, merging[0]);
            });
            workers.timer(Priority.IDLE, () -> {
                mergesBefore.set(merges.get());
                done.countDown();
            }).start(0);
            begin.countDown();
            done.await();
        }
        assertEquals(100, mergesBefore.get());
    }

    /** Nor do timers that are late, however many they are, keep all else from being done. */
    @Test
    void lateTimersGoFirstEverySecondTime() throws InterruptedException {
        AtomicLong nanos = new AtomicLong();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger looks = new AtomicInteger();
        AtomicInteger looksBefore = new AtomicInteger(-1);
        try (ThreadWorkers workers = new ThreadWorkers("test", 1, nanos::get)) {
            workers.submit(Priority.COMPACT, () -> {
                begun.countDown();
                awaitQuietly(begin);
            });
            begun.await(); // else timers that are late by then would come first
            Timer[] timers = new Timer[20];
            for (int i = 0; i < timers.length; i++) {
                int number = i;
                timers[i] = workers.timer(Priority.IDLE, () -> {
                    nanos.addAndGet(ThreadWorkers.LATE_NANOS / 10);
                    if (looks.incrementAndGet() < 1000) {
                        timers[number].start(0);
                    }
                });
                timers[i].start(0);
            }
            nanos.addAndGet(2 * ThreadWorkers.LATE_NANOS);
            workers.submit(Priority.COMPACT, () -> {
                looksBefore.set(looks.get());
                done.countDown();
            });
            begin.countDown();
            done.await();
        }
        assertEquals(1, looksBefore.get());
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

    /** All of them are due before anybody looks. */
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

    /** Where the Java heap had no room to queue its task, whoever looked for one threw before it came to those of others. */
    @Test
    void aTimerThatEndsTakesNothingOfTheHeap() throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] allocated = new long[100];
        AtomicInteger runs = new AtomicInteger();
        Timer[] timer = new Timer[1];
        CountDownLatch done = new CountDownLatch(1);
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            timer[0] = workers.timer(Priority.IDLE, () -> {
                allocated[runs.get()] = threads.getCurrentThreadAllocatedBytes();
                if (runs.incrementAndGet() < allocated.length) {
                    timer[0].start(0);
                } else {
                    done.countDown();
                }
            });
            timer[0].start(0);
            done.await();
        }
        long least = Long.MAX_VALUE;
        for (int i = 1; i < allocated.length; i++) {
            least = Math.min(least, allocated[i] - allocated[i - 1]);
        }
        assertEquals(0, least);
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
