package dev.heartwood.engine.read;

import java.util.concurrent.atomic.AtomicInteger;

/** How many use something that goes with the last of them; the first is whoever made it. Thread-safe. */
final class References {
    private final AtomicInteger count = new AtomicInteger(1);

    /** Adds one, unless the last one has gone. */
    boolean tryAdd() {
        int before = count.get();
        while (before > 0 && !count.compareAndSet(before, before + 1)) {
            before = count.get();
        }
        return before > 0;
    }

    /** Takes one off; true for the last. */
    boolean drop() {
        return count.decrementAndGet() == 0;
    }
}
