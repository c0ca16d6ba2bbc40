package dev.heartwood.engine.merge;

import dev.heartwood.CompactionFilter;
import dev.heartwood.CorruptionException;
import dev.heartwood.MergeOperator;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.trunk.OldestView;
import dev.heartwood.engine.trunk.TreeSummary;
import dev.heartwood.engine.trunk.Trunk;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BinaryOperator;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Finds the merges that a tree wants and does them, one for each call. Thread-safe. */
public final class Compactions {
    /** Looks for what scans have paid for, in all of which nothing was added to the tree, before it is taken to be at rest. */
    private static final int LOOKS_AT_REST = 16;

    /** Of two things that there is time for, the one that includes the other. */
    private static final BinaryOperator<Urge> GREATER = (x, y) -> x == null || y != null && y.compareTo(x) > 0 ? y : x;

    private final TreeStorage storage;
    private final Trunk trunk;
    private final Compactor compactor;
    private final SpaceReclaim space;
    private final Supplier<long[]> snapshots;
    private final OldestView oldestView;
    private final MergeAdmission admission;
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicBoolean idling = new AtomicBoolean();
    private final AtomicBoolean reclaiming = new AtomicBoolean();
    private final AtomicLong finished = new AtomicLong();
    private final AtomicLong setAside = new AtomicLong();
    private final AtomicLong withoutSpace = new AtomicLong();
    private final AtomicInteger refusals = new AtomicInteger();
    /** How often a merge that was refused has been told that it may come again. */
    private final AtomicLong told = new AtomicLong();
    private volatile Runnable whenFreed = () -> {};
    private volatile Runnable whenNotRefused = () -> {};
    /** How often something was wanted, and how many of those wants are dealt with: nothing was found to do, or it could not be done. */
    private final AtomicLong wants = new AtomicLong(1);

    private final AtomicLong dealtWith = new AtomicLong();
    private final Runnable freed = this::freed;
    /** What there is time for; null when there is none. */
    private final AtomicReference<Urge> quiet = new AtomicReference<>();
    /** Whether there was time for more than a view let be done: that is done when it is closed. */
    private volatile boolean isQuietHeldBack;
    /** The generation of the tree when somebody began to wait for all that frees space. */
    private volatile long settledFrom;

    /** The keys whose leaves there is time to merge whole; null when there is none. */
    private volatile Span resting;

    /** Whether something needed could not be begun, perhaps since its node was being merged for what is not needed of it. */
    private volatile boolean isNeededBeside;

    /** Merges that nobody needed and that failed. */
    private final AtomicLong quietFailures = new AtomicLong();

    private volatile RuntimeException lastFailure;
    // Guarded by idling.
    private long generationSeen;
    private int looksAtRest;

    /**
     * @param admission shared with all trees that share the memory for merges
     * @param distanceBytes what the store writes between two checkpoints
     */
    public Compactions(
            TreeStorage storage,
            Trunk trunk,
            MergeAdmission admission,
            LongSupplier distanceBytes,
            Supplier<long[]> snapshots,
            MergeOperator operator,
            CompactionFilter filter) {
        this.storage = storage;
        this.trunk = trunk;
        this.compactor = new Compactor(storage, trunk, new MergeOutput(storage, trunk, distanceBytes), operator, filter);
        this.space = new SpaceReclaim(storage, trunk);
        this.snapshots = snapshots;
        this.oldestView = new OldestView(snapshots, trunk::sequenceMax);
        this.admission = admission;
    }

    /**
     * Sets what is called, later and by any thread, when a merge found no memory and there may be some: {@code merging} while it
     * {@link #isRefused} still, so that nobody who looks finds nothing under way, and {@code told} when it is not any more.
     */
    public void whenFreed(Runnable merging, Runnable told) {
        whenFreed = merging;
        whenNotRefused = told;
    }

    /** Whether a merge found no memory, and {@link #whenFreed} is still to be called. */
    public boolean isRefused() {
        return refusals.get() > 0;
    }

    /** Bytes that are waiting to be merged. */
    public long debtBytes() {
        return trunk.debtBytes();
    }

    /** Of these, the bytes that should have been merged by now. */
    public long overdueBytes() {
        return trunk.overdueBytes();
    }

    /** Whether merges that are needed have failed and are still to be done: those that owe more than others for other reasons than time. */
    public boolean isAnyFailing() {
        return trunk.isAnyMergeFailing();
    }

