package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.call.UserCode;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.engine.write.MemtableRotation;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * What takes a store as a whole: makes it durable, settles it, runs what is long beside its calls, and closes it. Owns the lock of the
 * lifecycle, under which those that closing waits for take turns, and the long calls. A settling has many turns. Thread-safe.
 *
 * <p>Closing: everything is made durable while calls go on. Then a flag is raised ({@link StoreCalls#close}), and an epoch later no call is
 * inside one; calls that waited outside of an epoch look at the flag again, and those that work outside of one are waited for. What was
 * written meanwhile, maybe without a log, is made durable too. Then cursors and snapshots that are still open are let go, and the parts
 * close from the top down.
 */
final class StoreLifecycle {
    /*
     * What closing needs is made ahead, as what closes the parts: a full Java heap must not keep a store from closing. The flag of the calls
     * is written under the lock, and read without.
     */
    private static final Runnable NOTHING = () -> {};

    private final StoreParts parts;
    private final StoreCalls calls;
    private final OpenViews views;
    private final UserCode userCode;
    private final Runnable whenClosed;
    private final Runnable afterClose;
    private final MemtableRotation rotation;
    /** Fair: threads that make one checkpoint after the other must not keep the store from closing. */
    private final ReentrantLock lock = new ReentrantLock(true);

    /** Taken before the other by who settles: of settlings each waits for the one before as a whole. */
    private final ReentrantLock settlingLock = new ReentrantLock(true);

    /** Threads that are about to take the lock, and that a settling lets go first. */
    private final AtomicInteger waiting = new AtomicInteger();

    private final Background.Turns turns = new Background.Turns() {
        @Override
        public boolean isOver() {
            return waiting.get() > 0;
        }

        @Override
        public void next() {
            lock.unlock();
            lock.lock();
            requireOpen();
        }
    };

    private final LongCalls longCalls = new LongCalls();
    private final LongSupplier seal;
    private final LongSupplier sealLast;
    private final Closing closing;

    /**
     * @param closeViews lets go of views that are still open, when no call is inside any more
     * @param whenClosed is called under the lock when all of it is closed, {@code afterClose} after that without
     */
    StoreLifecycle(
            StoreParts parts,
            StoreCalls calls,
            OpenViews views,
            UserCode userCode,
            Runnable closeViews,
            Runnable whenClosed,
            Runnable afterClose) {
        this.parts = parts;
        this.calls = calls;
        this.views = views;
        this.userCode = userCode;
        this.whenClosed = whenClosed;
        this.afterClose = afterClose;
        this.rotation = parts.rotation();
        this.seal = rotation::seal;
        this.sealLast = rotation::sealLast;
        this.closing = parts.closing(closeViews);
    }

    /** Makes everything durable that is written by now. Waits for no settling: that may go on for as long as others write. */
    void checkpoint() {
        userCode.refuseWithin();
        waiting.incrementAndGet();
        try {
            parts.background().endTurn();
            lock.lock();
        } finally {
            waiting.decrementAndGet();
        }
        try {
            requireOpen();
            checkpoint(seal);
        } finally {
            lock.unlock();
        }
    }

    /** Packs, merges and makes durable until nothing is left to do, and gives back what space is free. Lets checkpoints be made meanwhile. */
    void settle() {
        userCode.refuseWithin();
        settlingLock.lock();
        try {
            lock.lock();
            try {
                requireOpen();
                settleInTurns();
            } finally {
                lock.unlock();
            }
        } finally {
            settlingLock.unlock();
        }
    }

    /*
     * Closing has to wait for both. They are no operations: threads that wait their turn here, however many, have no slots that others need,
     * maybe those whom this waits for.
     */
    private void requireOpen() {
        if (calls.isClosed()) {
            throw new ClosedException("the store");
        }
    }

    private void settleInTurns() {
        boolean goesOn = true;
        while (goesOn) {
            if (parts.background().isSpaceShort() || parts.hasManyDeletesInMemory()) {
                // What was deleted frees space only once it is in the tree.
                parts.background().packing().awaitPacked(rotation.seal());
            }
            goesOn = parts.background().settle(turns);
            runCheckpoint();
        }
        parts.returnFreeSpace();
    }

    private void checkpoint(LongSupplier sealing) {
        parts.failStop().check();
        parts.background().packing().awaitPacked(sealing.getAsLong());
        runCheckpoint();
    }

    private void runCheckpoint() {
        try {
            parts.background().checkpoint();
        } catch (NoSpaceException | InsufficientMemoryException | TooLargeException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            parts.failStop().fail(e);
            throw e;
        }
        parts.epochs().reclaim();
    }

    /** Runs something long that others need not wait for; it says what it has done, by which it learns that closing ends it. */
    <T> T run(Function<Progress, T> longCall) {
        AtomicReference<T> result = new AtomicReference<>();
        Operation operation = calls.begin();
        try {
            operation.outsideEpoch(() ->
                    result.set(longCalls.run(() -> longCall.apply((what, done, total) -> longCalls.requireOpen()))));
        } finally {
            operation.end();
        }
        return result.get();
    }

    /** Closes the store, unless it is, and does what is to follow. Whatever of it fails, the rest is done. */
    void close() {
        close(afterClose);
    }

    /** As {@link #close}, for a store that nobody has been given: nothing follows. */
    void closeAlone() {
        close(NOTHING);
    }

    private void close(Runnable following) {
        userCode.refuseWithin();
        parts.background().endSettling();
        Throwable failure;
        lock.lock();
        try {
            if (calls.isClosed()) {
                return;
            }
            longCalls.close();
            Throwable undurable = makeDurable(seal);
            failure = undurable == null ? endSession() : undurable;
            calls.close();
            rotation.close();
            calls.awaitEnd();
            parts.operations().awaitUsers(parts.log());
            views.awaitMoves();
            // What ends the session may fail where a checkpoint does not.
            failure = undurable == null ? Closing.join(failure, makeLastDurable()) : failure;
            failure = Closing.join(failure, closing.run());
            whenClosed.run();
        } finally {
            lock.unlock();
        }
        // Without the lock: closing the environment waits for calls, and those may wait for the lock.
        Closing.throwIfAny(Closing.join(failure, Closing.run(following)));
    }

    /** Makes durable what was written while everything else was; returns why it could not. */
    private Throwable makeLastDurable() {
        try {
            if (parts.isDurable()) {
                return null;
            }
            Throwable undurable = makeDurable(sealLast);
            return undurable == null ? endSession() : undurable;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /** Makes durable what {@code sealing} seals; returns why it could not, be it an earlier failure, of which nobody may have been told. */
    private Throwable makeDurable(LongSupplier sealing) {
        try {
            checkpoint(sealing);
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /** Notes that all is durable, and gives back what space is free; returns why it could not. */
    private Throwable endSession() {
        try {
            SessionMark.write(parts.files(), parts.checkpointer().durable());
            parts.returnFreeSpace();
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }
}
