package dev.heartwood.engine.background;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.merge.SmallTree;
import dev.heartwood.engine.node.MergeAdmission;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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

    /** Writers have memtables sealed as fast as they are packed, and so a worker that went on as long as there was one never did anything else. */
    @Test
    void whoPacksLeavesOthersTheirTurnBetweenMemtables() {
        List<Long> done = new ArrayList<>();
        try (SmallTree tree = new SmallTree()) {
            Generations generations = new Generations(memtable(tree, 1));
            MemtablePacking packing = new MemtablePacking(
                    new Epochs(),
                    tasks,
                    generations,
                    tree.packer(),
                    new MergeAdmission(tree.pool()),
                    new FailStop(),
                    () -> false,
                    packed -> done.add(generations.newestFirst()[generations.sealedCount()].number()));
            for (long number = 2; number <= 5; number++) {
                generations.add(memtable(tree, number));
            }
            packing.packSoon();
            queue.add(() -> done.add(0L));
            while (!queue.isEmpty()) {
                queue.remove().run();
                assertEquals(!queue.isEmpty(), isAnyUnderWay());
            }
            assertEquals(List.of(2L, 0L, 3L, 4L, 5L), done, "alone, it goes on");
            generations.active().release();
        }
    }

    private static Generation memtable(SmallTree tree, long number) {
        Memtable memtable = new Memtable(tree.pool(), new SortArrays(), number, 1, 4096);
        SpacePromise.Space space = new SpacePromise.Space(tree.extents(), () -> 0, () -> 0, () -> 4096);
        return new Generation(number, memtable, new SpacePromise(space, memtable));
    }

    private static void seal(Generations generations, long number) {
        generations.add(new Generation(number, null, null));
    }

    private boolean isAnyUnderWay() {
        return tasks.isAnyUnderWay(() -> false);
    }
}
