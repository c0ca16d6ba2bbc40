package dev.heartwood.planted;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Workers without threads: tasks are run by who waits for them. What is to be done later never is. */
final class QueuedTasks implements Workers {
    private final Queue<Runnable> queued = new ConcurrentLinkedQueue<>();
    private final Runnable whenNone;

    /** @param whenNone is called by who looks for a task and finds none */
    QueuedTasks(Runnable whenNone) {
        this.whenNone = whenNone;
    }

    @Override
    public void submit(Priority priority, Runnable task) {
        queued.add(task);
    }

    @Override
    public Timer timer(Priority priority, Runnable task) {
        return delayNanos -> {};
    }

    @Override
    public boolean runOneHere() {
        Runnable task = queued.poll();
        if (task == null) {
            whenNone.run();
            return false;
        }
        task.run();
        return true;
    }

    @Override
    public int count() {
        return 1;
    }

    @Override
    public void close() {
        while (runOneHere()) {}
    }
}
