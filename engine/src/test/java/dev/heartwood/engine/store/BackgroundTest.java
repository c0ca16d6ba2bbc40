package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.PackedMemtables;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.merge.Compactions;
import dev.heartwood.engine.merge.SmallTree;
import dev.heartwood.engine.node.MergeAdmission;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Whoever waits for merges must not find nothing under way between one and the next: a put was refused for want of space that they would have freed. */
class BackgroundTest {
    private static final int ROUNDS = 12;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private int looks;
    private int looksInBetween;

    @Test
    void somethingIsUnderWayAsLongAsMergesAreNeeded() {
        try (SmallTree tree = new SmallTree();
                EngineEnvironment environment = environment()) {
            Compactions compactions = tree.compactions();
            Background background = background(tree, environment);
            background.start(new Looking(compactions, background));
            for (int round = 0; round < ROUNDS; round++) {
                tree.write(200);
            }
            background.policyChanged();
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }
            assertTrue(compactions.finished() > 1, compactions.finished() + " merges");
            assertTrue(looks > 1, looks + " looks");
            assertEquals(0, looksInBetween);
            assertFalse(background.isBusy());
        }
    }

    /** Beside writers a settling may have no end; its turn went on for as long, and who waited for one never had it. */
    @Test
    void aTurnOfASettlingEndsWhileMergesAreUnderWay() {
        try (SmallTree tree = new SmallTree();
                EngineEnvironment environment = environment()) {
            Compactions compactions = tree.compactions();
            Background background = background(tree, environment);
            boolean[] isWriting = {true};
            background.start(new Looking(compactions, background) {
                @Override
                public void signalRoom() {
                    if (isWriting[0]) {
                        // After each merge there is something to merge again.
                        tree.write(200);
                        background.policyChanged();
                        isWriting[0] = compactions.finished() < 10 * ROUNDS;
                    }
                }
            });
            tree.write(200);
            int[] turns = new int[1];
            background.settle(new Background.Turns() {
                private boolean isWaiting = true;

                @Override
                public boolean isOver() {
                    return isWaiting && compactions.finished() > ROUNDS;
                }

                @Override
                public void next() {
                    assertTrue(isWriting[0] && background.isBusy(), "the turn went on until all was settled");
                    isWaiting = false;
                    turns[0]++;
                }
            });
            assertEquals(1, turns[0]);
            assertTrue(compactions.finished() >= 10 * ROUNDS, "the next turn goes on: " + compactions.finished() + " merges");
            assertFalse(background.isBusy() || compactions.isWanted());
        }
    }

    private EngineEnvironment environment() {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> new QueuedWorkers(tasks), Clock.SYSTEM, Randomness.SYSTEM, 1));
    }

    private static Background background(SmallTree tree, EngineEnvironment environment) {
        return new Background(
                environment.epochs(),
                environment.workers(),
                new Generations(new Generation(1, null, null)),
                null,
                tree.compactions(),
                new MergeAdmission(tree.pool()),
                new FailStop(),
                null,
                1);
    }

    /** Looks each time that it is told of a change. */
    private class Looking implements Background.Steps {
        private final Compactions compactions;
        private final Background background;

        Looking(Compactions compactions, Background background) {
            this.compactions = compactions;
            this.background = background;
        }

        @Override
        public void signalRoom() {
            looks++;
            looksInBetween += compactions.isNeeded() && !background.isBusy() ? 1 : 0;
        }

        @Override
        public void checkpoint() {}

        @Override
        public boolean isCheckpointed() {
            return true;
        }

        @Override
        public long checkpoints() {
            return 0;
        }

        @Override
        public boolean canReplay(PackedMemtables packed) {
            return true;
        }

        @Override
        public double memtableShare(boolean isFirst) {
            return 0;
        }
    }
}
