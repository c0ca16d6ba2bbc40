package dev.heartwood.engine.base;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Epoch-based reclamation: lets an operation read shared structures without locks, and lets whoever unlinked something from
 * them know when no operation can still see it. Thread-safe, with platform and virtual threads.
 */
public final class Epochs {
    /*
     * An operation takes a slot, of which there are SLOTS, by writing the current epoch into it with a compare-and-set. The
     * thread's number says where to look first; a slot that is taken is passed over, so more threads than slots only probe
     * longer. When all are taken, one thread at a time looks for one that is given up, under the lock crowd, and the others
     * sleep: thousands of virtual threads that all looked would leave no time to those they wait for. The compare-and-set is
     * a full fence: the operation's reads come after its epoch is visible.
     *
     * Operations may wait with their slots for what a merge gives them, so a merge must not wait for one of theirs. Behind the SLOTS
     * there are some for those who wait for nobody while they have one, and behind these some for calls of the user code in a merge.
     *
     * advance() makes a new epoch e and returns it. passed(e) holds when every taken slot shows e or later. An operation that
     * read the epoch before it changed but stored it afterwards shows an older value than it need, which only delays.
     *
     * Shared field      read               written                guarded by
     * epoch             volatile           getAndIncrement        -
     * slots[i]          volatile           CAS 0 -> e, then plain  the operation that took it
     *                                      or release
     * slotsUsed         volatile           CAS upwards            -
     * first-, lastDeferred,
     * running           -                  -                      deferredLock
     */
    /** The most operations that are active at once; more wait for one of them to end. */
    public static final int SLOTS = 1024;

    private static final int BRIEF_SLOTS = 32;

    private static final int AWAITED_SLOTS = 64;

    /** All slots that there are: {@link #SLOTS} and those for who may be waited for. */
    public static final int SLOTS_ALL = SLOTS + BRIEF_SLOTS + AWAITED_SLOTS;

    private static final int STRIDE = 16;

    private static final long WAIT_NANOS = 50_000;

    /** In the slot of an operation that waits: taken, and later than every epoch. */
    private static final long SUSPENDED = Long.MAX_VALUE;

    private static final int FIRST_PROBES = 64;

    /** How long who found no slot sleeps; a virtual thread that yields instead may keep its carrier from those it waits for. */
    private static final long CROWD_NANOS = 20_000;

    /** An action that can be deferred, by {@link #deferPrepared}, once at a time: what that takes of the Java heap is taken when it is made. */
    public static final class Deferred {
        private final Runnable action;
        // Guarded by deferredLock.
        private long stamp;
        private Deferred next;

        public Deferred(Runnable action) {
            this.action = action;
        }
    }

    private final AtomicLong epoch = new AtomicLong(1);
    private final AtomicLongArray slots = new AtomicLongArray(SLOTS_ALL * STRIDE + STRIDE);
    private final AtomicLong slotsUsed = new AtomicLong();
    private final ReentrantLock crowd = new ReentrantLock();
    private final ReentrantLock deferredLock = new ReentrantLock();
    /** What was deferred first, and last. */
    private Deferred firstDeferred;

    private Deferred lastDeferred;
    /** Deferred actions that some thread has taken and not finished. */
    private int running;

    /** Begins an operation; returns its slot, to be given to {@link #exit}. Not reentrant in effect: each call takes a slot. */
    public int enter() {
        return take(false);
    }

    /**
     * Begins an operation that holds nobody back, as if by {@link #enter} and {@link #suspend}: it is counted as active but may read
     * only what it holds by other means.
     */
    public int enterSuspended() {
        return take(true);
    }

    /** As {@link #enter}, for what ends without waiting for anybody, and never waits for operations that wait. */
    public int enterBriefly() {
        return takeBeyond(SLOTS, BRIEF_SLOTS, false);
    }

    /**
     * As {@link #enter}, or {@link #enterSuspended}, for who may be what operations wait for that keep their slots meanwhile. Who enters so must
     * not keep his while he waits for such.
     */
    public int enterAwaited(boolean suspended) {
        return takeBeyond(SLOTS + BRIEF_SLOTS, AWAITED_SLOTS, suspended);
    }

    /** Takes a slot of those that all may have, or else one of {@code count} from {@code first} on, waiting for that if need be. */
    private int takeBeyond(int first, int count, boolean suspended) {
        int slot = probe(firstProbe(), suspended);
        while (slot < 0) {
            slot = probeFrom(first, count, suspended);
            if (slot < 0) {
                Clock.SYSTEM.parkNanos(CROWD_NANOS);
            }
        }
        return slot;
    }

    private int probeFrom(int first, int count, boolean suspended) {
        for (int slot = first; slot < first + count; slot++) {
            if (slots.get(index(slot)) == 0) {
                raiseSlotsUsed(slot + 1);
                if (slots.compareAndSet(index(slot), 0, suspended ? SUSPENDED : epoch.get())) {
                    return slot;
                }
            }
        }
        return -1;
    }

    private static int firstProbe() {
        return (int) Thread.currentThread().threadId() & (FIRST_PROBES - 1);
    }

