package dev.heartwood.concurrency;

import dev.heartwood.ClosedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Runs bodies side by side from one starting line, and hands on the first failure. */
final class Threads {
    /** What a thread does. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    private Threads() {}

    /** Waits for a latch, which nobody interrupts. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Starts one thread of very many. */
    static Thread started(Runnable call) {
        Thread thread = Thread.ofPlatform().stackSize(256 << 10).unstarted(call);
        thread.start();
        return thread;
    }

    static void run(List<Body> bodies) {
        CountDownLatch start = new CountDownLatch(bodies.size());
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Body body : bodies) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    start.countDown();
                    start.await();
                    body.run();
                } catch (Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
            }));
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError(failures.getFirst().toString(), failures.getFirst());
            failures.stream().skip(1).forEach(error::addSuppressed);
            throw error;
        }
    }

    /** Calls again and again until the store is closed. */
    static void untilClosed(Runnable call) {
        try {
            while (true) {
                call.run();
            }
        } catch (ClosedException expected) {
            // The end.
        }
    }
}
