package dev.heartwood.engine.task;

/** Runs a task of its own once some time has passed, each time that it is started. Thread-safe. */
public interface Timer {
    /**
     * Runs the task on some worker when {@code delayNanos} have passed. Ignored while the timer runs since it was started before, and once the
     * workers are closed. Takes nothing of the Java heap, which may be full.
     */
    void start(long delayNanos);
}
