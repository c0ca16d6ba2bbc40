package dev.heartwood.engine.background;

import dev.heartwood.ClosedException;
import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactions;
import dev.heartwood.engine.merge.MemtablePacker;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.trunk.TreeSummary;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Drives what a store does in the background: has sealed memtables packed ({@link MemtablePacking}), merges, makes checkpoints, and settles.
 * Thread-safe.
 *
 * <p>At most one packer and one checkpoint run at a time, and as many merges as there are workers. A failure to write latches the
 * store; a damaged page sets its merge aside; a page that cannot be read, a full device or a lack of buffers ends the merge, which
 * is planned again later.
 */
public final class Background {
    /** What the background asks of the rest of its store. */
    public interface Steps {
        /** Makes everything in the tree durable. */
        void checkpoint();

        /** Whether the last checkpoint has all of the tree. */
        boolean isCheckpointed();

        /** Checkpoints made since the store was opened. */
        long checkpoints();

        /**
         * Whether a store that were killed now would have space for all that its log has: the memtables that were packed since the last
         * checkpoint, and those that are not packed.
         */
        boolean canReplay(PackedMemtables packed);

        /** Tells waiting writers that something changed. */
        void signalRoom();

        /**
         * Memory of all memtables beyond what they have while packing is on time, as a share of what may be.
         *
         * @param isFirst whether none was packed yet: that takes several times as long before the JVM has compiled it
         */
        double memtableShare(boolean isFirst);
    }

    /** The turns of a settling: between two of them others have theirs. */
    public interface Turns {
        /** Whether others wait for theirs, who need not wait until all is settled. */
        boolean isOver();

        /** Lets those who wait go first. May find that the store was closed by then. */
        void next();
    }

    private static final int SCANS_PER_LOOK = 256;

    private final Epochs epochs;
    private final Workers workers;
    private final BackgroundTasks tasks;
    private final MemtablePacking packing;
    private final Generations generations;
    private final Compactions compactions;
    private final FailStop failStop;
    private final CheckpointDistance distance;
    private final QuietCheckpoint quietCheckpoint;
    private final long debtBytesMax;
    private final AtomicBoolean checkpointing = new AtomicBoolean();
    private final MergesUnderWay merging = new MergesUnderWay();
    private final AtomicReference<PackedMemtables> packedSinceCheckpoint = new AtomicReference<>(PackedMemtables.NONE);
    private final AtomicInteger scans = new AtomicInteger();
    // Made once, since a full Java heap must not keep a task that is announced from being submitted.
    private final Runnable mergeTask = this::mergeOne;
    private final Runnable checkpointTask = this::makeCheckpoint;
    private final BooleanSupplier isMergeToCome = this::isMergeToCome;
    /** Space is short, so that merges beside each other could find none where one would. */
    private volatile boolean isSpaceShort;

    /** A merge found no space that a checkpoint may make. */
    private volatile boolean checkpointNext;

    private volatile boolean endsSettling;

    private volatile Steps steps;

    public Background(
            Epochs epochs,
            Workers workers,
            Generations generations,
            MemtablePacker packer,
            Compactions compactions,
            MergeAdmission admission,
            FailStop failStop,
            CheckpointDistance distance,
            long debtBytesMax) {
        this.epochs = epochs;
        this.workers = workers;
        this.tasks = new BackgroundTasks(workers, failStop);
        this.packing = new MemtablePacking(
                epochs, tasks, generations, packer, admission, failStop, merging::isAny, this::packed);
        this.generations = generations;
        this.compactions = compactions;
        this.failStop = failStop;
        this.distance = distance;
        this.quietCheckpoint =
                new QuietCheckpoint(workers, () -> packing.memtablesPacked() + compactions.finished(), this::beginCheckpoint);
        this.debtBytesMax = debtBytesMax;
    }

    /** Begins; before the first write. */
    public void start(Steps storeSteps) {
        steps = storeSteps;
        tasks.whenChanged(storeSteps::signalRoom);
        compactions.whenFreed(this::mergeSoon, tasks::signal);
    }

