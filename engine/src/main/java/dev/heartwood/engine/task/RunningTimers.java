package dev.heartwood.engine.task;

/** Timers that run, in the order in which they end. Linked by themselves, so that starting and ending one takes nothing of the Java heap. */
final class RunningTimers {
    // All of it is guarded by the lock of the workers.
    /** One of them, or one that does not run. */
    static final class Entry {
        private final Priority priority;
        private final Runnable task;
        private long dueNanos;
        private boolean isRunning;
        private Entry previous;
        private Entry next;

        Entry(Priority priority, Runnable task) {
            this.priority = priority;
            this.task = task;
        }

        boolean isRunning() {
            return isRunning;
        }

        long dueNanos() {
            return dueNanos;
        }
    }

    private Entry first;
    private Entry last;

    /** Starts a timer that does not run. Looks from the last one on: most are started for as long as others are. */
    void start(Entry timer, long dueNanos) {
        timer.isRunning = true;
        timer.dueNanos = dueNanos;
        Entry before = last;
        while (before != null && before.dueNanos > dueNanos) {
            before = before.previous;
        }
        link(before, timer);
    }

    private void link(Entry before, Entry timer) {
        timer.previous = before;
        timer.next = before == null ? first : before.next;
        connect(before, timer);
        connect(timer, timer.next);
    }

    private void connect(Entry before, Entry after) {
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
    }

    /** Ends the first timer of a priority, if it is due; returns its task, or null. */
    Runnable pollDue(Priority priority, long nowNanos) {
        for (Entry timer = first; timer != null && timer.dueNanos <= nowNanos; timer = timer.next) {
            if (timer.priority == priority) {
                connect(timer.previous, timer.next);
                timer.previous = null;
                timer.next = null;
                timer.isRunning = false;
                return timer.task;
            }
        }
        return null;
    }

    /** The first timer of a priority down to {@code least}; null when there is none. */
    Entry first(Priority least) {
        Entry timer = first;
        while (timer != null && timer.priority.compareTo(least) > 0) {
            timer = timer.next;
        }
        return timer;
    }

    /** Forgets all of them. */
    void clear() {
        first = null;
        last = null;
    }
}