    /** How often the tree has changed. */
    public long treeChanges() {
        return trunk.changes();
    }

    /** What the tree holds, superseded and deleted entries among them. Walks it. */
    public TreeSummary tree() {
        return TreeSummary.of(trunk);
    }

    /** Whether {@link #runOne} may find something to do. */
    public boolean isWanted() {
        return isNeeded() || quiet.get() != null;
    }

    /** Whether something is wanted that no {@link #runOne} has dealt with. */
    public boolean isNeeded() {
        return wants.get() != dealtWith.get();
    }

    private void dealtWith(long wantsSeen) {
        dealtWith.accumulateAndGet(wantsSeen, Math::max);
    }

    /** Merges done since the store was opened. */
    public long finished() {
        return finished.get();
    }

    /** Merges that met damage since the store was opened; their input is not merged again before it is opened anew. */
    public long setAside() {
        return setAside.get();
    }

    /** Has merges keep the tree's space within so many bytes for each one of live entries. */
    public void targetSpace(double spaceAmplification) {
        space.target(spaceAmplification);
        want();
    }

    /** Bytes of all entries for each one of live entries, as estimated last; 0 before the first time. */
    public double spaceAmplification() {
        return space.spaceAmplification();
    }

    /** Says that the tree has changed. */
    public void want() {
        wants.incrementAndGet();
    }

    /** Says that there is time for what only pays in quiet moments. */
    public void wantIdle() {
        quiet.accumulateAndGet(Urge.IDLE, GREATER);
        want();
    }

    /** Says whether space is short, so that what frees most has to come first. */
    public void spaceIsShort(boolean isShort) {
        trunk.spaceIsShort(isShort);
    }

    /** Has growth leave no space any more for the split that it waits for. Returns whether it waited for one. */
    public boolean giveUpSplits() {
        return trunk.giveUpSplits();
    }

    /** Has merges planned again for which there was no space. */
    public void retryWithoutSpace() {
        trunk.retryWithoutSpace();
    }

    /** Says that somebody waits for everything that frees space. */
    public void wantSettled() {
        settledFrom = trunk.version().generation();
        quiet.set(Urge.SETTLING);
        // Last: who merges may have looked for what there is time for already, and looks again for what was wanted since.
        want();
    }

    /**
     * Says that there is time to make leaves that have keys in {@code keys} one run each, with what nodes above hold for them; or, with null,
     * that there is none any more. Returns whether something is wanted by that.
     */
    public boolean rest(Span keys) {
        boolean begins = keys != null && resting == null;
        resting = keys;
        if (begins) {
            want();
        }
        return begins;
    }

    /** Does one merge; returns whether there may be more. */
    public boolean runOne() {
        // What is wanted from here on is not dealt with by what is found below.
        long seen = wants.get();
        if (settlesFirst()) {
            CompactionPlan whole = planQuiet(Urge.SETTLING);
            if (whole != null) {
                return runQuiet(whole, seen);
            }
        }
        CompactionPlan plan = planNeeded(seen);
        if (plan != null) {
            return runNeeded(plan, seen);
        }
        try {
            return runUnneeded(seen);
        } catch (RuntimeException | Error e) {
            dealtWith(seen);
            throw e;
        }
    }

    /**
     * Whether a node is merged as somebody waits for before it is as it needs to be, which is part of that: what is merged twice is written
     * twice. Only while nothing is added to the tree: whoever writes waits for what is needed. Where space is short each merge takes its turn.
     */
    private boolean settlesFirst() {
        return quiet() == Urge.SETTLING && !trunk.isSpaceShort() && trunk.version().generation() == settledFrom;
    }

    /** A merge that fails leaves what is wanted to the others; once nothing else is needed, it is tried again for the next want. */
    private boolean runNeeded(CompactionPlan plan, long seen) {
        try {
            return run(plan, seen);
        } catch (RuntimeException | Error e) {
            trunk.passOver(plan);
            throw e;
        }
    }

    private boolean runUnneeded(long seen) {
        Urge urge = quiet();
        if (urge == Urge.SETTLING) {
            return runWithTime(urge, seen);
        }
        // Nobody waits for these, and whoever scans wants the other processors.
        if (urge != null && idling.compareAndSet(false, true)) {
            try {
                if (runWithTime(urge, seen)) {
                    return true;
                }
            } finally {
                idling.set(false);
            }
        }
        return runReclaiming(seen) || runResting(seen);
    }

