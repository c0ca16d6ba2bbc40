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

/**
 * Workers that are daemon threads: {@code count} for every priority, and one more for {@link Priority#SEAL} and {@link
 * Priority#CHECKPOINT} alone, so that a memtable is packed while every other worker is in a long merge. {@link Turns} say
 * what the others do first.
 */
public final class ThreadWorkers implements Workers {
    /*
     * A task wakes one worker: each of those woken for nothing would take a processor for a moment from a writer, who has it back
     * after some ticks of the scheduler only. Whoever is woken, or done with a task, looks into all queues that it serves before it waits
     * again, so no task is left while a worker that may run it waits.
     */
    /** What the worker for sealing does, and the last of it. */
    private static final Priority[] SEALING = {Priority.SEAL, Priority.CHECKPOINT};

    private static final Priority SEALING_LEAST = Priority.CHECKPOINT;

    /**
     * So much after its time what is timed with the lowest priority goes first, since merges of a busy store never come to an end; every second time
     * at most, since so many may be late that these would never begin.
     */
    static final long LATE_NANOS = 100_000_000;

    private final ReentrantLock lock = new ReentrantLock();
    /** Where the worker for sealing waits, and all others. */
    private final Condition sealing = lock.newCondition();

    private final Condition changed = lock.newCondition();
    // Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Map<Priority, Queue<Runnable>> queues = new EnumMap<>(Priority.class);
    private final RunningTimers timers = new RunningTimers();
    private final Clock clock;
    private final long beginNanos;
    private final List<Thread> threads = new ArrayList<>();
    private final Turns turns;
    private final int count;
    private final ThreadsApart apart;
    private boolean closing;
    /** What somebody who serves all priorities took last was late. */
    private boolean wasLate;

    /** Starts the workers; {@code name} begins the names of their threads. */
    public ThreadWorkers(String name, int count) {
        this(name, count, Clock.SYSTEM);
    }

    ThreadWorkers(String name, int count, Clock clock) {
        this.count = count;
        this.turns = new Turns(count);
        this.clock = clock;
        this.beginNanos = clock.nanoTime();
        this.apart = new ThreadsApart(name + "-apart");
        for (Priority priority : Priority.values()) {
            queues.put(priority, new LinkedList<>());
        }
        try {
            for (int i = 0; i < count; i++) {
                start(name + "-worker-" + i, i);
            }
            start(name + "-seal", count);
        } catch (Throwable e) {
            close(); // those that could be started would wait for ever
            throw e;
        }
    }

    /** Starts a worker, of which the one for sealing has the last number. */
    private void start(String name, int worker) {
        Thread thread = new Thread(() -> work(worker), name);
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
                : priority.compareTo(SEALING_LEAST) <= 0 && !lock.hasWaiters(changed);
        (isForSealing ? sealing : changed).signal();
    }

    private void wakeAll() {
        sealing.signalAll();
        changed.signalAll();
    }

    @Override
    public Timer timer(Priority priority, Runnable task) {
        RunningTimers.Entry timer = new RunningTimers.Entry(priority, task);
        return delayNanos -> startTimer(timer, delayNanos);
    }

    private void startTimer(RunningTimers.Entry timer, long delayNanos) {
        lock.lock();
        try {
            if (!closing && !timer.isRunning()) {
                timers.start(timer, now() + delayNanos);
                wakeAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Since these workers began. */
    private long now() {
        return clock.nanoTime() - beginNanos;
    }

    @Override
    public void runApart(Runnable task) {
        apart.start(task);
    }

    private void work(int worker) {
        boolean goesOn = true;
        while (goesOn) {
            try {
                Runnable task = take(worker);
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

    private Runnable take(int worker) {
        boolean isSealing = worker == count;
        lock.lock();
        try {
            if (!isSealing) {
                turns.ends(worker);
            }
            while (true) {
                Runnable task = isSealing ? nextSealing() : next(worker);
                if (task != null) {
                    return task;
                }
                if (closing) {
                    return null;
                }
                awaitChange(isSealing ? sealing : changed, timers.first(isSealing ? SEALING_LEAST : Priority.IDLE));
            }
        } finally {
            lock.unlock();
        }
    }

    /** What is done now by who seals, or null. */
    private Runnable nextSealing() {
        long now = now();
        Runnable task = null;
        for (int i = 0; task == null && i < SEALING.length; i++) {
            task = poll(SEALING[i], now);
        }
        return task;
    }

    /** What is done now by one who serves all priorities, or null. */
    private Runnable next(int worker) {
        long now = now();
        Runnable task = late(now);
        Priority[] order = turns.order();
        for (int i = 0; task == null && i < order.length; i++) {
            task = poll(order[i], now);
            if (task != null) {
                turns.begins(worker, order[i]);
            }
        }
        return task;
    }

    private Runnable late(long now) {
        Runnable task = wasLate ? null : timers.pollDue(Priority.IDLE, now - LATE_NANOS);
        wasLate = task != null;
        return task;
    }

    @Override
    public boolean isAnyWaiting() {
        lock.lock();
        try {
            return !queues.get(Priority.SEAL).isEmpty()
                    || !queues.get(Priority.CHECKPOINT).isEmpty()
                    || !queues.get(Priority.COMPACT).isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private Runnable poll(Priority priority, long now) {
        Runnable task = queues.get(priority).poll();
        return task != null ? task : timers.pollDue(priority, now);
    }

    /** Waits for a task or for the end of a timer; null for none. */
    private void awaitChange(Condition change, RunningTimers.Entry timer) {
        if (timer == null) {
            change.awaitUninterruptibly();
            return;
        }
        try {
            change.awaitNanos(timer.dueNanos() - now());
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
            timers.clear();
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
