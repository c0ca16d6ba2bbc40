package dev.heartwood.testkit;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Workers without threads: a task runs when the driver of a test, or a call that waits for one, says so, and the seed decides
 * which. One thread at a time.
 */
public final class SteppedWorkers implements Workers {
    private record Task(Priority priority, Runnable action) {}

    /** Tasks that run, on average, before the time of those comes that were to run later. */
    private static final int DELAY_TASKS = 32;

    private final SplittableRandom random;
    private final int count;
    private final List<Task> queued = new ArrayList<>();
    private final List<Task> delayed = new ArrayList<>();
    private boolean timeHeld;
    /** Checkpoints that are held, or null where none are. */
    private List<Task> checkpointsHeld;
    private boolean closed;

    /** As many workers as {@code count} says to the engine; the order of tasks follows from the seed. */
    public SteppedWorkers(long seed, int count) {
        this.random = new SplittableRandom(seed);
        this.count = count;
    }

    @Override
    public void submit(Priority priority, Runnable task) {
        if (!closed) {
            boolean isHeld = checkpointsHeld != null && priority == Priority.CHECKPOINT;
            (isHeld ? checkpointsHeld : queued).add(new Task(priority, task));
        }
    }

    /** The task may run as soon as any other has, but nobody waits for it. */
    @Override
    public Timer timer(Priority priority, Runnable task) {
        return delayNanos -> {
            if (!closed) {
                delayed.add(new Task(priority, task));
            }
        };
    }

    /** Lets the time of all tasks come that were to run later. */
    public void passTime() {
        queued.addAll(delayed);
        delayed.clear();
    }

    /** From now on time passes by {@link #passTime} alone, however many tasks are run meanwhile. */
    public void holdTime() {
        timeHeld = true;
    }

    @Override
    public boolean isAnyWaiting() {
        return !queued.isEmpty();
    }

    /** From now on no checkpoint is begun, as where a worker comes late to it, until they are {@link #letCheckpointsGo let go}. */
    public void holdCheckpoints() {
        checkpointsHeld = new ArrayList<>();
    }

    public void letCheckpointsGo() {
        queued.addAll(checkpointsHeld);
        checkpointsHeld = null;
    }

    /** Tasks that wait to be run. */
    public int queued() {
        return queued.size();
    }

    /** Runs a queued task: mostly one of the most urgent, sometimes any. */
    @Override
    public boolean runOneHere() {
        if (queued.isEmpty()) {
            return false;
        }
        if (!timeHeld && !delayed.isEmpty() && random.nextInt(DELAY_TASKS) == 0) {
            passTime();
        }
        int chosen = random.nextInt(queued.size());
        if (random.nextInt(4) > 0) {
            for (int i = 0; i < queued.size(); i++) {
                if (queued.get(i).priority.compareTo(queued.get(chosen).priority) < 0) {
                    chosen = i;
                }
            }
        }
        queued.remove(chosen).action.run();
        return true;
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public void close() {
        while (runOneHere()) {
            // Everything queued is run, as the engine's own workers do.
        }
        closed = true;
    }
}
