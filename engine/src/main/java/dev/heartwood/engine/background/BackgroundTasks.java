package dev.heartwood.engine.background;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * What the tasks of a store's background have in common: whether any may begin, how they are given to workers, and how others hear that one
 * has ended. Thread-safe.
 *
 * <p>All tasks that are under way are one number: each counts from before it is submitted until it {@link #ended}, and who sees to what comes
 * next begins that first. So nobody who looks falls between two of them. A kind of which there is one at a time has a flag besides, cleared before
 * its task has ended. Who waits looks under the lock, and so misses no signal. Tasks are submitted under the lock too; where that fails, writers that
 * wait for room are told, so it comes before the rotation lock.
 */
final class BackgroundTasks {
    /** Of a count, the lower bits are the tasks that are under way, the upper ones all that ever began. */
    private static final int BEGUN_SHIFT = 20;

    private static final long ONE_BEGINS = (1L << BEGUN_SHIFT) + 1;

    private final Workers workers;
    private final FailStop failStop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicLong counts = new AtomicLong();
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

    /**
     * Counts a task that is to be submitted; returns false when the store is closing, and then it does not count. Before it takes what others find
     * taken: who leaves what comes next to another, and ends, has to leave it to one that counts.
     */
    boolean begin() {
        counts.addAndGet(ONE_BEGINS);
        if (closing) {
            // Whoever closes looks at the count after it has said so: it waits for this task, or this one sees it.
            ended();
            return false;
        }
        return true;
    }

    /** The same of a task of which there is one at a time, and sets its flag; returns false when that was set already, too. */
    boolean announce(AtomicBoolean underWay) {
        if (underWay.get() || !begin()) {
            return false;
        }
        if (!underWay.compareAndSet(false, true)) {
            ended();
            return false;
        }
        return true;
    }

    /** A task has ended, or could not be submitted; what it led to has begun. Tells those who wait. */
    void ended() {
        counts.decrementAndGet();
        signal();
    }

    /**
     * Whether any task is under way, or is about to be.
     *
     * @param isWaiting whether one is to come that is not counted; it comes to that in a task, and begins another before it is no more
     */
    boolean isAnyUnderWay(BooleanSupplier isWaiting) {
        long before;
        do {
            before = counts.get();
            if (underWay(before) > 0 || isWaiting.getAsBoolean()) {
                return true;
            }
            // Between the two a task may have begun, and may have come to wait.
        } while (counts.get() != before);
        return false;
    }

    private static long underWay(long counts) {
        return counts & (1L << BEGUN_SHIFT) - 1;
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

    /** Whether tasks of any store wait for a worker. */
    boolean isAnyWaiting() {
        return workers.isAnyWaiting();
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
