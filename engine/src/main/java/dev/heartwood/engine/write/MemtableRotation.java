package dev.heartwood.engine.write;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.MemtablePacking;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Seals the active memtable of a store and makes the next one, and has writers wait that find no room. Owns the rotation lock. Whoever seals
 * or waits here is in no epoch and owns no lane. Thread-safe.
 *
 * <p>A rotation begins a generation in the log and in the list of memtables under the lock and with all lanes, so no write comes between
 * the two. Once the store is open nobody else begins one; the packer takes the oldest out of the list, under the list's own monitor.
 *
 * <p>Closing raises a flag and then takes the lock. Who seals looks at the flag under the lock, so that afterwards none is about to seal,
 * and what is not in the tree yet is sealed by {@link #sealLast} alone.
 */
public final class MemtableRotation {
    /*
     * Shared field        read       written    guarded by
     * closed              volatile   volatile   -
     * waiting             plain      plain      lock
     * active generation   volatile   volatile   lock and all lanes, for writing (Generations.add, WriteAheadLog.rotate)
     */

    /** Sealed memtables that may wait for the packer. */
    public static final int SEALED_MAX = 3;

    /**
     * How long a writer without room sleeps before it looks again for memory that readers have let go of, in nanoseconds. Of several each
     * sleeps as many times as long, up to a limit: looking takes time, which those who have the memory need.
     */
    private static final long ROOM_POLL_NANOS = 500_000;

    private static final long ROOM_POLL_NANOS_MAX = 100_000_000;

    private final Epochs epochs;
    private final Lanes lanes;
    private final WriteAheadLog log;
    private final Generations generations;
    private final MemtableSource memtables;
    private final FailStop failStop;
    private final MemtablePacking packing;
    private final Workers workers;
    private final LongSupplier nextSequence;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    /** Who waits for room. */
    private int waiting;

    private volatile boolean closed;

    public MemtableRotation(
            Epochs epochs,
            Lanes lanes,
            WriteAheadLog log,
            Generations generations,
            MemtableSource memtables,
            FailStop failStop,
            MemtablePacking packing,
            Workers workers,
            LongSupplier nextSequence) {
        this.epochs = epochs;
        this.lanes = lanes;
        this.log = log;
        this.generations = generations;
        this.memtables = memtables;
        this.failStop = failStop;
        this.packing = packing;
        this.workers = workers;
        this.nextSequence = nextSequence;
    }

    /** Refuses whoever comes once the store closes. */
    void requireOpen() {
        if (closed) {
            throw new ClosedException("the store");
        }
    }

    /** Makes a new active memtable when {@code full} is still the active one; false when too many wait for the packer. */
    boolean rotate(Generation full) {
        lock.lock();
        try {
            // Who comes from outside of its epoch is not waited for: the log may be closing.
            requireOpen();
            if (generations.active() != full) {
                return true;
            }
            if (full.memtable().entries() == 0) {
                memtables.relieve();
                return false;
            }
            if (generations.sealedCount() >= SEALED_MAX) {
                return false;
            }
            rotateNow(full);
        } finally {
            lock.unlock();
        }
        packing.packSoon();
        return true;
    }

    /**
     * Has a memtable that is empty, and has memory that it was refused more for, packed as if it were full: so all lanes and readers leave it
     * before that memory goes. Returns false when it has none, or packing does not go on.
     */
    boolean giveBack(Generation empty) {
        lock.lock();
        try {
            requireOpen();
            if (generations.active() == empty) {
                if (empty.memtable().chunkBytes() == 0 || generations.sealedCount() >= SEALED_MAX || packing.isRefused()) {
                    return false;
                }
                rotateNow(empty);
            }
        } finally {
            lock.unlock();
        }
        packing.packSoon();
        return true;
    }

    /** As {@link #giveBack} for other stores that are short of memory; waits for nobody. Returns false also when the memtable is not empty. */
    public boolean giveBackIfEmpty() {
        Generation active = generations.active();
        return active.memtable().entries() == 0 && !closed && !failStop.isFailed() && giveBack(active);
    }

    /** Under the lock. Who lets go of it has the sealed memtable packed: to wake a thread may be to make way for it, and to wait. */
    private void rotateNow(Generation full) {
        lanes.enterAll();
        try {
            log.rotate(full.number() + 1, nextSequence.getAsLong());
            generations.add(memtables.make(full.number() + 1));
        } catch (RuntimeException | Error e) {
            failStop.fail(e);
            throw e;
        } finally {
            lanes.exitAll();
        }
    }

    /** Seals the active memtable if it holds anything; returns the generation below which everything is sealed. */
    public long seal() {
        while (true) {
            Generation active = generations.active();
            if (active.memtable().entries() == 0) {
                return active.number() - 1;
            }
            if (rotate(active)) {
                return active.number();
            }
            awaitRoom(active);
        }
    }

    /** As {@link #seal} when nobody writes any more, for who closes the store: needs no room, and waits for none. */
    public long sealLast() {
        lock.lock();
        try {
            Generation active = generations.active();
            if (active.memtable().entries() == 0) {
                return active.number() - 1;
            }
            rotateNow(active);
            return active.number();
        } finally {
            lock.unlock();
        }
    }

    /** Seals the active memtable if that needs no waiting. */
    public void sealIfPossible() {
        sealIfPossible(generations.active());
    }

    /** As the other, when {@code active} is still the active one; for other stores that are short of memory. */
    public void sealIfPossible(Generation active) {
        lock.lock();
        try {
            if (generations.active() == active && canSeal()) {
                rotateNow(active);
            }
        } finally {
            lock.unlock();
        }
        packing.packSoon();
    }

    /** Whether {@link #sealIfPossible} would seal something. */
    public boolean canSeal() {
        return !closed
                && !failStop.isFailed()
                && generations.active().memtable().entries() > 0
                && generations.sealedCount() < SEALED_MAX;
    }

    /** Waits a little for room, unless {@code full} is active no more; where packing has failed, that is tried again first. */
    public void awaitRoom(Generation full) {
        packing.retry();
        // Without the lock: what was deferred may have to wait for writes of pages that it lets go of.
        epochs.reclaim();
        lock.lock();
        try {
            if (generations.active() == full) {
                failStop.check();
                requireOpen();
                awaitChange();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits a little for memory or space. */
    void awaitSignal() {
        lock.lock();
        try {
            awaitChange();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Under the lock, which others have meanwhile. Runs a task of the background instead, where nobody else does: one thread does
     * everything then, for which the order of locks does not matter.
     */
    private void awaitChange() {
        if (workers.runOneHere()) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        waiting++;
        try {
            room.awaitNanos(Math.min(ROOM_POLL_NANOS * waiting, ROOM_POLL_NANOS_MAX));
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            waiting--;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Tells waiting writers that memory was given back, or that something failed. */
    public void signalRoom() {
        lock.lock();
        try {
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Lets no writer wait any more, and no memtable be sealed; returns when nobody is about to seal one. */
    public void close() {
        closed = true;
        signalRoom();
    }
}
