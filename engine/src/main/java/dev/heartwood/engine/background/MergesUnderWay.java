package dev.heartwood.engine.background;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the merges of a store that are under way, or about to be; the tasks that do them go on to see to what comes next. Thread-safe. */
final class MergesUnderWay {
    private final AtomicInteger merges = new AtomicInteger();

    /** Whether there are fewer than {@code mergesMax}. */
    boolean mayBegin(int mergesMax) {
        return merges.get() < mergesMax;
    }

    /** Counts one more, unless there are {@code mergesMax} already; returns whether it did. */
    boolean tryBegin(int mergesMax) {
        int now;
        do {
            now = merges.get();
            if (now >= mergesMax) {
                return false;
            }
        } while (!merges.compareAndSet(now, now + 1));
        return true;
    }

    /** One has ended, or came to nothing. */
    void ended() {
        merges.decrementAndGet();
    }

    /** Whether there is any. */
    boolean isAny() {
        return merges.get() > 0;
    }
}
