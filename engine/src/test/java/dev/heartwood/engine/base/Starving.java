package dev.heartwood.engine.base;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that wait for one that is woken by a platform thread once they have all carriers: if they only yield, it never comes to go on, and
 * this never ends.
 */
public final class Starving {
    private static final int WAITERS = 4 * Runtime.getRuntime().availableProcessors();

    private volatile boolean isWoken;

    /**
     * Has one thread run {@code holder}, and once it sleeps in {@link #awaitWake} several {@code waiter}, which wait for it; returns when all have
     * ended.
     */
    public void run(Runnable holder, Runnable waiter) throws InterruptedException {
        Thread held = Thread.ofVirtual().start(holder);
        awaitSleep(held);
        List<Thread> threads = new ArrayList<>(beginWaiting(waiter));
        isWoken = true;
        LockSupport.unpark(held);
        threads.add(held);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Returns once a thread sleeps, or is kept from a lock. */
    public static void awaitSleep(Thread thread) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
    }

    /** Starts enough threads for all carriers; each runs {@code waiter}, or is about to. */
    public static List<Thread> beginWaiting(Runnable waiter) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(WAITERS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                begun.countDown();
                waiter.run();
            }));
        }
        begun.await();
        return threads;
    }

    /** Sleeps until the others wait. */
    public void awaitWake() {
        while (!isWoken) {
            LockSupport.park();
        }
    }
}
