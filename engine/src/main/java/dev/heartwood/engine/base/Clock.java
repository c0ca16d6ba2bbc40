package dev.heartwood.engine.base;

import java.util.concurrent.locks.LockSupport;

/** The one source of time; nothing stored depends on it. */
public interface Clock {
    /** The clock of the machine. */
    Clock SYSTEM = System::nanoTime;

    /** Nanoseconds since some moment; only differences mean anything. */
    long nanoTime();

    /** Lets the calling thread wait for about so many nanoseconds, or less. */
    default void parkNanos(long nanos) {
        LockSupport.parkNanos(nanos);
    }
}
