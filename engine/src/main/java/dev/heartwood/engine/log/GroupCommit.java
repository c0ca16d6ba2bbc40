package dev.heartwood.engine.log;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.engine.base.Clock;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Lets callers that need the log durable share syncs: one leads and syncs for all whose appends came before, the others wait.
 * A failed sync is final. Thread-safe, with platform and virtual threads.
 */
final class GroupCommit {
    /*
     * Shared field      read        written                              guarded by
     * durable           volatile    volatile, ascending                  the leader
     * leader            CAS         volatile null                         -
     * waiters           CAS         CAS                                  -
     * failure           volatile    CAS null -> e                        -
     * arrived           volatile    incremented                          -
     * served, expected  plain       plain                                the leader
     * syncNanos         plain       plain                                the leader
     *
     * Invariant: while a waiter is on the stack and not satisfied, there is a leader, who will empty the stack after it has
     * stepped down, or a thread that was woken to try to lead. A waiter pushes itself first and then tries to lead once more,
     * so it cannot miss the leader that is stepping down.
     *
     * Those whom a sync has served mostly write again at once. If the next leader did not wait for them, they would come just
     * after its sync began, and from then on two halves of the writers would take turns, each waiting for two syncs. So it
     * waits until as many have come as the last sync served, but no longer than a part of the time that a sync takes, nor than a few
     * milliseconds, since the last sync may have met a disk that stalled: writers that do not come again are missed once, since the next sync
     * serves fewer.
     */
    /** A leader waits for others up to the time of the last sync divided by this. */
    private static final int GATHERING_DIVISOR = 2;

    private static final long GATHERING_NANOS_MAX = 5_000_000;

    private static final class Waiter {
        final Thread thread = Thread.currentThread();
        final long lsn;
        volatile boolean woken;
        Waiter next;

        Waiter(long lsn) {
            this.lsn = lsn;
        }
    }

    private final LongSupplier work;
    private final Clock clock;
    private final AtomicReference<Waiter> waiters = new AtomicReference<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicReference<Thread> leader = new AtomicReference<>();
    private volatile long durable;
    /** How many have come to wait, ever; how many of those the syncs had served; and how many to wait for before the next. */
    private final AtomicLong arrived = new AtomicLong();
    private long served;
    private long expected;
    private long syncNanos;

    /** Makes everything appended so far durable by {@code work}, which returns the greatest LSN for which that now holds. */
    GroupCommit(LongSupplier work, Clock clock) {
        this.work = work;
        this.clock = clock;
    }

    /** Everything below or at this LSN is durable. */
    long durable() {
        return durable;
    }

    /** To be called before the first wait. */
    void startFrom(long lsn) {
        durable = lsn;
    }

    /** Returns once every LSN up to this one is durable; an interrupt does not end the wait. */
    void await(long lsn) {
        if (durable >= lsn) {
            return;
        }
        arrived.incrementAndGet();
        boolean interrupted = false;
        try {
            while (durable < lsn) {
                throwFailure();
                if (leader.get() == null && leader.compareAndSet(null, Thread.currentThread())) {
                    lead();
                } else {
                    interrupted |= follow(lsn);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void lead() {
        try {
            throwFailure();
            gather();
            durable = syncCounted();
        } catch (Throwable e) {
            fail(e);
            throw e;
        } finally {
            leader.set(null);
            wake();
        }
    }

    /** Waits a little for those whom the last sync has served. By yielding: to sleep takes longer than there is to wait. */
    private void gather() {
        long began = clock.nanoTime();
        long nanosMax = Math.min(syncNanos / GATHERING_DIVISOR, GATHERING_NANOS_MAX);
        while (arrived.get() < expected && clock.nanoTime() - began < nanosMax) {
            Thread.yield();
        }
    }

    private long syncCounted() {
        long began = clock.nanoTime();
        long serving = arrived.get();
        long upTo = work.getAsLong();
        syncNanos = clock.nanoTime() - began;
        expected = arrived.get() + serving - served;
        served = serving;
        return upTo;
    }

    /** Waits to be woken; returns whether the thread was interrupted meanwhile. */
    private boolean follow(long lsn) {
        Waiter waiter = new Waiter(lsn);
        push(waiter);
        if (leader.get() == null) {
            // The leader may have emptied the stack before the push: this thread must not wait for it.
            wake();
        }
        boolean interrupted = false;
        while (!waiter.woken) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        return interrupted;
    }

    /** Wakes those who have what they wait for and one of the others, to lead. */
    private void wake() {
        long done;
        boolean failed;
        do {
            done = durable;
            failed = isFailed();
            Waiter heir = null;
            Waiter all = waiters.getAndSet(null);
            while (all != null) {
                Waiter waiter = all;
                all = all.next;
                if (failed || waiter.lsn <= done) {
                    wake(waiter);
                } else if (heir == null) {
                    heir = waiter;
                } else {
                    push(waiter);
                }
            }
            if (heir != null) {
                wake(heir);
            }
            // A leader that finished meanwhile did not see what was pushed back, and has left the heir nothing to lead.
        } while (durable != done || isFailed() != failed);
    }

    private static void wake(Waiter waiter) {
        waiter.woken = true;
        LockSupport.unpark(waiter.thread);
    }

    private void push(Waiter waiter) {
        Waiter head = waiters.get();
        while (true) {
            waiter.next = head;
            Waiter found = waiters.compareAndExchange(head, waiter);
            if (found == head) {
                return;
            }
            head = found;
        }
    }

    /** Latches the first failure, and wakes all: who was woken to lead may leave for it, and tells nobody. */
    void fail(Throwable e) {
        failure.compareAndSet(null, e);
        wake();
    }

    /** Whether a failure is latched. */
    boolean isFailed() {
        return failure.get() != null;
    }

    /** Whether this is the failure that is latched. */
    boolean isFailure(Throwable e) {
        return failure.get() == e;
    }

    /** Throws when a failure is latched. */
    void throwFailure() {
        Throwable first = failure.get();
        if (first != null) {
            throw new PreviousFailureException(first);
        }
    }
}
