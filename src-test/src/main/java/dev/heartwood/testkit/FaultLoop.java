package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.History.Moment;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * One history, in two parts with a kill in between, of which one is carried out again and again with the first, the second, the third
 * operation of a kind failing, until a run passes untouched. Whatever failed: only exceptions of the store come out, which name it, reads go
 * on and are right, nothing of the environment is left behind, and what was acknowledged is there when the store is opened again, with
 * and without a loss of power in between, whether it was closed before or not. After a failed write or sync the store takes no more
 * writes, and who closes it is told. Everything runs in {@link SteppedEnvironment}s.
 */
public final class FaultLoop {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final int CALLERS = 2;
    private static final int STEPS = 90;
    private static final int FIRST_STEPS = 50;
    /** Not a divisor of the first steps, after which there has to be something in the log. */
    private static final int CHECKPOINT_STEPS = 20;

    /** Whether what each fault leaves is judged before and after closing, after a kill and after a loss of power, and not two of these in turns. */
    private static final boolean JUDGES_ALL = Boolean.getBoolean("heartwood.thorough");

    /** Which part of the history meets the fault. */
    public enum Part {
        /** From an empty disk. */
        FIRST,
        /** From what the first part left when its process was killed: a tree, and a log to replay. */
        SECOND
    }

    /** What has failed for good wherever it fails: nobody knows what of it is on the medium. */
    private static final Set<OperationKind> FINAL =
            EnumSet.of(OperationKind.WRITE, OperationKind.SYNC, OperationKind.SYNC_MAPPED);

    private final long seed;
    private final StoreOptions options;
    private final int neighbours;
    private final SteppedCallers callers;
    private final SimulatedMachine killed;
    private long runs;
    private long struck;

    /** A loop over the history of a seed; the callers are lent. */
    public FaultLoop(long seed, StoreOptions options, SteppedCallers callers) {
        this(seed, options, 0, callers);
    }

    /** As the other, beside so many stores that take their share of the memory, and whose disk has no faults. */
    public FaultLoop(long seed, StoreOptions options, int neighbours, SteppedCallers callers) {
        this.seed = seed;
        this.options = options;
        this.neighbours = neighbours;
        this.callers = callers;
        SimulatedMachine machine = new SimulatedMachine(seed);
        History history = newHistory();
        SteppedEnvironment environment = newEnvironment(machine);
        killed = drive(environment, machine, history, FIRST_STEPS, new Fault(null, GoingOn.UNTOUCHED, () -> false, () -> {})).image();
        callers.call(0, () -> {
            environment.close();
            return null;
        });
    }

    private SteppedEnvironment newEnvironment(SimulatedMachine machine) {
        SimulatedMachine other = new SimulatedMachine(seed);
        SteppedEnvironment environment = new SteppedEnvironment(
                seed, OptionMatrix.environment(options), path -> (path.equals(DIRECTORY) ? machine : other).storage(path));
        for (int i = 0; i < neighbours; i++) {
            Path path = DIRECTORY.resolveSibling("neighbour-" + i);
            callers.call(0, () -> environment.open(path, options));
        }
        return environment;
    }

    private History newHistory() {
        return new History(seed, STEPS, History.Sizes.LARGE, Durability.SYNC, Durability.BUFFERED);
    }

    /** Runs so far. */
    public long runs() {
        return runs;
    }

    /** Runs in which the fault struck. */
    public long struck() {
        return struck;
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

        /** Whether anything has failed since it was armed. */
        boolean hasStruck();

        /** Lets nothing fail any more; returns whether anything has failed since it was armed. */
        boolean heal();
    }

