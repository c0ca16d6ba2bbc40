package dev.heartwood.engine.task;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Threads for tasks that no worker should be held up by, one each. Thread-safe. */
final class ThreadsApart {
    private final String name;
    /** Not that of the workers' queues: who starts a thread holds it for as long as the system takes. */
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private final List<Thread> threads = new ArrayList<>();
    private boolean closing;

    ThreadsApart(String name) {
        this.name = name;
    }

    /** Runs a task, unless {@link #close} has begun. */
    void start(Runnable task) {
        lock.lock();
        try {
            if (!closing) {
                Thread thread = new Thread(() -> run(task), name);
                thread.setDaemon(true);
                threads.add(thread);
                try {
                    thread.start();
                } catch (Throwable none) {
                    threads.remove(thread);
                    throw none;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            ThreadWorkers.report(e);
        } finally {
            lock.lock();
            try {
                threads.remove(Thread.currentThread());
            } finally {
                lock.unlock();
            }
        }
    }

    /** Starts no more, and waits for the others; returns whether this thread was interrupted meanwhile. */
    boolean close() {
        boolean interrupted = false;
        for (Thread thread = other(); thread != null; thread = other()) {
            interrupted |= ThreadWorkers.join(thread);
        }
        return interrupted;
    }

    /** A thread that runs a task and is not this one; null when there is none. */
    private Thread other() {
        lock.lock();
        try {
            closing = true;
            for (int i = 0; i < threads.size(); i++) {
                if (threads.get(i) != Thread.currentThread()) {
                    return threads.get(i);
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }
}
