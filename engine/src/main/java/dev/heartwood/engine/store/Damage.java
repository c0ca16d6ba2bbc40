package dev.heartwood.engine.store;

import dev.heartwood.CorruptionEvent;
import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.CorruptionException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The damaged pages of a store that were met since it was opened. Thread-safe. */
final class Damage {
    /** Pages remembered by number; beyond that each meeting counts and is reported. */
    private static final int PAGES_MAX = 1 << 16;

    private final Listening listening;
    private final Set<Long> pages = ConcurrentHashMap.newKeySet();
    private final AtomicLong count = new AtomicLong();

    Damage(Listening listening) {
        this.listening = listening;
    }

    /** Notes a damaged page, and has the listener told when it is a new one. */
    void met(FoundBy foundBy, CorruptionException e) {
        boolean isFull = pages.size() >= PAGES_MAX;
        if (isFull ? pages.contains(e.page()) : !pages.add(e.page())) {
            return;
        }
        count.incrementAndGet();
        CorruptionEvent event = new CorruptionEvent(foundBy, e.file(), e.page(), e.pageType(), e.expected(), e.actual());
        listening.tell(listener -> listener.corruption(event));
    }

    /** Whether a page is among those that were met. */
    boolean isKnown(long page) {
        return pages.contains(page);
    }

    /** Damaged pages met. */
    long count() {
        return count.get();
    }
}
