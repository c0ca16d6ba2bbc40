package dev.heartwood.engine.store;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the tasks of a store that merge, and of these the ones whose merge has not ended. A task that has merged still sees to what comes
 * next: who looked between two merges would take the first for the last, if the task did not count until the next one does. Both are one
 * number, so that no look falls between them. Thread-safe.
 */
final class MergeTasks {
    /** Of a count, the lower half is merges, the upper one tasks. */
    private static final long TASK = 1L << 32;

    private final AtomicLong counts = new AtomicLong();

    /** Counts one more task, and its merge, unless there are {@code mergesMax} merges already; returns whether it did. */
    boolean tryBegin(int mergesMax) {
        while (true) {
            long now = counts.get();
            if (merges(now) >= mergesMax) {
                return false;
            }
            if (counts.compareAndSet(now, now + TASK + 1)) {
                return true;
            }
        }
    }

    /** The merge of a task has ended, or came to nothing. */
    void mergeEnded() {
        counts.decrementAndGet();
    }

    /** A task whose merge has ended has, too. */
    void ended() {
        counts.addAndGet(-TASK);
    }

    /** Whether a merge is under way, or about to be. */
    boolean isMerging() {
        return merges(counts.get()) > 0;
    }

    /** Whether there is any task. */
    boolean isAny() {
        return counts.get() != 0;
    }

    private static int merges(long counts) {
        return (int) counts;
    }
}