    /** A merge for the sake of space: one at a time, and none beside others, so that whatever the tree needs comes first. */
    private boolean runReclaiming(long seen) {
        while (running.get() == 0 && reclaiming.compareAndSet(false, true)) {
            boolean held;
            boolean waits;
            try {
                CompactionPlan plan = space.plan(oldestView.sequence());
                if (plan != null) {
                    return runUnasked(plan, seen);
                }
                // The next change of the tree asks again, or who closes the view that holds it back.
                held = space.isHeldBack();
                waits = oldestView.isWaitedFor(space.enoughToSee());
            } finally {
                reclaiming.set(false);
            }
            // When that view was closed meanwhile, who came because of it may have found this one here.
            if (waits ? oldestView.isStillWaitedFor() : !held) {
                return false;
            }
        }
        return false;
    }

    /** A merge of a leaf that scans would look into several runs for; likewise. */
    private boolean runResting(long seen) {
        Span keys = resting;
        if (keys == null || running.get() != 0 || !reclaiming.compareAndSet(false, true)) {
            return false;
        }
        try {
            CompactionPlan plan = trunk.planResting(keys);
            return plan != null && runUnasked(plan, seen);
        } finally {
            reclaiming.set(false);
        }
    }

    /** A merge that nobody waits for. Where it cannot be read, others are that can. */
    private boolean runUnasked(CompactionPlan plan, long seen) {
        try {
            return runQuiet(plan, seen);
        } catch (CorruptionException | ReadFailedException e) {
            want();
            throw e;
        }
    }

    /**
     * Says that the oldest view was closed, and which sequence number the one sees that is the oldest now, Long.MAX_VALUE when there is none.
     * Reads a flag unless merges were held back. Returns whether they are wanted now.
     */
    public boolean oldestViewClosed(long oldest) {
        if (!oldestView.closed(oldest)) {
            return false;
        }
        if (isQuietHeldBack) {
            isQuietHeldBack = false;
            wantIdle();
        } else {
            want();
        }
        return true;
    }

    private boolean runWithTime(Urge urge, long seen) {
        CompactionPlan plan = planQuiet(urge);
        return plan != null && runQuiet(plan, seen);
    }

    /** A merge that fails leaves quiet moments to the others. */
    private boolean runQuiet(CompactionPlan plan, long seen) {
        try {
            return run(plan, seen);
        } catch (NoSpaceException e) {
            trunk.passOverWithoutSpace(plan);
            wantWhatIsNeededBeside();
            throw e;
        } catch (RuntimeException | Error e) {
            trunk.passOverQuiet(plan);
            wantWhatIsNeededBeside();
            throw e;
        }
    }

    private void wantWhatIsNeededBeside() {
        quietFailures.incrementAndGet();
        if (isNeededBeside) {
            isNeededBeside = false;
            want();
        }
    }

    private boolean run(CompactionPlan plan, long seen) {
        MergeMemory memory;
        int chunkPages;
        long toldBefore = told.get();
        refusals.incrementAndGet();
        try {
            memory = MergeMemory.of(plan, storage);
            chunkPages = admission.admitMerge(memory, freed);
        } catch (RuntimeException | Error e) {
            refusals.decrementAndGet();
            trunk.abandon(plan);
            throw e;
        }
        if (chunkPages == 0) {
            // Whoever has memory again wants it anew, or has done so already.
            dealtWith(seen);
            trunk.abandon(plan);
            if (told.get() != toldBefore) {
                // Who looked for it then may not have found it, for its node seemed to be under a merge.
                want();
            }
            return false;
        }
        refusals.decrementAndGet();
        running.incrementAndGet();
        try {
            carryOut(plan, memory, chunkPages);
            finished.incrementAndGet();
        } finally {
            running.decrementAndGet();
            admission.releaseMerge(memory.bytes(chunkPages));
        }
        want();
        return true;
    }

    private void freed() {
        told.incrementAndGet();
        try {
            want();
            whenFreed.run();
        } finally {
            refusals.decrementAndGet();
            whenNotRefused.run();
        }
    }