    /** What is owed to the tree and to the memtables' memory, as a share of what may be. */
    public double owedShare() {
        return Math.max(memtableShare(), debtShare());
    }

    /** Memory of all memtables beyond what they have while packing is on time, as a share of what may be. */
    public double memtableShare() {
        return steps.memtableShare(packing.memtablesPacked() == 0);
    }

    /**
     * What is owed to the tree, as a share of what may be; no more than that while merges wait for space or fail for another reason, as over a page
     * that cannot be read: nobody makes up for that by writing less.
     */
    public double debtShare() {
        double share = (double) compactions.overdueBytes() / debtBytesMax;
        return isSpaceShort || compactions.isAnyFailing() ? Math.min(share, 1) : share;
    }

    /** What packs the sealed memtables. */
    public MemtablePacking packing() {
        return packing;
    }

    public long mergesSetAside() {
        return compactions.setAside();
    }

    /** A memtable is in the tree: by who has packed it. */
    private void packed(PackedMemtables memtable) {
        compactions.want();
        mergeSoon();
        packedSinceCheckpoint.accumulateAndGet(memtable, PackedMemtables::and);
        checkpointIfDue();
    }

    /** Sets the distance in memtables between checkpoints, and has one made when it is due now. */
    public void tuneDistance(int memtables) {
        distance.set(memtables);
        checkpointIfDue();
    }

    /**
     * Begins what is due in a store that was just opened: merges that it owes, and a checkpoint, where the replay has packed as much, or as
     * many generations of the log were found: of a store that is killed again and again each life has its own, however little it writes.
     */
    public void opened(PackedMemtables replayed, int generations) {
        packedSinceCheckpoint.accumulateAndGet(replayed.ofReplay(generations), PackedMemtables::and);
        checkpointIfDue();
        if (compactions.debtBytes() > 0) {
            mergeSoon();
        }
    }

    public int checkpointDistance() {
        return distance.memtables();
    }

    // Whoever packs counts first and then reads the distance, and whoever tunes sets it first and then reads the count.
    private void checkpointIfDue() {
        PackedMemtables packed = packedSinceCheckpoint.get();
        if (distance.isReached(packed) || !distance.isNear(packed) && !steps.canReplay(packed)) {
            checkpointSoon();
        }
    }

    /** Sets what space the tree may take for each byte of live entries, and has what is beyond it merged. */
    public void tuneSpace(double spaceAmplificationTarget) {
        compactions.targetSpace(spaceAmplificationTarget);
        mergeSoon();
    }

    /** Notes that {@code oldest} is the smallest sequence number now that is seen by a snapshot or cursor, and that it was a smaller one. */
    public void oldestViewClosed(long oldest) {
        if (compactions.oldestViewClosed(oldest)) {
            mergeSoon();
        }
    }

    /** Notes that the tree let go of something, which the last checkpoint still refers to. */
    public void discarded() {
        quietCheckpoint.lookLater();
    }

    public double spaceAmplification() {
        return compactions.spaceAmplification();
    }

    /** Has what another policy wants merged planned and done. */
    public void policyChanged() {
        compactions.want();
        mergeSoon();
    }

    /** Has done what only pays when there is nothing else to do. */
    public void quiet() {
        compactions.wantIdle();
        mergeSoon();
    }

    /**
     * Has leaves that have keys in {@code keys} made ready for scans, one after the other, as long as there is nothing else to do; null when
     * there is something again.
     */
    public void rest(Span keys) {
        if (compactions.rest(keys)) {
            mergeSoon();
        }
    }

    /** Has merges planned and done, as many at a time as there are workers. */
    void mergeSoon() {
        while (tasks.mayBegin() && compactions.isWanted()) {
            int mergesMax = isSpaceShort ? 1 : workers.count();
            // Looked at first, since who counts in vain has all who wait look again.
            if (!merging.mayBegin(mergesMax) || !tasks.begin()) {
                return;
            }
            if (!merging.tryBegin(mergesMax)) {
                tasks.ended();
                return;
            }
            if (!tasks.submit(Priority.COMPACT, mergeTask)) {
                merging.ended();
                tasks.ended();
                return;
            }
        }
    }

