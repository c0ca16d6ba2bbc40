package dev.heartwood.engine.background;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.Queue;

/** Workers that do what is queued when they are told to, and nothing of what waits for its time. One thread. */
public class QueuedWorkers implements Workers {
    private final Queue<Runnable> tasks;

    public QueuedWorkers(Queue<Runnable> tasks) {
        this.tasks = tasks;
    }

    @Override
    public void submit(Priority priority, Runnable task) {
        tasks.add(task);
    }

    @Override
    public Timer timer(Priority priority, Runnable task) {
        return delayNanos -> {};
    }

    @Override
    public final boolean runOneHere() {
        Runnable task = tasks.poll();
        if (task != null) {
            task.run();
        }
        return task != null;
    }

    @Override
    public final boolean isAnyWaiting() {
        return !tasks.isEmpty();
    }

    @Override
    public final int count() {
        return 1;
    }

    @Override
    public final void close() {}
}
