package dev.heartwood.engine.base;

import java.util.concurrent.locks.LockSupport;

/** The one source of time; nothing stored depends on it. */
public interface Clock {
    /** The clock of the machine. */
    Clock SYSTEM = System::nanoTime;

    /** Nanoseconds since some moment; only differences mean anything. */
    long nanoTime();

    /**
     * Lets the calling thread wait for about so many nanoseconds, or less. One that is interrupted waits too, and is interrupted still
     * afterwards: if it did not, whoever looks again and again would spin, and a virtual thread would keep its carrier from those that
     * it waits for.
     */
    default void parkNanos(long nanos) {
        if (Thread.interrupted()) {
            parkInterrupted(nanos);
        } else {
            LockSupport.parkNanos(nanos);
        }
    }

    private void parkInterrupted(long nanos) {
        long began = SYSTEM.nanoTime();
        try {
            // In a loop, since an interrupt also leaves a permit, with which the next park returns at once.
            for (long left = nanos; left > 0; left = nanos - (SYSTEM.nanoTime() - began)) {
                LockSupport.parkNanos(left);
                Thread.interrupted();
            }
        } finally {
            Thread.currentThread().interrupt();
        }
    }
}