    private void mergeOne() {
        try {
            long before = compactions.finished();
            boolean more = tryMerge();
            packing.packAgain();
            if (compactions.finished() != before) {
                quietCheckpoint.lookLater();
            }
            // Also when something was wanted that no worker was free for.
            if (more || compactions.isNeeded()) {
                mergeSoon();
            }
        } finally {
            tasks.ended();
        }
    }

    /** Does a merge, if one is wanted; returns whether there may be more. */
    private boolean tryMerge() {
        try {
            boolean more = tasks.mayBegin() && compactions.runOne();
            epochs.reclaim();
            return more;
        } catch (CorruptionException
                | ReadFailedException
                | NoSpaceException
                | InsufficientMemoryException e) {
            // A checkpoint makes room first, if there is any to be had by it.
            boolean isCheckpointNext = e instanceof NoSpaceException && !steps.isCheckpointed();
            if (isCheckpointNext) {
                checkpointNext = true;
            }
            return compactions.failed(e, isCheckpointNext);
        } catch (Throwable e) {
            failStop.fail(e);
            return false;
        } finally {
            merging.ended();
        }
    }

    /** Notes that a cursor was opened: now and then, a quiet moment is spent on what scans would profit from. */
    public void scanned() {
        if ((scans.incrementAndGet() & SCANS_PER_LOOK - 1) == 0 && generations.oldestSealed() == null) {
            quiet();
        }
    }

    /** Has a checkpoint made, if none is under way. */
    void checkpointSoon() {
        beginCheckpoint();
    }

    /** As {@link #checkpointSoon}; returns whether one under way, which may have begun too early, is not the reason when none is made. */
    private boolean beginCheckpoint() {
        if (!tasks.mayBegin()) {
            return true;
        }
        boolean begins = tasks.announce(checkpointing);
        if (begins && !tasks.submit(Priority.CHECKPOINT, checkpointTask)) {
            checkpointing.set(false);
            tasks.ended();
        }
        return begins;
    }

    /** Makes a checkpoint; the next one is due so many memtables later. */
    public void checkpoint() {
        PackedMemtables packed = packedSinceCheckpoint.getAndSet(PackedMemtables.NONE);
        try {
            steps.checkpoint();
        } catch (RuntimeException | Error e) {
            // As due as it was: the log still has all of them.
            packedSinceCheckpoint.accumulateAndGet(packed, PackedMemtables::and);
            throw e;
        }
    }

    private void makeCheckpoint() {
        boolean done = false;
        try {
            done = tryCheckpoint();
            if (done) {
                compactions.want();
                mergeSoon();
            }
            packing.packAgain();
        } finally {
            endCheckpoint(done);
        }
    }

    private void endCheckpoint(boolean done) {
        checkpointing.set(false);
        try {
            if (done) {
                checkpointIfDue();
            }
        } finally {
            tasks.ended();
        }
    }

    /** Makes a checkpoint; returns whether there was space and memory for it. */
    private boolean tryCheckpoint() {
        try {
            checkpoint();
            return true;
        } catch (NoSpaceException | InsufficientMemoryException | TooLargeException e) {
            // The log keeps what there is, and merges go on, by which nodes that are too large for an image have fewer runs.
            compactions.failed(e, true);
        } catch (Throwable e) {
            failStop.fail(e);
        }
        return false;
    }