    private int take(boolean suspended) {
        int start = firstProbe();
        // Announced before it is taken, so that passed() never overlooks a taken slot.
        if (start >= slotsUsed.get()) {
            raiseSlotsUsed(start + 1);
        }
        if (slots.compareAndSet(index(start), 0, suspended ? SUSPENDED : epoch.get())) {
            return start;
        }
        return takeElsewhere(start, suspended);
    }

    private int takeElsewhere(int start, boolean suspended) {
        int slot = probe(start, suspended);
        if (slot >= 0) {
            return slot;
        }
        crowd.lock();
        try {
            for (slot = probe(start, suspended); slot < 0; slot = probe(start, suspended)) {
                Clock.SYSTEM.parkNanos(CROWD_NANOS);
            }
            return slot;
        } finally {
            crowd.unlock();
        }
    }

    /** Takes the next free slot from {@code start} on; -1 when there is none. */
    private int probe(int start, boolean suspended) {
        for (int i = 0; i < SLOTS; i++) {
            int slot = start + i & (SLOTS - 1);
            if (slots.get(index(slot)) == 0) {
                raiseSlotsUsed(slot + 1);
                if (slots.compareAndSet(index(slot), 0, suspended ? SUSPENDED : epoch.get())) {
                    return slot;
                }
            }
        }
        return -1;
    }

    /** Takes {@code slot} if no operation has it; {@link #exit} must follow when it succeeds. */
    public boolean tryEnter(int slot) {
        return slots.get(index(slot)) == 0 && slots.compareAndSet(index(slot), 0, epoch.get());
    }

    /** Ends the operation that took {@code slot}. */
    public void exit(int slot) {
        slots.setRelease(index(slot), 0);
    }

    /** Lets an operation wait: it keeps its slot but holds back nobody until {@link #resume}. */
    public void suspend(int slot) {
        slots.setRelease(index(slot), SUSPENDED);
    }

    /** Ends {@link #suspend}: the operation is active again, in the current epoch. */
    public void resume(int slot) {
        slots.set(index(slot), epoch.get());
    }

    /** Begins a new epoch and returns its stamp for {@link #passed}. */
    public long advance() {
        return epoch.incrementAndGet();
    }

    /** Whether every operation that was active when {@code stamp} was drawn has ended. */
    public boolean passed(long stamp) {
        return oldest() >= stamp;
    }

    /** Waits until every operation active now has ended. Not inside an epoch. */
    public void awaitOperations() {
        long stamp = advance();
        while (!passed(stamp)) {
            Clock.SYSTEM.parkNanos(WAIT_NANOS);
        }
    }

    /** The stamp below which no operation is active; at most the current epoch. */
    public long oldest() {
        long oldest = epoch.get();
        int used = (int) slotsUsed.get();
        for (int i = 0; i < used; i++) {
            long e = slots.get(index(i));
            if (e != 0 && e < oldest) {
                oldest = e;
            }
        }
        return oldest;
    }

    /** Whether any operation has a slot, even one that waits. */
    public boolean isOccupied() {
        int used = (int) slotsUsed.get();
        for (int i = 0; i < used; i++) {
            if (slots.get(index(i)) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Runs {@code action} once every operation active now has ended, in some later call of {@link #reclaim}. */
    public void defer(Runnable action) {
        deferPrepared(new Deferred(action));
    }

    /** As {@link #defer}, of what is not deferred now; takes nothing of the Java heap. */
    public void deferPrepared(Deferred deferred) {
        deferredLock.lock();
        try {
            deferred.stamp = advance();
            if (firstDeferred == null) {
                firstDeferred = deferred;
            } else {
                lastDeferred.next = deferred;
            }
            lastDeferred = deferred;
        } finally {
            deferredLock.unlock();
        }
    }

    /** Runs the deferred actions that are due; returns whether some are still waiting. */
    public boolean reclaim() {
        while (true) {
            Runnable due;
            deferredLock.lock();
            try {
                Deferred first = firstDeferred;
                if (first == null) {
                    return false;
                }
                if (!passed(first.stamp)) {
                    return true;
                }
                firstDeferred = first.next;
                lastDeferred = firstDeferred == null ? null : lastDeferred;
                first.next = null;
                due = first.action;
                running++;
            } finally {
                deferredLock.unlock();
            }
            try {
                due.run();
            } finally {
                finished();
            }
        }
    }

    private void finished() {
        deferredLock.lock();
        try {
            running--;
        } finally {
            deferredLock.unlock();
        }
    }

    /** Waits until every operation active now has ended, and what was deferred before has been run. Not inside an epoch. */
    public void awaitReclaimed() {
        long stamp = advance();
        reclaim();
        while (!passed(stamp) || isOwed(stamp)) {
            Clock.SYSTEM.parkNanos(WAIT_NANOS);
            reclaim();
        }
    }

    /** Whether something deferred before {@code stamp} was drawn may still have to be run to its end. */
    private boolean isOwed(long stamp) {
        deferredLock.lock();
        try {
            Deferred first = firstDeferred;
            return running > 0 || first != null && first.stamp < stamp;
        } finally {
            deferredLock.unlock();
        }
    }

    private void raiseSlotsUsed(int count) {
        long used = slotsUsed.get();
        while (used < count && !slotsUsed.compareAndSet(used, count)) {
            used = slotsUsed.get();
        }
    }

    private static int index(int slot) {
        return STRIDE + slot * STRIDE;
    }
}
