package dev.heartwood.engine.background;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** When a store that has come to rest asks for a checkpoint. */
class QuietCheckpointTest {
    private final Queue<Runnable> later = new ArrayDeque<>();
    private long activity;
    private boolean isUnderWay;
    private int asked;

    private final QuietCheckpoint quiet = new QuietCheckpoint(
            new QueuedWorkers(new ArrayDeque<>()) {
                @Override
                public Timer timer(Priority priority, Runnable task) {
                    return delayNanos -> later.add(task);
                }
            },
            () -> activity,
            () -> {
                asked++;
                return !isUnderWay;
            });

    private void passTime() {
        later.remove().run();
    }

    @Test
    void oneIsAskedForWhenNothingIsDoneAnyMore() {
        quiet.lookLater();
        quiet.lookLater();
        assertEquals(1, later.size());
        passTime();
        activity++;
        passTime();
        assertEquals(0, asked);
        passTime();
        assertEquals(1, asked);
        assertTrue(later.isEmpty());
    }

    /** That may have begun before the last merges; nobody asked for another one, and what they replaced stayed in use. */
    @Test
    void oneIsAskedForAgainWhereAnotherIsUnderWay() {
        quiet.lookLater();
        passTime();
        isUnderWay = true;
        passTime();
        assertEquals(1, asked);
        isUnderWay = false;
        passTime();
        assertEquals(2, asked);
        assertTrue(later.isEmpty());
    }
}
