package dev.heartwood.engine.store;

import dev.heartwood.StoreListener;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Tells the listener of a store what happened, one event at a time. Thread-safe. Whoever has something to tell may hold anything, so the
 * listener is called by a worker, without other locks of the engine.
 */
final class Listening {
    private final StoreListener listener;
    private final Workers workers;
    private final AtomicLong failures = new AtomicLong();
    private final ReentrantLock calling = new ReentrantLock();

    /** @param listener null when nobody listens */
    Listening(StoreListener listener, Workers workers) {
        this.listener = listener;
        this.workers = workers;
    }

    /** Has the listener told, soon. */
    void tell(Consumer<StoreListener> event) {
        if (listener != null) {
            workers.submit(Priority.IDLE, () -> tellNow(event));
        }
    }

    private void tellNow(Consumer<StoreListener> event) {
        calling.lock();
        try {
            event.accept(listener);
        } catch (Throwable e) {
            // Whatever a listener throws is its own affair; that it does so can be seen in the statistics.
            failures.incrementAndGet();
        } finally {
            calling.unlock();
        }
    }

    /** Times the listener threw. */
    long failures() {
        return failures.get();
    }
}
