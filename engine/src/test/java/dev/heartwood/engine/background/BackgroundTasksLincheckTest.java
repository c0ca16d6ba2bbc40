package dev.heartwood.engine.background;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/**
 * A task that ends may leave what comes next to who is about to begin that already: nobody finds nothing under way before that one has ended,
 * in any interleaving.
 */
public class BackgroundTasksLincheckTest {
    private final BackgroundTasks tasks = new BackgroundTasks(new QueuedWorkers(new ArrayDeque<>()), new FailStop());
    private final AtomicBoolean flag = new AtomicBoolean();
    private volatile int ends;

    /** Somebody who does not count begins a task of which there is one at a time, which ends. */
    @Operation
    public void announceAndEnd() {
        if (tasks.announce(flag)) {
            flag.set(false);
            ends++;
            tasks.ended();
        }
    }

    /** A task would begin that one, and ends; whoever was there before it has not when nothing is found under way. */
    @Operation
    public boolean isAnyForgotten() {
        int before = ends;
        tasks.begin();
        boolean isLeftToAnother = !tasks.announce(flag);
        if (!isLeftToAnother) {
            flag.set(false);
            tasks.ended();
        }
        tasks.ended();
        return isLeftToAnother && !tasks.isAnyUnderWay(() -> false) && ends == before;
    }

    @Test
    void modelChecking() {
        new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(1)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(8)
                .invocationsPerIteration(500)
                .check(getClass());
    }
}
