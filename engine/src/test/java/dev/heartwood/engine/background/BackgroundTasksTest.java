package dev.heartwood.engine.background;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.merge.SmallTree;
import dev.heartwood.engine.node.MergeAdmission;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Whoever looks whether anything is under way finds nothing only once all that was begun has ended, with all that it led to. */
class BackgroundTasksTest {
    private final Queue<Runnable> queue = new ArrayDeque<>();
    private final BackgroundTasks tasks = new BackgroundTasks(new QueuedWorkers(queue), new FailStop());

    @Test
    void tasksCountUntilTheyHaveEnded() {
        AtomicBoolean flag = new AtomicBoolean();
        assertFalse(isAnyUnderWay());
        assertTrue(tasks.begin());
        assertTrue(tasks.announce(flag));
        assertFalse(tasks.announce(flag), "one at a time");
        tasks.ended();
        assertTrue(isAnyUnderWay());
        flag.set(false);
        tasks.ended();
        assertFalse(isAnyUnderWay());
    }

    @Test
    void noTaskBeginsOnceTheStoreCloses() {
        AtomicBoolean flag = new AtomicBoolean();
        tasks.close();
        assertFalse(tasks.begin());
        assertFalse(tasks.announce(flag));
        assertFalse(flag.get());
        assertFalse(isAnyUnderWay());
    }

    /** Who looked first whether something waits, and then whether any task is under way, found neither. */
    @Test
    void aTaskThatComesToWaitBetweenTwoLooksIsSeen() {
        AtomicBoolean waits = new AtomicBoolean();
        assertTrue(tasks.isAnyUnderWay(() -> {
            if (waits.get()) {
                return true;
            }
            tasks.begin();
            waits.set(true);
            tasks.ended();
            return false;
        }));
    }

    /** A memtable that is sealed when packing has looked for the last time is packed by nobody else: who seals it finds packing under way. */
    @Test
    void whatIsSealedWhilePackingEndsIsPackedBeforeNothingIsUnderWay() {
        try (SmallTree tree = new SmallTree()) {
            Generations generations = new Generations(new Generation(1, null, null));
            Epochs epochs = new Epochs();
            MergeAdmission admission = new MergeAdmission(tree.pool());
            MemtablePacking packing = new MemtablePacking(
                    epochs, tasks, generations, null, admission, new FailStop(), () -> false, packed -> {});
            int[] looks = new int[2];
            tasks.whenChanged(() -> {
                looks[0]++;
                looks[1] += generations.oldestSealed() != null && !isAnyUnderWay() ? 1 : 0;
            });
            seal(generations, 2);
            assertTrue(admission.admitPacking(true, () -> {}), "somebody else packs alone");
            packing.packSoon();
            queue.remove().run();
            admission.releasePacking();
            // It is packed already when its turn comes, and the next is sealed when the admission is given back.
            generations.removeOldest(generations.oldestSealed(), epochs);
            assertFalse(admission.admitPacking(true, () -> {
                admission.releasePacking();
                seal(generations, 3);
                packing.packSoon();
            }));
            queue.remove().run();
            assertEquals(2, generations.newestFirst().length);
            assertEquals(1, looks[0]);
            assertEquals(0, looks[1]);
            assertEquals(1, queue.size(), "the next one is to be packed");
            assertTrue(isAnyUnderWay());
        }
    }

    private static void seal(Generations generations, long number) {
        generations.add(new Generation(number, null, null));
    }

    private boolean isAnyUnderWay() {
        return tasks.isAnyUnderWay(() -> false);
    }
}
