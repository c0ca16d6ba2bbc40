package dev.heartwood.testkit;

import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Every sequence of a few {@link Act}s, crashed before every operation on the storage, in every way that few unsynced sectors allow
 * and in some of the ways that many do; the image is opened, compared with the model, verified, and crashed again while it
 * recovers. Everything runs in {@link SteppedEnvironment}s. One thread.
 */
public final class ExhaustiveCrashes implements AutoCloseable {

    /** Acts are taken by these in turn, so that their records lie in different lanes of the log. */
    private static final int CALLERS = 2;

    /**
     * How much is tried where not everything can be.
     *
     * @param subsetsOfMax with at most so many undecided items every subset of them is tried
     * @param samples ways of losing many undecided items
     * @param depth crashes on top of each other: 1 is the history itself, 2 also its recoveries, and so on
     * @param recoveriesPerCrash of so many recoveries one is crashed
     * @param imagesPerVerification of so many images one is verified as a whole
     */
    public record Thoroughness(
            int subsetsOfMax, int samples, int depth, int recoveriesPerCrash, int imagesPerVerification) {}

    /** An image of the disk, and how much of the sequence it has to show. */
    private record Image(SimulatedMachine machine, CrashKind kind, int returned, int begun) {}

    private final StoreOptions options;
    private final Thoroughness thoroughness;
    private final SplittableRandom random;
    private final SteppedCallers callers = new SteppedCallers(CALLERS);
    private final SteppedEnvironment environment;
    private final Set<List<Object>> seen = new HashSet<>();
    private SimulatedMachine machine;
    private List<Act> acts = List.of();
    private int begun;
    private int returned;
    private long images;

    /** A campaign whose samples follow from the seed. */
    public ExhaustiveCrashes(long seed, StoreOptions options, Thoroughness thoroughness) {
        this.options = options;
        this.thoroughness = thoroughness;
        random = new SplittableRandom(seed);
        environment = new SteppedEnvironment(
                seed, OptionMatrix.environment(options), path -> machine.storage(path));
    }

    /** Images checked so far, each different from all others. */
    public long images() {
        return images;
    }

    /** Tries all sequences of exactly so many acts. */
    public void runAll(int length) {
        int count = Act.values().length;
        for (int number = 0; number < Math.pow(count, length); number++) {
            List<Act> sequence = new ArrayList<>();
            for (int i = 0, rest = number; i < length; i++, rest /= count) {
                sequence.add(Act.values()[rest % count]);
            }
            run(sequence);
        }
    }

    /**
     * Tries one sequence. Images are taken during its last act and while it is closed; during its other acts they are those of the
     * shorter sequence. Of the empty sequence they are taken while the store is made.
     */
    public void run(List<Act> sequence) {
        machine = new SimulatedMachine(1);
        acts = sequence;
        begun = 0;
        returned = 0;
        List<Image> taken = new ArrayList<>();
        OperationListener listener = (kind, ordinal, path) -> takeAll(machine, taken);
        if (sequence.isEmpty()) {
            machine.faults().listen(listener);
        }
        KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
        for (Act act : sequence) {
            begun++;
            if (begun == sequence.size()) {
                machine.faults().listen(listener);
            }
            callers.call(begun % CALLERS, () -> {
                act.perform(store, begun);
                returned++;
                environment.step();
                return null;
            });
        }
        machine.locked(() -> takeAll(machine, taken));
        callers.call(0, () -> {
            store.close();
            environment.finish();
            taken.forEach(image -> check(image, 1));
            return null;
        });
    }

    /** Every image that a crash now can leave. */
    private Void takeAll(SimulatedMachine from, List<Image> to) {
        take(from.crash(CrashKind.KILL, random.split()), CrashKind.KILL, to);
        int undecided = from.undecided();
        if (undecided <= thoroughness.subsetsOfMax) {
            for (long subset = 0; subset < 1L << undecided; subset++) {
                take(from.powerLoss(BitSet.valueOf(new long[] {subset}), new BitSet()), CrashKind.POWER_LOSS, to);
            }
            return null;
        }
        take(from.powerLoss(new BitSet(), new BitSet()), CrashKind.POWER_LOSS, to);
        // The system has restarted and nothing is lost: what differs from a kill is what may be believed of the log.
        BitSet all = new BitSet();
        all.set(0, undecided);
        take(from.powerLoss(all, new BitSet()), CrashKind.POWER_LOSS, to);
        for (int i = 0; i < thoroughness.samples; i++) {
            double keptShare = random.nextDouble();
            double tornShare = i % 2 == 0 ? random.nextDouble() : 0;
            BitSet kept = new BitSet();
            BitSet torn = new BitSet();
            for (int item = 0; item < undecided; item++) {
                kept.set(item, random.nextDouble() < keptShare);
                torn.set(item, random.nextDouble() < tornShare);
            }
            take(from.powerLoss(kept, torn), CrashKind.POWER_LOSS, to);
        }
        return null;
    }

    private void take(SimulatedMachine crashed, CrashKind kind, List<Image> to) {
        if (seen.add(List.of(crashed.fingerprint(), kind, acts.subList(0, begun), returned))) {
            to.add(new Image(crashed, kind, returned, begun));
        }
    }

    private void check(Image image, int level) {
        images++;
        machine = image.machine;
        begun = image.begun;
        returned = image.returned;
        Model model = model(image);
        List<Image> again = new ArrayList<>();
        if (level < thoroughness.depth && random.nextInt(thoroughness.recoveriesPerCrash) == 0) {
            image.machine.faults().listen((kind, ordinal, path) -> {
                // What was synced before the first crash has to survive the second, however that one comes.
                if (random.nextInt(level * 8) == 0) {
                    CrashKind then = CrashKind.random(random);
                    SimulatedMachine next = image.machine.crash(then, random.split());
                    again.add(new Image(next, image.kind.then(then), image.returned, image.begun));
                }
            });
        }
        try {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, options);
            image.machine.faults().listen(null);
            NavigableMap<byte[], byte[]> found = History.contents(store);
            store.close();
            environment.finish();
            String complaint = model.explain(image.kind, found);
            if (complaint != null) {
                throw new AssertionError(complaint);
            }
            if (images % thoroughness.imagesPerVerification == 0) {
                SimulatedStoreHost.verify(image.machine);
            }
        } catch (Throwable failure) {
            throw new AssertionError(
                    failure.getMessage() + "\nafter " + acts.subList(0, image.begun) + ", of which " + image.returned
                            + " had returned, crash " + level + " being a " + image.kind,
                    failure);
        }
        again.forEach(next -> check(next, level + 1));
    }

    private Model model(Image image) {
        Model model = new Model(new TailMergeOperator());
        for (int i = 0; i < image.begun; i++) {
            acts.get(i).tell(model, i + 1, i < image.returned);
        }
        return model;
    }

    @Override
    public void close() {
        environment.close();
        callers.close();
    }
}
