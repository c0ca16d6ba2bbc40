package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.heartwood.StoreListener;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.ThreadWorkers;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Events and those who listen to them. */
class ListeningTest {
    private static final int EVENTS = 1000;
    private static final int WAITING = 1 << 16;

    private static CountDownLatch tellLast(Listening listening) {
        CountDownLatch last = new CountDownLatch(1);
        listening.tell(listener -> last.countDown());
        return last;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Stands for whatever a listener does that takes long, or needs a worker. */
    private static void awaitWorker(ThreadWorkers workers) {
        assertFalse(Thread.currentThread().getName().contains("worker"), "a worker calls the listener");
        CountDownLatch done = new CountDownLatch(1);
        workers.submit(Priority.IDLE, done::countDown);
        awaitQuietly(done);
    }

    @Test
    void listenersMayWaitForWorkers() throws InterruptedException {
        List<Integer> told = Collections.synchronizedList(new ArrayList<>());
        Listening listening;
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            listening = new Listening(new StoreListener() {}, workers);
            for (int i = 0; i < EVENTS; i++) {
                int number = i;
                listening.tell(listener -> {
                    if (number < EVENTS / 2) {
                        awaitWorker(workers);
                    }
                    told.add(number);
                    if (number % 10 == 0) {
                        throw new IllegalStateException("thrown by a listener");
                    }
                });
            }
            tellLast(listening).await();
        }
        assertEquals(IntStream.range(0, EVENTS).boxed().toList(), told);
        assertEquals(EVENTS / 10, listening.failures());
    }

    /** Events that a slow listener does not hear of are counted; workers close when it has heard of the others. */
    @Test
    void thoseThatAreTooSlowMissSome() throws InterruptedException {
        AtomicInteger told = new AtomicInteger();
        Listening listening;
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            listening = new Listening(new StoreListener() {}, workers);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            listening.tell(listener -> {
                begun.countDown();
                awaitQuietly(goOn);
            });
            begun.await();
            for (int i = 0; i < WAITING + 5; i++) {
                listening.tell(listener -> told.incrementAndGet());
            }
            goOn.countDown();
        }
        assertEquals(WAITING, told.get());
        assertEquals(5, listening.failures());
    }

    /** Where there is no thread for it nobody but the listener is held up, and that until the next event. */
    @Test
    void eventsWaitForAThread() {
        List<Runnable> apart = new ArrayList<>();
        boolean[] isRefused = {true};
        Workers workers = new Workers() {
            @Override
            public void submit(Priority priority, Runnable task) {
                throw new AssertionError("submitted to a worker");
            }

            @Override
            public Timer timer(Priority priority, Runnable task) {
                throw new AssertionError("submitted to a worker");
            }

            @Override
            public void runApart(Runnable task) {
                if (isRefused[0]) {
                    throw new OutOfMemoryError("unable to create native thread, for a test");
                }
                apart.add(task);
            }

            @Override
            public int count() {
                return 1;
            }

            @Override
            public void close() {}
        };
        List<Integer> told = new ArrayList<>();
        Listening listening = new Listening(new StoreListener() {}, workers);
        listening.tell(listener -> told.add(1));
        isRefused[0] = false;
        listening.tell(listener -> told.add(2));
        listening.tell(listener -> told.add(3));
        assertEquals(1, apart.size());
        apart.getFirst().run();
        assertEquals(List.of(1, 2, 3), told);
    }

    @Test
    void whoHasHeardAllIsToldOfWhatComesLater() throws InterruptedException {
        try (ThreadWorkers workers = new ThreadWorkers("test", 1)) {
            Listening listening = new Listening(new StoreListener() {}, workers);
            for (int i = 0; i < EVENTS; i++) {
                tellLast(listening).await();
            }
        }
    }
}
