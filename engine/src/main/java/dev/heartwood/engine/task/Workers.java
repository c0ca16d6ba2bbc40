package dev.heartwood.engine.task;

/** Runs tasks in the background. Thread-safe. */
public interface Workers extends AutoCloseable {
    /** Runs {@code task} on some worker, sooner the higher its priority. Ignored after {@link #close}. */
    void submit(Priority priority, Runnable task);

    /** A timer for a task that is to be run later, which it is as by {@link #submit}; it ends at {@link #close}. */
    Timer timer(Priority priority, Runnable task);

    /**
     * Runs a task that may take as long as it likes, or wait for tasks of the workers, as code of the user's does: not on a worker, where
     * the workers have threads. Ignored after {@link #close}.
     */
    default void runApart(Runnable task) {
        submit(Priority.IDLE, task);
    }

    /**
     * Lets a thread that waits for a task run a queued one itself, where the workers have no threads of their own; returns whether
     * it ran one.
     */
    default boolean runOneHere() {
        return false;
    }

    /**
     * Whether tasks wait for a worker, but those of the lowest priority: a task that has more and more to do ends, and submits the rest as another,
     * so that these have a turn.
     */
    default boolean isAnyWaiting() {
        return false;
    }

    /** The number of workers for tasks of every priority. */
    int count();

    /** Runs what is queued, and waits for what runs apart, then ends the workers. Idempotent. */
    @Override
    void close();
}
