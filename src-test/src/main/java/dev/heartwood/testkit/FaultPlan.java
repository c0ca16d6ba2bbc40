package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which operations of a {@link SimulatedMachine} are to go wrong, and how. Ordinals count from the call that sets the fault: 1
 * is the next operation of that kind. Guarded by the machine's lock.
 */
public final class FaultPlan {
    /** How long a fault lasts. */
    public enum Duration {
        /** One operation fails, those after it succeed. */
        ONCE,
        /** The operation and every later one of its kind fail until {@link FaultPlan#heal}. */
        FOR_GOOD
    }

    /** What an operation does when it succeeds in appearance only. */
    enum Lie {
        /** A write that is acknowledged and changes nothing. */
        LOST,
        /** A write that lands on another place of the file, or a read that comes from one. */
        MISDIRECTED,
        /** A read that returns one bit wrong; the medium stays as it is. */
        FLIPPED
    }

    /** A null kind stands for operations of every kind, counted together. */
    private record Failure(OperationKind kind, long at, Errno errno, Duration duration) {}

    private record Deceit(OperationKind kind, long at, Lie lie) {}

    private final SimulatedMachine machine;
    private final Map<OperationKind, Long> counts = new EnumMap<>(OperationKind.class);
    private final List<Failure> failures = new ArrayList<>();
    private final List<Deceit> deceits = new ArrayList<>();
    private final Set<OperationKind> failed = EnumSet.noneOf(OperationKind.class);
    private OperationListener listener;
    private Lie lie;
    private volatile long latencyNanosMax;
    private long operations;
    private long injected;

    FaultPlan(SimulatedMachine machine) {
        this.machine = machine;
    }

    /** Makes the {@code nth} operation of a kind from now on fail. */
    public void fail(OperationKind kind, long nth, Errno errno, Duration duration) {
        machine.locked(() -> failures.add(new Failure(kind, count(kind) + nth, errno, duration)));
    }

    /** Makes the {@code nth} operation of all from now on fail, whatever its kind. */
    public void failAny(long nth, Errno errno, Duration duration) {
        machine.locked(() -> failures.add(new Failure(null, operations + nth, errno, duration)));
    }

    /** Makes the {@code nth} device write from now on disappear, although it is acknowledged. */
    public void dropWrite(long nth) {
        deceive(OperationKind.WRITE, nth, Lie.LOST);
    }

    /** Makes the {@code nth} device write from now on land on another page of the file, although it is acknowledged. */
    public void misdirectWrite(long nth) {
        deceive(OperationKind.WRITE, nth, Lie.MISDIRECTED);
    }

    /** Makes the {@code nth} device read from now on return another page of the file. */
    public void misdirectRead(long nth) {
        deceive(OperationKind.READ, nth, Lie.MISDIRECTED);
    }

    /** Makes the {@code nth} device read from now on return one bit wrong. */
    public void flipRead(long nth) {
        deceive(OperationKind.READ, nth, Lie.FLIPPED);
    }

    private void deceive(OperationKind kind, long nth, Lie how) {
        machine.locked(() -> deceits.add(new Deceit(kind, count(kind) + nth, how)));
    }

    /** Makes every operation of a device take up to so long, by the wall. What it changes is the order of threads, nothing else. */
    public void latency(long nanosMax) {
        latencyNanosMax = nanosMax;
    }

    /** Withdraws every fault. */
    public void heal() {
        machine.locked(() -> {
            failures.clear();
            deceits.clear();
            return null;
        });
    }

    /** Sets the listener that sees every operation; null removes it. */
    public void listen(OperationListener operationListener) {
        machine.locked(() -> listener = operationListener);
    }

    /** Operations of a kind so far. */
    public long count(OperationKind kind) {
        return machine.locked(() -> counts.getOrDefault(kind, 0L));
    }

    /** Operations of all kinds so far. */
    public long operations() {
        return machine.locked(() -> operations);
    }

    /** Faults that have struck so far. */
    public long injected() {
        return machine.locked(() -> injected);
    }

    /** The kinds of the operations that have failed so far. */
    public Set<OperationKind> failed() {
        return machine.locked(() -> Set.copyOf(failed));
    }

    /** Counts an operation; returns the error it must end with, or null. */
    Errno begin(OperationKind kind, String path) {
        if (listener != null) {
            listener.before(kind, operations, path);
        }
        operations++;
        lie = null;
        long ordinal = counts.merge(kind, 1L, Long::sum);
        for (Iterator<Failure> i = failures.iterator(); i.hasNext(); ) {
            Failure failure = i.next();
            long at = failure.kind == null ? operations : ordinal;
            if ((failure.kind == null || failure.kind == kind) && at >= failure.at) {
                if (failure.duration == Duration.ONCE) {
                    i.remove();
                }
                injected++;
                failed.add(kind);
                return failure.errno;
            }
        }
        for (Iterator<Deceit> i = deceits.iterator(); i.hasNext(); ) {
            Deceit deceit = i.next();
            if (deceit.kind == kind && deceit.at == ordinal) {
                i.remove();
                injected++;
                lie = deceit.lie;
            }
        }
        return null;
    }

    /** How the operation begun last lies, or null when it is honest. */
    Lie lie() {
        return lie;
    }

    /** Lets the calling thread take its time; outside of the machine's lock. */
    void delay() {
        long most = latencyNanosMax;
        if (most > 0) {
            long until = System.nanoTime() + machine.locked(() -> machine.random().nextLong(most));
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait();
            }
        }
    }
}
