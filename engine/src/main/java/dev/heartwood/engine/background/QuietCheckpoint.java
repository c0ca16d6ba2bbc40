package dev.heartwood.engine.background;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Asks for a checkpoint once a store has come to rest after merges, or after a range was discarded: the last checkpoint still refers to what is replaced, so
 * that its space could not be used again before the next one, which without writes might never come. Thread-safe.
 */
public final class QuietCheckpoint {
    /*
     * A merge schedules a look, unless one is scheduled. A look that finds that something was done since the one before schedules the
     * next, and so does one that finds a checkpoint under way, which may have begun before. The flag is cleared before the activity is
     * counted: who merges is counted first and then looks at the flag. A checkpoint of what is durable already does nothing.
     */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Timer timer;
    private final LongSupplier activity;
    private final BooleanSupplier checkpoint;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile long seen = -1;
    private volatile boolean closed;

    /**
     * @param activity a count that grows while the store has something to do
     * @param checkpoint asks for a checkpoint; says whether it will begin, and not another one is under way
     */
    QuietCheckpoint(Workers workers, LongSupplier activity, BooleanSupplier checkpoint) {
        this.timer = workers.timer(Priority.CHECKPOINT, this::look);
        this.activity = activity;
        this.checkpoint = checkpoint;
    }

    /** Looks later whether the store has come to rest; called after each merge and each discard. */
    void lookLater() {
        if (!closed && scheduled.compareAndSet(false, true)) {
            timer.start(QUIET_NANOS);
        }
    }

    private void look() {
        scheduled.set(false);
        long now = activity.getAsLong();
        if (now != seen || !checkpoint.getAsBoolean()) {
            seen = now;
            lookLater();
        }
    }

    /** Asks for nothing any more. */
    void close() {
        closed = true;
    }
}