    private void carryOut(CompactionPlan plan, MergeMemory memory, int chunkPages) {
        Compactor.Result result = merge(plan, memory, chunkPages);
        // The plan is the trunk's from here on, also where it fails.
        trunk.install(plan, result.bundle(), result.mergedPosition());
    }

    private Compactor.Result merge(CompactionPlan plan, MergeMemory memory, int chunkPages) {
        try {
            storage.extents().keepForCheckpoint((int) (trunk.imageBytes() / PageLayout.EXTENT_BYTES));
            return compactor.run(plan, snapshots.get(), memory, chunkPages);
        } catch (CorruptionException e) {
            trunk.setAside(plan);
            setAside.incrementAndGet();
            throw e;
        } catch (RuntimeException | Error e) {
            trunk.abandon(plan);
            throw e;
        }
    }

    private CompactionPlan planNeeded(long seen) {
        if (seen == dealtWith.get()) {
            return null;
        }
        long failedBefore = quietFailures.get();
        CompactionPlan plan = trunk.plan(Urge.NEEDED);
        if (plan == null) {
            dealtWith(seen);
            if (trunk.debtBytes() > 0) {
                isNeededBeside = true;
                if (quietFailures.get() != failedBefore) {
                    want(); // one that failed meanwhile may not have seen it
                }
            }
        }
        return plan;
    }

    /** What there is time for, once nobody is about to find out whether that still holds. */
    private synchronized Urge quiet() {
        return quiet.get();
    }

    /** One thread at a time: others would take what it looks at for done, and merge what is only needed of it. */
    private synchronized CompactionPlan planQuiet(Urge urge) {
        // What somebody else wants meanwhile stays wanted.
        quiet.compareAndSet(urge, null);
        // A view may see what nobody else does: to merge for the sake of that would come to nothing, again and again.
        boolean heldBack = oldestView.isWaitedFor();
        if (heldBack) {
            isQuietHeldBack = true;
            if (!oldestView.isStillWaitedFor()) {
                // Who closed it meanwhile may not have seen that there was time.
                want();
                quiet.accumulateAndGet(urge, GREATER);
            }
        }
        boolean moved = !heldBack && trunk.balanceQuiet(urge);
        CompactionPlan plan = trunk.plan(heldBack ? Urge.SCANNED : urge);
        if (plan == null && urge == Urge.IDLE && isAtRest()) {
            plan = trunk.planScanned();
        }
        if (plan == null) {
            trunk.retryQuiet();
            retryIfThereIsSpace();
        }
        if (plan != null || moved) {
            quiet.accumulateAndGet(urge, GREATER);
            if (moved) {
                want();
            }
        }
        return plan;
    }

    /** Merges that found no space come again in the next quiet moment if there is some: where it was never short, nobody says that it is found. */
    private void retryIfThereIsSpace() {
        if (trunk.isAnyWithoutSpace() && storage.extents().hasForMerges(trunk.mergeExtents())) {
            trunk.retryWithoutSpace();
        }
    }

    /** Whether nothing was added to the tree for some looks: else what nodes hold moves on with what comes. For the thread that idles. */
    private boolean isAtRest() {
        long generation = trunk.version().generation();
        looksAtRest = generation == generationSeen ? Math.min(looksAtRest + 1, LOOKS_AT_REST) : 0;
        generationSeen = generation;
        return looksAtRest == LOOKS_AT_REST;
    }

    /**
     * Notes a merge that could not be done now; it is planned again when the tree changes, or when there is nothing else to do. Others are done
     * meanwhile, unless {@code isLast}; where nobody waits for them, only if it could not be read. Returns whether there may be any.
     */
    public boolean failed(RuntimeException failure, boolean isLast) {
        lastFailure = failure;
        withoutSpace.addAndGet(failure instanceof NoSpaceException ? 1 : 0);
        boolean isUnread = failure instanceof CorruptionException || failure instanceof ReadFailedException;
        Urge urge = quiet();
        boolean goesOn = !isLast && (urge == Urge.SETTLING || urge != null && isUnread);
        if (!goesOn) {
            quiet.set(null);
        }
        return goesOn;
    }

    /** How often something found no space since the store was opened. */
    public long withoutSpace() {
        return withoutSpace.get();
    }

    /** The last reason why a merge could not be done; null when there was none. */
    public RuntimeException lastFailure() {
        return lastFailure;
    }
}
