package dev.heartwood.engine.store;

import dev.heartwood.CorruptionEvent;
import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.CorruptionException;
import dev.heartwood.StoreListener;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The damaged pages of a store that were met since it was opened. Thread-safe. Whoever meets one may hold anything, so the listener
 * is called by a worker, without locks of the engine.
 */
final class Damage {
    /** Pages remembered by number; beyond that each meeting counts and is reported. */
    private static final int PAGES_MAX = 1 << 16;

    private final StoreListener listener;
    private final Workers workers;
    private final Set<Long> pages = ConcurrentHashMap.newKeySet();
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong listenerFailures = new AtomicLong();
    private final ReentrantLock calling = new ReentrantLock();

    Damage(StoreListener listener, Workers workers) {
        this.listener = listener;
        this.workers = workers;
    }

    /** Notes a damaged page, and has the listener told when it is a new one. */
    void met(FoundBy foundBy, CorruptionException e) {
        boolean isFull = pages.size() >= PAGES_MAX;
        if (isFull ? pages.contains(e.page()) : !pages.add(e.page())) {
            return;
        }
        count.incrementAndGet();
        if (listener != null) {
            CorruptionEvent event =
                    new CorruptionEvent(foundBy, e.file(), e.page(), e.pageType(), e.expected(), e.actual());
            workers.submit(Priority.IDLE, () -> tell(event));
        }
    }

    private void tell(CorruptionEvent event) {
        calling.lock();
        try {
            listener.corruption(event);
        } catch (Throwable e) {
            // Whatever a listener throws is its own affair; that it does so can be seen in the statistics.
            listenerFailures.incrementAndGet();
        } finally {
            calling.unlock();
        }
    }

    /** Damaged pages met. */
    long count() {
        return count.get();
    }

    /** Times the listener threw. */
    long listenerFailures() {
        return listenerFailures.get();
    }
}
