package dev.heartwood.planted;

import java.util.concurrent.CountDownLatch;

/** Waiting that nobody interrupts. */
final class Waits {
    private Waits() {}

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