    /** Runs a part of the history with every single use of something failing, until a run passes untouched. */
    public void run(Part part, OtherFault fault, Duration duration) {
        boolean strikes = true;
        for (long nth = 1; strikes; nth += 1 + nth / 40) {
            runs++;
            try {
                SimulatedMachine machine = machine(part);
                fault.arm(nth, duration);
                GoingOn goingOn = duration == Duration.ONCE ? GoingOn.AFTER_REFUSALS : GoingOn.UNTIL_REFUSED;
                boolean[] healed = new boolean[1];
                BooleanSupplier isOver = () -> duration == Duration.ONCE && fault.hasStruck();
                attempt(part, machine, nth, new Fault(null, goingOn, isOver, () -> healed[0] |= fault.heal()));
                strikes = healed[0];
                struck += strikes ? 1 : 0;
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
        BooleanSupplier isOver = () -> duration == Duration.ONCE && machine.faults().injected() > 0;
        attempt(part, machine, nth, new Fault(errno, goingOn, isOver, machine.faults()::heal));
        boolean strikes = machine.faults().injected() > 0;
        struck += strikes ? 1 : 0;
        return strikes;
    }

    private void attempt(Part part, SimulatedMachine machine, long nth, Fault fault) {
        History history = newHistory();
        if (part == Part.SECOND) {
            history.resumeAt(FIRST_STEPS);
        }
        int regions = MemoryRegions.count();
        SteppedEnvironment environment;
        try {
            environment = newEnvironment(machine);
        } catch (InsufficientMemoryException refused) {
            fault.heal.run();
            check(MemoryRegions.count() == regions, "a refused environment leaves memory behind");
            return;
        }
        int until = part == Part.FIRST ? FIRST_STEPS : STEPS;
        Driven driven = drive(environment, machine, history, until, fault);
        callers.call(0, () -> {
            closeQuietly(environment);
            return null;
        });
        fault.heal.run();
        check(MemoryRegions.count() == regions, "memory is left behind: " + (MemoryRegions.count() - regions) + " regions");
        // Before closing, too: its checkpoint makes whole what the log would have had to give back.
        boolean isEven = nth % 2 == 0;
        for (CrashKind kind : CrashKind.values()) {
            boolean isBefore = isEven == (kind == CrashKind.KILL);
            if (JUDGES_ALL || isBefore) {
                judge(driven.image, kind, nth, history, driven.moment, "before closing");
            }
            if (JUDGES_ALL || !isBefore) {
                judge(machine, kind, nth, history, driven.moment, "after closing");
            }
        }
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

    /**
     * What strikes.
     *
     * @param errno what every refusal has to name; null when it is not the device that fails
     * @param isOver whether it has struck, and will not again: one that goes on does so until after the store was closed
     */
    private record Fault(Errno errno, GoingOn goingOn, BooleanSupplier isOver, Runnable heal) {
        /** Checks that what a call ended with says what happened. */
        void requireNamed(StoreException refused) {
            if (errno == null || errno.isNamedBy(refused)) {
                return;
            }
            throw new AssertionError("what was refused does not name " + errno + ": " + refused, refused);
        }
    }

    /** How far a history came, and the disk before the store was closed. */
    private record Driven(Moment moment, SimulatedMachine image) {}

    /** Takes steps until a write fails. */
    private Driven drive(SteppedEnvironment environment, SimulatedMachine machine, History history, int until, Fault fault) {
        SplittableRandom random = new SplittableRandom(seed);
        KeyValueStore[] store = new KeyValueStore[1];
        boolean failed = false;
        try {
            store[0] = callers.call(0, () -> environment.open(DIRECTORY, options));
        } catch (StoreException refused) {
            fault.requireNamed(refused);
            return new Driven(new Moment(history.acknowledged(), history.begun()), machine.crash(CrashKind.KILL, random));
        }
        check(!hasFailedForGood(machine, fault), "a store opened although a write had failed");
        while (!failed && history.begun() < until) {
            failed = callers.call(random.nextInt(CALLERS), () -> {
                try {
                    takeStep(store[0], history);
                } catch (StoreException refused) {
                    fault.requireNamed(refused);
                    boolean full = refused instanceof NoSpaceException || refused instanceof InsufficientMemoryException;
                    check(
                            fault.goingOn == GoingOn.UNTIL_REFUSED || fault.goingOn == GoingOn.AFTER_REFUSALS && full,
                            "a write was refused: " + refused);
                    if (fault.goingOn == GoingOn.AFTER_REFUSALS) {
                        if (history.begun() > history.acknowledged()) {
                            history.takeBack();
                        }
                        return false;
                    }
                    return true;
                } finally {
                    environment.step();
                }
                readSome(store[0], history, machine, fault);
                return false;
            });
        }
        Moment moment = new Moment(history.acknowledged(), history.begun());
        if (failed) {
            fault.heal.run();
            callers.call(0, () -> {
                String complaint = history.explain(CrashKind.KILL, moment, store[0]);
                check(complaint == null, "after the failure " + complaint);
                return null;
            });
        }
        return callers.call(0, () -> {
            if (hasFailedForGood(machine, fault)) {
                requireStopped(store[0], fault);
            }
            SimulatedMachine image = machine.crash(CrashKind.KILL, random);
            if (fault.isOver.getAsBoolean()) {
                requireNoLeak(environment, store[0]);
            }
            StoreException told = closeQuietly(store[0]);
            check(told != null || !hasFailedForGood(machine, fault), "who closes is not told of a failed write");
            if (told != null) {
                fault.requireNamed(told);
            }
            return new Driven(moment, image);
        });
    }

    private static void takeStep(KeyValueStore store, History history) {
        history.advance(store);
        if (history.begun() % CHECKPOINT_STEPS == 0) {
            store.checkpoint();
        }
    }

    /** Whether something failed after which a store takes no more writes: not a write that found no space, as of a merge, to whose pages nothing refers yet. */
    private static boolean hasFailedForGood(SimulatedMachine machine, Fault fault) {
        boolean mayBeOfNoUse =
                fault.errno != null && fault.errno.exception(OperationKind.WRITE, DIRECTORY.toString(), 0) instanceof NoSpaceException;
        return machine.faults().failed().stream()
                .anyMatch(kind -> FINAL.contains(kind) && !(mayBeOfNoUse && kind == OperationKind.WRITE));
    }

    /** Whoever failed, in the background or not, the next write says so. */
    private static void requireStopped(KeyValueStore store, Fault fault) {
        try {
            store.put(new byte[] {1}, new byte[] {1}, Durability.BUFFERED);
        } catch (PreviousFailureException stopped) {
            fault.requireNamed(stopped);
            return;
        }
        throw new AssertionError("a store goes on writing after a failed write");
    }

    /** Unless it was stopped, a store has what it took for what then failed no more. */
    private static void requireNoLeak(SteppedEnvironment environment, KeyValueStore store) {
        try {
            environment.requireNoLeak(store);
        } catch (PreviousFailureException stopped) {
            // It frees nothing any more.
        }
    }

    /** Reads are right or fail. */
    private static void readSome(KeyValueStore store, History history, SimulatedMachine machine, Fault fault) {
        NavigableMap<byte[], byte[]> expected = history.state();
        SplittableRandom random = new SplittableRandom(history.begun());
        for (int i = 0; i < 3; i++) {
            byte[] key = History.key(random);
            long injected = machine.faults().injected();
            try {
                DifferentialRun.expectValue(key, expected.get(key), store.get(key), "get");
            } catch (StoreException refused) {
                boolean memory = refused instanceof InsufficientMemoryException && fault.goingOn != GoingOn.UNTOUCHED;
                check(memory || machine.faults().injected() > injected, "a read failed although the device did not: " + refused);
            }
        }
    }

    /** Returns what closing ended with, or null: what it could not write is in the log, or was never promised. */
    private static StoreException closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
            return null;
        } catch (StoreException refused) {
            return refused;
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private void judge(SimulatedMachine left, CrashKind kind, long nth, History history, Moment moment, String when) {
        SimulatedMachine next = left.crash(kind, new SplittableRandom(nth));
        callers.call(0, () -> {
            try (SteppedEnvironment environment =
                            new SteppedEnvironment(seed, OptionMatrix.environment(options), next);
                    KeyValueStore store = environment.open(DIRECTORY, options)) {
                String complaint = history.explain(kind, moment, store);
                check(complaint == null, when + ", " + complaint);
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
