package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One step of a random run. Everything else about it follows from its seed, so that any subset of the steps is a run too.
 *
 * @param action what is done
 * @param seed decides the rest
 */
record Operation(Action action, long seed) {
    /** What can be done, with how often it is done. */
    enum Action {
        PUT(300),
        DELETE(80),
        MERGE(80),
        BATCH(40),
        GET(300),
        SNAPSHOT_OPEN(10),
        SNAPSHOT_GET(30),
        SNAPSHOT_SCAN(3),
        SNAPSHOT_CLOSE(9),
        CURSOR_OPEN(10),
        CURSOR_MOVE(40),
        CURSOR_CLOSE(9),
        SCAN(5),
        SYNC(5),
        CHECKPOINT(3),
        SETTLE(1),
        STATS(5),
        REOPEN(2),
        CRASH(2),
        DISCARD(2),
        TUNE(3),
        POLICY(4);

        private final int weight;

        Action(int weight) {
            this.weight = weight;
        }
    }

    /** The run that a seed stands for; a shorter one is a prefix of a longer one. */
    static List<Operation> list(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        int sum = 0;
        for (Action action : Action.values()) {
            sum += action.weight;
        }
        List<Operation> operations = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            operations.add(new Operation(drawn(random.nextInt(sum)), random.nextLong()));
        }
        return operations;
    }

    private static Action drawn(int ticket) {
        int rest = ticket;
        for (Action action : Action.values()) {
            rest -= action.weight;
            if (rest < 0) {
                return action;
            }
        }
        throw new AssertionError("ticket " + ticket);
    }
}
