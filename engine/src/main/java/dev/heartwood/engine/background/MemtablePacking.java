package dev.heartwood.engine.background;

import dev.heartwood.ClosedException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.merge.MemtablePacker;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.task.Priority;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Has the sealed memtables of a store packed into its tree, one after the other and the oldest first, and lets others wait for that.
 * Thread-safe.
 *
 * <p>A memtable that finds no memory beside others is tried once more alone ({@link MergeAdmission}). One that then finds none, or finds no
 * space, stays: whoever waits for it tries again, and so does what may have made room, beside others at first: all stores wait for one that
 * is to be alone. Any other failure latches the store.
 */
public final class MemtablePacking {
    /*
     * Shared field   read       written    guarded by
     * underWay       volatile   CAS        - ; whoever sets it packs, or has a worker do so, until it is cleared
     * packsAlone     plain      plain      underWay: belongs to who has set it
     * failure        volatile   volatile   underWay, for writing
     */
    private final Epochs epochs;
    private final BackgroundTasks tasks;
    private final Generations generations;
    private final MemtablePacker packer;
    private final MergeAdmission admission;
    private final FailStop failStop;
    private final BooleanSupplier isMerging;
    private final Consumer<PackedMemtables> whenPacked;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private final AtomicInteger packed = new AtomicInteger();
    // Made once, since a full Java heap must not keep a task that is announced from being submitted.
    private final Runnable packTask = () -> packAll(false);
    private final Runnable packAdmittedTask = () -> packAll(true);
    private final Runnable whenAdmitted = this::packAdmitted;
    /** Packing found no memory beside others, and is to be alone. */
    private boolean packsAlone;

    /** Why the last attempt to pack found no space or memory; null when it did not. */
    private volatile RuntimeException failure;

    /**
     * @param isMerging whether merges of the store are under way, which may give space or memory back
     * @param whenPacked is called for each memtable that the tree has now, by who has packed it
     */
    MemtablePacking(
            Epochs epochs,
            BackgroundTasks tasks,
            Generations generations,
            MemtablePacker packer,
            MergeAdmission admission,
            FailStop failStop,
            BooleanSupplier isMerging,
            Consumer<PackedMemtables> whenPacked) {
        this.epochs = epochs;
        this.tasks = tasks;
        this.generations = generations;
        this.packer = packer;
        this.admission = admission;
        this.failStop = failStop;
        this.isMerging = isMerging;
        this.whenPacked = whenPacked;
    }

    /** Memtables packed since the store was opened. */
    public int memtablesPacked() {
        return packed.get();
    }

    /** Whether memory of a sealed memtable is about to be given back. */
    public boolean isMemoryComing() {
        // In this order: the memtable leaves the list before the attempt ends, and by then its release is due.
        boolean isOwed = generations.oldestSealed() != null && !failStop.isFailed();
        return underWay.get() || isOwed && !isRefused();
    }

    /** Whether packing found no space or memory, and no merge is under way that may make some. */
    public boolean isRefused() {
        return failure != null && !isMerging.getAsBoolean();
    }

    /** Why the oldest sealed memtable found no space to be packed; null when it did, or was not tried. */
    public NoSpaceException refusal() {
        return failure instanceof NoSpaceException refusal ? refusal : null;
    }

    /** Has the sealed memtables packed, if nobody does so already. */
    public void packSoon() {
        if (tasks.mayBegin() && generations.oldestSealed() != null && tasks.announce(underWay)) {
            if (!tasks.submit(Priority.SEAL, packTask)) {
                end();
            }
        }
    }

    /** Packs again what found no space or memory before, because there may be some now. */
    void packAgain() {
        if (failure != null) {
            packSoon();
        }
    }

    private void packAll(boolean isAdmitted) {
        boolean ends = true;
        try {
            ends = packSealed(isAdmitted);
        } catch (Throwable e) {
            // The Java heap is full, say: nobody else would tell those who wait for the memtables.
            failStop.fail(e);
        }
        if (ends) {
            end();
        }
    }