    /**
     * Waits until nothing is sealed, no merge is due, and no checkpoint is under way; others have their turns meanwhile. Returns whether merges
     * found no space that may find some after a checkpoint: because others have given some up, or because they were beside each other.
     */
    public boolean settle(Turns turns) {
        checkpointNext = false;
        long finished = compactions.finished();
        long withoutSpace = compactions.withoutSpace();
        compactions.retryWithoutSpace();
        settleMerges(turns);
        boolean isRefused = compactions.withoutSpace() != withoutSpace;
        boolean goesOn = isRefused && (checkpointNext || compactions.finished() != finished || !isSpaceShort);
        if (isRefused) {
            spaceIsShort();
        }
        return goesOn;
    }

    private void settleMerges(Turns turns) {
        while (!failStop.isFailed()) {
            if (endsSettling) {
                throw new ClosedException("the store");
            }
            if (turns.isOver()) {
                turns.next();
            }
            // What one worker finds while others merge or pack is not all there is: only a round without either is the last.
            boolean packs = generations.oldestSealed() != null;
            // Nodes that they come to would be merged twice.
            packing.awaitAttempts(generations.active().number());
            long before = compactions.finished();
            compactions.wantSettled();
            mergeSoon();
            boolean isQuiet = awaitQuiet(() -> endsSettling || turns.isOver());
            epochs.reclaim();
            boolean merged = compactions.finished() != before;
            if (isQuiet && !packs && generations.oldestSealed() == null && !compactions.isWanted() && !merged) {
                return;
            }
            packing.retry();
        }
        failStop.check();
    }

    /** Somebody wants to close the store: whoever settles it gives up, which may otherwise go on for as long as there are writes. */
    public void endSettling() {
        endsSettling = true;
        tasks.signal();
    }

    /** Somebody waits for a turn: whoever settles the store looks whether this one is over. */
    public void endTurn() {
        tasks.signal();
    }

    /** Has everything merged that frees space, one node after the other. */
    void settleSoon() {
        spaceIsShort();
        compactions.retryWithoutSpace();
        compactions.wantSettled();
        mergeSoon();
    }

    /** Somebody found no space: until some is found, merges that free most come first, one after the other. */
    public void spaceIsShort() {
        if (!isSpaceShort) {
            isSpaceShort = true;
            compactions.spaceIsShort(true);
        }
    }

    /** Leaves no space any more for the split that is waited for. Returns whether one was. */
    boolean giveUpSplits() {
        return compactions.giveUpSplits();
    }

    /** Space is not short any more. */
    public void spaceFound() {
        isSpaceShort = false;
        compactions.spaceIsShort(false);
        mergeSoon();
    }

    /** Whether space was short when some was wanted last. */
    public boolean isSpaceShort() {
        return isSpaceShort;
    }

    /** How often the tree has changed. */
    long treeChanges() {
        return compactions.treeChanges();
    }

    /** What the tree holds, superseded and deleted entries among them. Walks it. */
    TreeSummary tree() {
        return compactions.tree();
    }

    /** Whether the last checkpoint has all of the tree. */
    boolean isCheckpointed() {
        return steps.isCheckpointed();
    }

    /** Checkpoints made since the store was opened. */
    long checkpoints() {
        return steps.checkpoints();
    }

    /** Waits until nothing is under way; returns false when the wait was ended before that. */
    private boolean awaitQuiet(BooleanSupplier isEnded) {
        tasks.lock();
        try {
            while (isBusy()) {
                if (isEnded.getAsBoolean()) {
                    return false;
                }
                tasks.awaitChange();
            }
            return true;
        } finally {
            tasks.unlock();
        }
    }

    /** Whether anything is under way, or will be as soon as there is memory for it. */
    public boolean isBusy() {
        return tasks.isAnyUnderWay(isMergeToCome);
    }

    /** Merges that found no memory are due too, but for a store that closes. */
    private boolean isMergeToCome() {
        return !tasks.isClosing() && compactions.isRefused();
    }

    /** Plans nothing more: no checkpoint will have what comes of it. */
    public void stopPlanning() {
        tasks.close();
        quietCheckpoint.close();
    }

    /** Plans nothing more and waits for what is under way. */
    public void close() {
        stopPlanning();
        awaitQuiet(() -> false);
    }
}
