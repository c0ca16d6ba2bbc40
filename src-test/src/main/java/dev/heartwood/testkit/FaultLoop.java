package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History.Moment;
import java.nio.file.Path;
import java.util.NavigableMap;
import java.util.SplittableRandom;

/**
 * One history, in two parts with a kill in between, of which one is carried out again and again with the first, the second, the third operation of a kind failing, until a run passes
 * untouched. Whatever failed: only exceptions of the store come out, reads go on and are right, nothing of the environment is left
 * behind, and what was acknowledged is there when the store is opened again, with and without a loss of power in between.
 * Everything runs in {@link SteppedEnvironment}s.
 */
public final class FaultLoop {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final int CALLERS = 2;
    private static final int STEPS = 90;
    private static final int FIRST_STEPS = 50;

    /** Which part of the history meets the fault. */
    public enum Part {
        /** From an empty disk. */
        FIRST,
        /** From what the first part left when its process was killed: a tree, and a log to replay. */
        SECOND
    }

    private final long seed;
    private final StoreOptions options;
    private final SteppedCallers callers;
    private final SimulatedMachine killed;
    private long runs;

    /** A loop over the history of a seed; the callers are lent. */
    public FaultLoop(long seed, StoreOptions options, SteppedCallers callers) {
        this.seed = seed;
        this.options = options;
        this.callers = callers;
        SimulatedMachine machine = new SimulatedMachine(seed);
        History history = newHistory();
        SteppedEnvironment environment = new SteppedEnvironment(seed, OptionMatrix.environment(options), machine);
        killed = drive(environment, machine, history, FIRST_STEPS, GoingOn.UNTOUCHED, () -> {}).image();
        callers.call(0, () -> {
            environment.close();
            return null;
        });
    }

    private History newHistory() {
        return new History(seed, STEPS, History.Sizes.LARGE, Durability.SYNC, Durability.BUFFERED);
    }

    /** Runs so far. */
    public long runs() {
        return runs;
    }

    /** Fails every operation of a kind, or of all kinds when it is null, each alone. */
    public void run(Part part, OperationKind kind, Errno errno, Duration duration) {
        long nth = 1;
        while (runOne(part, kind, nth, errno, duration)) {
            nth++;
        }
    }

    /** Runs a part of the history with one fault; returns whether it struck. */
    public boolean runOne(Part part, OperationKind kind, long nth, Errno errno, Duration duration) {
        runs++;
        try {
            return attempt(part, kind, nth, errno, duration);
        } catch (Throwable failure) {
            throw new AssertionError(
                    "with " + (kind == null ? "operation" : kind) + " number " + nth + " failing with " + errno + " " + duration
                            + " in the " + part + " part: " + failure,
                    failure);
        }
    }

    /** A fault of something else than the storage. */
    public interface OtherFault {
        /** Makes the {@code nth} use from now on fail, and with {@code FOR_GOOD} every later one. */
        void arm(long nth, Duration duration);

        /** Lets nothing fail any more; returns whether anything has failed since it was armed. */
        boolean heal();
    }

    /** Runs a part of the history with every single use of something failing, until a run passes untouched. */
    public void run(Part part, OtherFault fault, Duration duration) {
        boolean struck = true;
        for (long nth = 1; struck; nth += 1 + nth / 40) {
            runs++;
            try {
                SimulatedMachine machine = machine(part);
                fault.arm(nth, duration);
                GoingOn goingOn = duration == Duration.ONCE ? GoingOn.AFTER_REFUSALS : GoingOn.UNTIL_REFUSED;
                boolean[] healed = new boolean[1];
                attempt(part, machine, nth, goingOn, () -> healed[0] |= fault.heal());
                struck = healed[0];
            } catch (Throwable failure) {
                fault.heal();
                throw new AssertionError(
                        "with use number " + nth + " failing " + duration + " in the " + part + " part: " + failure, failure);
            }
        }
    }

    private SimulatedMachine machine(Part part) {
        return part == Part.FIRST
                ? new SimulatedMachine(seed)
                : killed.crash(CrashKind.KILL, new SplittableRandom(seed));
    }

    private boolean attempt(Part part, OperationKind kind, long nth, Errno errno, Duration duration) {
        SimulatedMachine machine = machine(part);
        if (kind == null) {
            machine.faults().failAny(nth, errno, duration);
        } else {
            machine.faults().fail(kind, nth, errno, duration);
        }
        GoingOn goingOn = kind == OperationKind.READ
                ? GoingOn.UNTOUCHED
                : errno == Errno.ENOSPC && duration == Duration.ONCE ? GoingOn.AFTER_REFUSALS : GoingOn.UNTIL_REFUSED;
        attempt(part, machine, nth, goingOn, machine.faults()::heal);
        return machine.faults().injected() > 0;
    }