    /** What was sealed since is begun before this has ended, so that nobody finds nothing under way. */
    private void end() {
        underWay.set(false);
        try {
            if (failure == null) {
                packSoon();
            }
        } finally {
            tasks.ended();
        }
    }

    /**
     * Packs what is sealed, the first memtable maybe as {@code isAdmitted} already, until others wait for a worker: writers may have another sealed as soon as
     * one is packed. Returns false when it goes on, behind those or once it is admitted.
     */
    private boolean packSealed(boolean isAdmitted) {
        boolean admitted = isAdmitted;
        boolean isRefused = false;
        Generation oldest = generations.oldestSealed();
        while (oldest != null && !isRefused && !failStop.isFailed()) {
            if (!admitted && !admission.admitPacking(packsAlone, whenAdmitted)) {
                return false;
            }
            isRefused = !tryPack(oldest);
            admission.releasePacking();
            admitted = false;
            oldest = generations.oldestSealed();
            if (oldest != null && !isRefused && tasks.isAnyWaiting()) {
                return !tasks.submit(Priority.SEAL, packTask);
            }
        }
        if (admitted) {
            admission.releasePacking();
        }
        return true;
    }

    private void packAdmitted() {
        if (!tasks.submit(Priority.SEAL, packAdmittedTask)) {
            admission.releasePacking();
            end();
        }
    }

    /** Returns whether to go on: with the next memtable, or alone with this one. */
    private boolean tryPack(Generation oldest) {
        try {
            pack(oldest);
            packsAlone = false;
            return true;
        } catch (NoSpaceException e) {
            // The memtable stays; whoever waits for it tries again, and so does what may have made room.
            packsAlone = false;
            failure = e;
        } catch (InsufficientMemoryException e) {
            if (!packsAlone) {
                packsAlone = true;
                return true;
            }
            packsAlone = false;
            failure = e;
        } catch (Throwable e) {
            failStop.fail(e);
        }
        return false;
    }

    private void pack(Generation sealed) {
        sealed.space().prepareNext();
        PackedMemtables one = PackedMemtables.of(sealed.memtable().chunkBytes());
        sealed.packed(packer.pack(sealed.memtable(), sealed.number()));
        failure = null;
        generations.removeOldest(sealed, epochs);
        epochs.reclaim();
        packed.incrementAndGet();
        tasks.signal();
        whenPacked.accept(one);
    }

    /** Waits until memtables before {@code generation} are in the tree, or cannot be packed now. */
    void awaitAttempts(long generation) {
        packSoon();
        tasks.lock();
        try {
            while (underWay.get() && oldestSealedNumber() < generation) {
                tasks.awaitChange();
            }
        } finally {
            tasks.unlock();
        }
    }

    /**
     * Waits until every memtable up to {@code generation} is in the tree. When an earlier attempt found no space, there is one
     * more; memory is waited for as long as merges hold some.
     *
     * @throws NoSpaceException when that attempt, too, finds no space
     * @throws InsufficientMemoryException when that attempt, too, finds no memory
     */
    public void awaitPacked(long generation) {
        boolean tried = false;
        tasks.lock();
        try {
            while (oldestSealedNumber() <= generation) {
                failStop.check();
                if (!underWay.get()) {
                    // Read after the flag: while an attempt runs, the failure is that of the one before.
                    RuntimeException last = failure;
                    boolean mayPass = last instanceof InsufficientMemoryException && isMerging.getAsBoolean();
                    if (tried && last != null && !mayPass) {
                        throw last;
                    }
                    if (tasks.isClosing()) {
                        throw new ClosedException("the store");
                    }
                    if (!tried || last == null) {
                        tried = true;
                        packSoon();
                        continue;
                    }
                }
                tasks.awaitChange();
            }
        } finally {
            tasks.unlock();
        }
    }

    /** Waits until the oldest sealed memtable is in the tree, if packing it failed; see {@link #awaitPacked}. */
    public void retry() {
        Generation oldest = generations.oldestSealed();
        if (failure != null && oldest != null) {
            awaitPacked(oldest.number());
        }
    }

    private long oldestSealedNumber() {
        Generation oldest = generations.oldestSealed();
        return oldest == null ? Long.MAX_VALUE : oldest.number();
    }
}
