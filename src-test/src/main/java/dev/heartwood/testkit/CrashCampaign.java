package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.History.Moment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Takes images of the disk before random operations of a store, as a kill or a loss of power would leave it; each is opened,
 * compared with what may be there, verified, and crashed again in the middle of its recovery, in either way, three deep. Immutable.
 */
public final class CrashCampaign {
    private static final int IMAGES = 14;
    private static final int DEPTH = 3;

    /** The store under test. */
    public interface Subject {
        /** Opens the store on a machine; closing it closes everything that was opened. */
        KeyValueStore open(SimulatedMachine machine);

        /** What is done to the store beside the history, before a step of it. */
        default void beforeStep(KeyValueStore store, int step) {}

        /** Checks the closed store on a machine as a whole; throws when something is wrong. */
        void verify(SimulatedMachine machine);
    }

    private record Image(SimulatedMachine machine, CrashKind kind, Moment moment) {}

    private final Subject subject;
    private final int steps;
    private final History history;
    private final SplittableRandom random;

    /** One history of {@code steps} writes and batches, each of one of the levels. */
    public CrashCampaign(Subject subject, long seed, int steps, Durability... levels) {
        this(subject, seed, steps, History.Sizes.USUAL, levels);
    }

    /** As the other constructor, with values of some size. */
    public CrashCampaign(Subject subject, long seed, int steps, History.Sizes sizes, Durability... levels) {
        this.subject = subject;
        this.steps = steps;
        history = new History(seed, steps, sizes, levels);
        random = new SplittableRandom(seed);
    }

    /** Runs the history once and checks every image; returns how many were checked. */
    public int run(CrashKind kind) {
        SimulatedMachine machine = new SimulatedMachine(random.nextLong());
        List<Image> images = new ArrayList<>();
        List<Image> within = new ArrayList<>();
        int[] candidates = new int[1];
        machine.faults().listen((operation, ordinal, path) -> {
            if (candidates[0] == 0 || random.nextInt(60) == 0) {
                // As likely late in the history as early, however many operations there will be.
                int place = candidates[0]++ < IMAGES ? within.size() : random.nextInt(candidates[0]);
                if (place == within.size() && place < IMAGES) {
                    within.add(image(machine, kind));
                } else if (place < IMAGES) {
                    within.set(place, image(machine, kind));
                }
            }
        });
        try (KeyValueStore store = subject.open(machine)) {
            for (int i = 0; i < steps; i++) {
                subject.beforeStep(store, i);
                history.advance(store);
                if (i % Math.max(1, steps / IMAGES) == 0) {
                    machine.locked(() -> images.add(image(machine, kind)));
                }
            }
        }
        machine.faults().listen(null);
        images.addAll(within);
        images.forEach(image -> check(image, DEPTH));
        return images.size();
    }

    /** What had been acknowledged is read before the image is taken, what had begun after it. */
    private Image image(SimulatedMachine machine, CrashKind kind) {
        int acknowledged = history.acknowledged();
        SimulatedMachine crashed = machine.crash(kind, random.split());
        return new Image(crashed, kind, new Moment(acknowledged, history.begun()));
    }

    private void check(Image image, int depth) {
        List<Image> again = new ArrayList<>();
        long chosen = random.nextLong(40);
        image.machine.faults().listen((operation, ordinal, path) -> {
            if (again.isEmpty() && ordinal >= chosen) {
                CrashKind next = CrashKind.random(random);
                SimulatedMachine crashed = image.machine.crash(next, random.split());
                again.add(new Image(crashed, image.kind.then(next), image.moment));
            }
        });
        try (KeyValueStore store = subject.open(image.machine)) {
            image.machine.faults().listen(null);
            String complaint = history.explain(image.kind, image.moment, store);
            if (complaint != null) {
                throw new AssertionError(complaint + " (recovery " + (DEPTH + 1 - depth) + ", " + image.moment + ")");
            }
            store.put(new byte[] {1}, new byte[] {2});
        }
        subject.verify(image.machine);
        if (depth > 1 && !again.isEmpty()) {
            check(again.getFirst(), depth - 1);
        }
    }
}
