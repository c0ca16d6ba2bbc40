package dev.heartwood.engine.log;

import dev.heartwood.PreviousFailureException;
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
     *
     * Invariant: while a waiter is on the stack and not satisfied, there is a leader, who will empty the stack after it has
     * stepped down, or a thread that was woken to try to lead. A waiter pushes itself first and then tries to lead once more,
     * so it cannot miss the leader that is stepping down.
     */
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
    private final AtomicReference<Waiter> waiters = new AtomicReference<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicReference<Thread> leader = new AtomicReference<>();
    private volatile long durable;

    /** Makes everything appended so far durable by {@code work}, which returns the greatest LSN for which that now holds. */
    GroupCommit(LongSupplier work) {
        this.work = work;
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
            durable = work.getAsLong();
        } catch (Throwable e) {
            fail(e);
            throw e;
        } finally {
            leader.set(null);
            wake();
        }
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

    /** Latches the first failure. */
    void fail(Throwable e) {
        failure.compareAndSet(null, e);
    }

    /** Whether a failure is latched. */
    boolean isFailed() {
        return failure.get() != null;
    }

    /** Throws when a failure is latched. */
    void throwFailure() {
        Throwable first = failure.get();
        if (first != null) {
            throw new PreviousFailureException(first);
        }
    }
}
