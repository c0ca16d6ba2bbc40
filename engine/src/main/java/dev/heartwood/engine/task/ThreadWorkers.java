package dev.heartwood.engine.task;

import dev.heartwood.engine.base.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Workers that are daemon threads: {@code count} for every priority, and one more for {@link Priority#SEAL} and {@link
 * Priority#CHECKPOINT} alone, so that a memtable is packed while every other worker is in a long merge.
 */
public final class ThreadWorkers implements Workers {
    /*
     * A task wakes one worker: each of those woken for nothing would take a processor for a moment from a writer, who has it back
     * after some ticks of the scheduler only. Whoever is woken, or done with a task, looks into all queues that it serves before it waits
     * again, so no task is left while a worker that may run it waits.
     */
    private static final Priority[] PRIORITIES = Priority.values();

    /** What the worker for sealing does. */
    private static final Priority SEALING = Priority.CHECKPOINT;

    private final ReentrantLock lock = new ReentrantLock();
    /** Where the worker for sealing waits, and all others. */
    private final Condition sealing = lock.newCondition();

    private final Condition changed = lock.newCondition();
    // Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Map<Priority, Queue<Runnable>> queues = new EnumMap<>(Priority.class);
    /** Timers that run, by when they end; guarded by the lock. Linked by themselves, so that starting one takes nothing of the Java heap. */
    private ThreadTimer firstTimer;

    private ThreadTimer lastTimer;
    private final Clock clock = Clock.SYSTEM;
    private final long beginNanos = clock.nanoTime();
    private final List<Thread> threads = new ArrayList<>();
    private final int count;
    private final ThreadsApart apart;
    private boolean closing;

    /** A timer of these workers, from whose beginning the time counts. All but what it runs is guarded by the lock. */
    private final class ThreadTimer implements Timer {
        private final Priority priority;
        private final Runnable task;
        private long dueNanos;
        private boolean isRunning;
        private ThreadTimer previous;
        private ThreadTimer next;

        ThreadTimer(Priority priority, Runnable task) {
            this.priority = priority;
            this.task = task;
        }

        @Override
        public void start(long delayNanos) {
            lock.lock();
            try {
                if (!closing && !isRunning) {
                    isRunning = true;
                    dueNanos = now() + delayNanos;
                    link();
                    wakeAll();
                }
            } finally {
                lock.unlock();
            }
        }

        /** From the last one on: most timers are started for as long as others are. */
        private void link() {
            previous = lastTimer;
            while (previous != null && previous.dueNanos > dueNanos) {
                previous = previous.previous;
            }
            next = previous == null ? firstTimer : previous.next;
            if (previous == null) {
                firstTimer = this;
            } else {
                previous.next = this;
            }
            if (next == null) {
                lastTimer = this;
            } else {
                next.previous = this;
            }
        }

        private void unlink() {
            isRunning = false;
            if (previous == null) {
                firstTimer = next;
            } else {
                previous.next = next;
            }
            if (next == null) {
                lastTimer = previous;
            } else {
                next.previous = previous;
            }
            previous = null;
            next = null;
        }
    }

    /** Starts the workers; {@code name} begins the names of their threads. */
    public ThreadWorkers(String name, int count) {
        this(name, count, LinkedList::new);
    }

    /** As the other; {@code queueSource} makes what tasks wait in. */
    ThreadWorkers(String name, int count, Supplier<Queue<Runnable>> queueSource) {
        this.count = count;
        this.apart = new ThreadsApart(name + "-apart");
        for (Priority priority : Priority.values()) {
            queues.put(priority, queueSource.get());
        }
        try {
            for (int i = 0; i < count; i++) {
                start(name + "-worker-" + i, Priority.IDLE);
            }
            start(name + "-seal", SEALING);
        } catch (Throwable e) {
            close(); // those that could be started would wait for ever
            throw e;
        }
    }

    private void start(String name, Priority least) {
        Thread thread = new Thread(() -> work(least), name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public void submit(Priority priority, Runnable task) {
        lock.lock();
        try {
            if (!closing) {
                add(priority, task);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Queues a task, and wakes a worker for it if one waits: who seals for a checkpoint only if nobody else does. */
    private void add(Priority priority, Runnable task) {
        queues.get(priority).add(task);
        boolean isForSealing = priority == Priority.SEAL
                ? lock.hasWaiters(sealing)
                : priority.compareTo(SEALING) <= 0 && !lock.hasWaiters(changed);
        (isForSealing ? sealing : changed).signal();
    }

    private void wakeAll() {
        sealing.signalAll();
        changed.signalAll();
    }

    @Override
    public Timer timer(Priority priority, Runnable task) {
        return new ThreadTimer(priority, task);
    }

    @Override
    public void runApart(Runnable task) {
        apart.start(task);
    }

    private void work(Priority least) {
        boolean goesOn = true;
        while (goesOn) {
            try {
                Runnable task = take(least);
                goesOn = task != null;
                if (goesOn) {
                    task.run();
                }
            } catch (Throwable e) {
                // A task deals with its own failures. One that does not must not take the thread from all other tasks.
                report(e);
            }
        }
    }

    static void report(Throwable failure) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable full) {
            // Where the Java heap is full even that may fail, and the thread is needed all the same.
        }
    }

    private Runnable take(Priority least) {
        lock.lock();
        try {
            while (true) {
                queueDue();
                for (Priority priority : PRIORITIES) {
                    if (priority.compareTo(least) <= 0) {
                        Runnable task = queues.get(priority).poll();
                        if (task != null) {
                            return task;
                        }
                    }
                }
                ThreadTimer timer = firstTimer(least);
                if (timer != null && timer.dueNanos <= now()) {
                    timer.unlink();
                    return timer.task;
                }
                if (closing) {
                    return null;
                }
                awaitChange(least == SEALING ? sealing : changed, timer);
            }
        } finally {
            lock.unlock();
        }
    }

    private long now() {
        return clock.nanoTime() - beginNanos;
    }

    /** Queues the tasks of timers that have ended. Those for which the Java heap has no room stay, for workers without another task. */
    private void queueDue() {
        try {
            long now = now();
            while (firstTimer != null && firstTimer.dueNanos <= now) {
                add(firstTimer.priority, firstTimer.task);
                firstTimer.unlink();
            }
        } catch (OutOfMemoryError full) {
            // What is queued already must not wait for that.
        }
    }

    /** The first timer whose task a worker may run; null when there is none. */
    private ThreadTimer firstTimer(Priority least) {
        ThreadTimer timer = firstTimer;
        while (timer != null && timer.priority.compareTo(least) > 0) {
            timer = timer.next;
        }
        return timer;
    }

    /** Waits for a task or for the end of a timer; null for none. */
    private void awaitChange(Condition change, ThreadTimer timer) {
        if (timer == null) {
            change.awaitUninterruptibly();
            return;
        }
        try {
            change.awaitNanos(timer.dueNanos - now());
        } catch (InterruptedException e) {
            // Nobody interrupts these threads but a task; it is none of the next task's business.
            Thread.interrupted();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            firstTimer = null;
            lastTimer = null;
            wakeAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        // By number: a full Java heap that has no iterator must not keep anybody from being waited for.
        for (int i = 0; i < threads.size(); i++) {
            interrupted |= join(threads.get(i));
        }
        interrupted |= apart.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the end of a thread, unless it is this one; returns whether this one was interrupted. */
    static boolean join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }
}
