package dev.heartwood.engine.store;

import dev.heartwood.StoreListener;
import dev.heartwood.engine.task.Workers;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Tells the listener of a store what happened, one event at a time, in order. Thread-safe. Whoever has something to tell may hold anything,
 * and the listener may take its time, or wait for work of the background: so it is called apart, on none of the workers, without locks of the engine.
 */
final class Listening {
    /** The most events that wait for a listener; what happens beyond is not told. */
    private static final int WAITING_MAX = 1 << 16;

    private final StoreListener listener;
    private final Workers workers;
    private final AtomicLong failures = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock. Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Queue<Consumer<StoreListener>> waiting = new LinkedList<>();
    /** Whether somebody tells, or is about to. */
    private boolean telling;

    /** @param listener null when nobody listens */
    Listening(StoreListener listener, Workers workers) {
        this.listener = listener;
        this.workers = workers;
    }

    /** Has the listener told, soon. */
    void tell(Consumer<StoreListener> event) {
        if (listener == null) {
            return;
        }
        lock.lock();
        try {
            if (waiting.size() == WAITING_MAX) {
                failures.incrementAndGet();
                return;
            }
            waiting.add(event);
            if (!telling) {
                workers.runApart(this::tellAll);
                telling = true;
            }
        } catch (OutOfMemoryError none) {
            // There is no thread to be had, or no heap for one: what waits is told with the next event.
        } finally {
            lock.unlock();
        }
    }

    private void tellAll() {
        for (Consumer<StoreListener> event = next(); event != null; event = next()) {
            try {
                event.accept(listener);
            } catch (Throwable e) {
                // Whatever a listener throws is its own affair; that it does so can be seen in the statistics.
                failures.incrementAndGet();
            }
        }
    }

    private Consumer<StoreListener> next() {
        lock.lock();
        try {
            Consumer<StoreListener> event = waiting.poll();
            telling = event != null;
            return event;
        } finally {
            lock.unlock();
        }
    }

    /** Times the listener threw, and events that were not told because it was too slow. */
    long failures() {
        return failures.get();
    }
}
