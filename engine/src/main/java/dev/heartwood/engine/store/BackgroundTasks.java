package dev.heartwood.engine.store;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the tasks of a store's background have in common: whether any may begin, how they are given to workers, and how others hear that one
 * has ended. Thread-safe.
 *
 * <p>Each kind of task has a flag, or a count, which says that one is under way: set before it is submitted, cleared before {@link #signal}.
 * Who waits looks at it under the lock, and so misses no signal. Tasks are submitted under the lock too; where that fails, writers that wait
 * for room are told, so it comes before the rotation lock.
 */
final class BackgroundTasks {
    private final Workers workers;
    private final FailStop failStop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile Runnable whenChanged = () -> {};
    private volatile boolean closing;

    BackgroundTasks(Workers workers, FailStop failStop) {
        this.workers = workers;
        this.failStop = failStop;
    }

    /** Sets what is called after each change; before the first task. */
    void whenChanged(Runnable action) {
        whenChanged = action;
    }

    /** Whether a task may begin: the store neither closes nor has failed. */
    boolean mayBegin() {
        return !closing && !failStop.isFailed();
    }

    boolean isClosing() {
        return closing;
    }

    /** Lets no task begin any more; those that are under way go on. */
    void close() {
        closing = true;
    }

    /** Sets the flag of a task that is to be submitted; returns false when it was set already, or the store is closing. */
    boolean announce(AtomicBoolean underWay) {
        if (!underWay.compareAndSet(false, true)) {
            return false;
        }
        if (closing) {
            // Whoever closes looks at the flag after it has said so: it waits for this task, or this one sees it.
            underWay.set(false);
            signal();
            return false;
        }
        return true;
    }

    /** Returns whether the task will run; when it cannot, because the Java heap is full, say, the store has failed. */
    boolean submit(Priority priority, Runnable task) {
        try {
            workers.submit(priority, task);
            return true;
        } catch (RuntimeException | Error e) {
            failStop.fail(e);
            return false;
        }
    }

    /** Tells those who wait that something has changed, and writers that wait for room. */
    void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        whenChanged.run();
    }

    /** For who waits: from looking whether to wait until {@link #awaitChange}. */
    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /** Waits, with the lock, for a signal, or for a task that this thread runs itself. */
    void awaitChange() {
        if (!workers.runOneHere()) {
            changed.awaitUninterruptibly();
        }
    }
}