    private void attempt(Part part, SimulatedMachine machine, long nth, GoingOn goingOn, Runnable heal) {
        History history = newHistory();
        if (part == Part.SECOND) {
            history.resumeAt(FIRST_STEPS);
        }
        int regions = MemoryRegions.count();
        SteppedEnvironment environment;
        try {
            environment = new SteppedEnvironment(seed, OptionMatrix.environment(options), machine);
        } catch (InsufficientMemoryException refused) {
            heal.run();
            check(MemoryRegions.count() == regions, "a refused environment leaves memory behind");
            return;
        }
        int until = part == Part.FIRST ? FIRST_STEPS : STEPS;
        Moment moment = drive(environment, machine, history, until, goingOn, heal).moment();
        callers.call(0, () -> {
            closeQuietly(environment);
            return null;
        });
        heal.run();
        check(MemoryRegions.count() == regions, "memory is left behind: " + (MemoryRegions.count() - regions) + " regions");
        judge(machine.crash(CrashKind.KILL, new SplittableRandom(nth)), CrashKind.KILL, history, moment);
        judge(machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(nth)), CrashKind.POWER_LOSS, history, moment);
    }

    /** What a failure may do to writes. */
    private enum GoingOn {
        /** Nothing. */
        UNTOUCHED,
        /** Some are refused for want of space, and succeed when they are tried again. */
        AFTER_REFUSALS,
        /** The first that is refused is the last. */
        UNTIL_REFUSED
    }

    /** How far a history came, and the disk before the store was closed. */
    private record Driven(Moment moment, SimulatedMachine image) {}

    /** Takes steps until a write fails. */
    private Driven drive(
            SteppedEnvironment environment, SimulatedMachine machine, History history, int until, GoingOn goingOn, Runnable heal) {
        SplittableRandom random = new SplittableRandom(seed);
        KeyValueStore[] store = new KeyValueStore[1];
        boolean failed = false;
        try {
            store[0] = callers.call(0, () -> environment.open(DIRECTORY, options));
        } catch (StoreException refused) {
            return new Driven(new Moment(history.acknowledged(), history.begun()), machine);
        }
        while (!failed && history.begun() < until) {
            failed = callers.call(random.nextInt(CALLERS), () -> {
                try {
                    history.advance(store[0]);
                    if (history.begun() % 25 == 0) {
                        store[0].checkpoint();
                    }
                } catch (StoreException refused) {
                    boolean full = refused instanceof NoSpaceException || refused instanceof InsufficientMemoryException;
                    check(
                            goingOn == GoingOn.UNTIL_REFUSED || goingOn == GoingOn.AFTER_REFUSALS && full,
                            "a write was refused: " + refused);
                    if (goingOn == GoingOn.AFTER_REFUSALS) {
                        if (history.begun() > history.acknowledged()) {
                            history.takeBack();
                        }
                        return false;
                    }
                    return true;
                } finally {
                    environment.step();
                }
                readSome(store[0], history, machine, goingOn);
                return false;
            });
        }
        Moment moment = new Moment(history.acknowledged(), history.begun());
        if (failed) {
            heal.run();
            callers.call(0, () -> {
                String complaint = history.explain(CrashKind.KILL, moment, store[0]);
                check(complaint == null, "after the failure " + complaint);
                return null;
            });
        }
        return callers.call(0, () -> {
            SimulatedMachine image = machine.crash(CrashKind.KILL, random);
            closeQuietly(store[0]);
            return new Driven(moment, image);
        });
    }

    /** Reads are right or fail. */
    private static void readSome(KeyValueStore store, History history, SimulatedMachine machine, GoingOn goingOn) {
        NavigableMap<byte[], byte[]> expected = history.state();
        SplittableRandom random = new SplittableRandom(history.begun());
        for (int i = 0; i < 3; i++) {
            byte[] key = History.key(random);
            long injected = machine.faults().injected();
            try {
                DifferentialRun.expectValue(key, expected.get(key), store.get(key), "get");
            } catch (StoreException refused) {
                boolean memory = refused instanceof InsufficientMemoryException && goingOn != GoingOn.UNTOUCHED;
                check(memory || machine.faults().injected() > injected, "a read failed although the device did not: " + refused);
            }
        }
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (StoreException refused) {
            // What it could not write is in the log, or was never promised.
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private void judge(SimulatedMachine next, CrashKind kind, History history, Moment moment) {
        callers.call(0, () -> {
            try (SteppedEnvironment environment =
                            new SteppedEnvironment(seed, OptionMatrix.environment(options), next);
                    KeyValueStore store = environment.open(DIRECTORY, options)) {
                String complaint = history.explain(kind, moment, store);
                check(complaint == null, complaint);
                store.put(new byte[] {1}, new byte[] {1}, Durability.SYNC);
            }
            SimulatedStoreHost.verify(next);
            return null;
        });
    }

    private static void check(boolean holds, String complaint) {
        DifferentialRun.check(holds, () -> complaint);
    }
}
