package dev.heartwood.engine.store;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Asks for a checkpoint once a store has come to rest after merges: the last checkpoint still refers to what they have replaced, so
 * that its space could not be used again before the next one, which without writes might never come. Thread-safe.
 */
final class QuietCheckpoint {
    /*
     * One look is scheduled at a time, from the first merge after a checkpoint on. A look that finds that something was done since the
     * one before schedules the next. The flag is cleared before merges are counted: who merges counts first and then looks at the flag.
     */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Workers workers;
    private final LongSupplier activity;
    private final Runnable checkpoint;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final AtomicInteger merges = new AtomicInteger();
    /** Belongs to the look. */
    private long seen = -1;

    private volatile boolean closed;

    /**
     * @param activity a count that grows while the store has something to do
     * @param checkpoint asks for a checkpoint
     */
    QuietCheckpoint(Workers workers, LongSupplier activity, Runnable checkpoint) {
        this.workers = workers;
        this.activity = activity;
        this.checkpoint = checkpoint;
    }

    /** A merge has ended. */
    void merged() {
        merges.incrementAndGet();
        if (!closed && scheduled.compareAndSet(false, true)) {
            workers.submitLater(Priority.CHECKPOINT, QUIET_NANOS, this::look);
        }
    }

    /** A checkpoint begins, which will refer to nothing that was replaced before. */
    void checkpointing() {
        merges.set(0);
    }

    private void look() {
        long now = activity.getAsLong();
        if (closed) {
            return;
        }
        if (now != seen) {
            seen = now;
            workers.submitLater(Priority.CHECKPOINT, QUIET_NANOS, this::look);
            return;
        }
        scheduled.set(false);
        if (merges.get() > 0) {
            checkpoint.run();
        }
    }

    /** Asks for nothing any more. */
    void close() {
        closed = true;
    }
}
