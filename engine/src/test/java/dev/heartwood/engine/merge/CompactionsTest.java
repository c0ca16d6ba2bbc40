package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.trunk.TreeSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When there is something to merge, and when there is not. */
class CompactionsTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);

    private final TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(true));
    /** What happens when a merge, or whoever looks for one, asks for the live snapshots. */
    private volatile Runnable asked = () -> {};

    private long[] views = {};

    /** What happens once the next merge has been refused, given what tells it that it may come again; null where it is not refused. */
    private Consumer<Runnable> refused;

    private final Compactions compactions = new Compactions(
            tree.storage,
            tree.trunk,
            new MergeAdmission(tree.pool) {
                @Override
                public int admitMerge(MergeMemory memory, Runnable whenFreed) {
                    Consumer<Runnable> meanwhile = refused;
                    refused = null;
                    if (meanwhile == null) {
                        return super.admitMerge(memory, whenFreed);
                    }
                    meanwhile.accept(whenFreed);
                    return 0;
                }
            },
            () -> 0,
            () -> {
                long[] seen = views;
                asked.run();
                return seen;
            },
            tree.operator(),
            null);

    @AfterEach
    void close() {
        tree.storage.close();
        tree.releaseAll();
        tree.close();
    }

    private void write() {
        write(200);
    }

    private void write(int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put("key" + i, "value ".repeat(20));
        }
        tree.pack();
        compactions.want();
    }

    /** Writes 200 of many keys. */
    private void writeSome(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 200; i++) {
            tree.put("key" + random.nextInt(8000), "value ".repeat(20));
        }
        tree.pack();
        compactions.want();
    }

    @Test
    void nothingIsNeededOnceThereIsNothingToMerge() {
        write();
        write();
        while (compactions.runOne()) {
            assertTrue(compactions.isNeeded(), "after a merge there may be more");
        }
        assertTrue(compactions.finished() > 0);
        assertFalse(compactions.isNeeded());
    }

    /** It was looked for while the node seemed to be under the merge that had been refused, and then forgotten. */
    @Test
    void aMergeThatIsToldBeforeItHasGivenUpIsStillWanted() {
        write();
        write();
        while (waiting(Urge.NEEDED) == 0) {
            write();
        }
        refused = whenFreed -> {
            whenFreed.run();
            while (compactions.runOne()) {}
            assertFalse(compactions.isNeeded(), "nothing was found");
        };
        assertFalse(compactions.runOne(), "refused");
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne(), "and is found");
    }

    /** Merges that were refused one beside the other had each other looked for again and again, which none of them gained by. */
    @Test
    void aMergeThatIsRefusedBesideAnotherWantsNothingBeforeItIsTold() {
        write();
        write();
        while (waiting(Urge.NEEDED) == 0) {
            write();
        }
        List<Runnable> told = new ArrayList<>();
        refused = whenFreed -> {
            told.add(whenFreed);
            compactions.want();
            while (compactions.runOne()) {}
        };
        assertFalse(compactions.runOne(), "refused");
        assertFalse(compactions.isNeeded());
        told.forEach(Runnable::run);
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne(), "and is found");
    }

    /** Leaves a tree of which merges are needed, and that somebody waits for; returns what merges have written. */
    private long writtenBeforeItSettles() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
            if (i < 30) {
                while (compactions.runOne()) {}
            }
        }
        assertTrue(waiting(Urge.NEEDED) > 2, "merges are needed");
        compactions.wantSettled();
        return tree.trunk.events().bytesWritten();
    }

    private void assertWrittenOnceSince(long before) {
        long written = tree.trunk.events().bytesWritten() - before;
        long settled = TreeSummary.of(tree.trunk).dataBytes();
        assertTrue(written <= settled * 11 / 10, written + " bytes written for " + settled);
    }

    /** What is needed is part of what somebody waits for, and so is what nodes above hold: each entry is written once, not once for each. */
    @Test
    void whoSettlesHasNothingMergedTwice() {
        long before = writtenBeforeItSettles();
        assertEquals(0, runAll());
        assertWrittenOnceSince(before);
        assertEquals(0, waiting(Urge.SETTLING));
    }

    /** Whoever comes while another finds out what there is time for waits for that, and does not take what is needed for all. */
    @Test
    void whoSettlesBesideAnotherHasNothingMergedTwice() throws InterruptedException {
        long before = writtenBeforeItSettles();
        Thread beside = new Thread(() -> {
            while (compactions.runOne()) {}
        });
        asked = () -> {
            asked = () -> {};
            beside.start();
            while (beside.getState() != Thread.State.BLOCKED && beside.isAlive()) {
                Thread.onSpinWait();
            }
        };
        assertTrue(compactions.runOne());
        beside.join();
        assertEquals(0, runAll());
        assertWrittenOnceSince(before);
    }

    /** While others write they are not kept waiting for what is wanted beyond what is needed. */
    @Test
    void whatIsNeededComesFirstOnceSomethingWasAdded() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
        }
        compactions.wantSettled();
        writeSome(40);
        int needed = waiting(Urge.NEEDED);
        assertTrue(needed > 1, needed + " merges are needed");
        assertTrue(compactions.runOne());
        assertEquals(needed - 1, waiting(Urge.NEEDED));
    }

    /** A rest makes each leaf in some keys one run, with what the root holds for it, and stops when it is over. */
    @Test
    void aRestLeavesNothingToBeMergedAtLeavesThatScansCameTo() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
            while (compactions.runOne()) {}
        }
        int scattered = scattered(Span.ALL);
        assertTrue(scattered > 1, scattered + " leaves");
        TrunkNode root = tree.trunk.version().root();
        Span keys = new Span(null, root.pivotSpan(root.pivotCount() / 2, Span.ALL).from());
        assertTrue(compactions.rest(keys));
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne());
        compactions.rest(null);
        while (compactions.runOne()) {}
        assertTrue(scattered(keys) > 0, "it was over");
        assertTrue(compactions.rest(keys));
        assertFalse(compactions.rest(keys), "it has begun already");
        while (compactions.runOne()) {}
        assertEquals(0, scattered(keys));
        assertTrue(scattered(Span.ALL) > 0, "nobody scans the others");
    }

    /** Leaves with keys in a span that a scan would look into several runs for. */
    private int scattered(Span keys) {
        return scattered(List.of(), tree.trunk.version().root(), Span.ALL, keys);
    }

    private record Step(TrunkNode node, int pivot) {}

    private static int scattered(List<Step> above, TrunkNode node, Span span, Span keys) {
        if (node.isLeaf()) {
            int runs = node.liveRuns(0, node.runCount());
            for (Step step : above) {
                runs += NodeMeasure.activeRuns(step.node, step.pivot, span);
            }
            return runs > 1 && !span.intersect(keys).isEmpty() ? 1 : 0;
        }
        int count = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            List<Step> path = new ArrayList<>(above);
            path.add(new Step(node, p));
            count += scattered(path, node.pivot(p).child(), node.pivotSpan(p, span), keys);
        }
        return count;
    }

    @Test
    void aMergeThatFailsIsNotTriedAgainUntilSomethingIsWanted() {
        write();
        write();
        asked = () -> {
            throw new IllegalStateException("met by a merge");
        };
        assertThrows(IllegalStateException.class, compactions::runOne);
        assertFalse(compactions.isRefused());
        asked = () -> {};
        while (compactions.runOne()) {}
        assertFalse(compactions.isNeeded());
        CompactionPlan again = tree.trunk.plan(Urge.NEEDED);
        assertNotNull(again, "what failed waits");
        tree.trunk.abandon(again);
        compactions.want();
        while (compactions.runOne()) {}
        assertEquals(0, tree.trunk.debtBytes());
    }

    /** What is needed of a node while it is merged for what nobody needs is done once that has failed, though nothing else comes. */
    @Test
    void whatIsNeededBesideAMergeThatFailsIsDone() {
        write(40);
        write(40);
        while (compactions.runOne()) {}
        assertEquals(0, waiting(Urge.NEEDED));
        assertTrue(waiting(Urge.IDLE) > 0, "there is time for something");
        // The first call asks whether to merge at all.
        failOnCall(2, () -> {
            for (int i = 0; i < 6; i++) {
                write(40);
            }
            assertFalse(compactions.runOne(), "its node is being merged");
            assertFalse(compactions.isNeeded());
            return new InsufficientMemoryException("met by a merge");
        });
        compactions.wantIdle();
        assertThrows(InsufficientMemoryException.class, compactions::runOne);
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne());
        while (compactions.runOne()) {}
        assertEquals(0, tree.trunk.debtBytes());
    }

    /** A merge that cannot be done, as over a page that cannot be read, is the most wanted one each time. */
    @Test
    void aMergeThatFailsHoldsNoOtherUp() {
        for (int round = 0; round < 60; round++) {
            write();
            if (round % 4 == 0) {
                compactions.runOne();
            }
        }
        CompactionPlan first = tree.trunk.plan(Urge.NEEDED);
        CompactionPlan second = tree.trunk.plan(Urge.NEEDED);
        assertNotNull(second, "two merges wait");
        tree.trunk.abandon(second);
        tree.trunk.abandon(first);
        asked = () -> {
            throw new IllegalStateException("met by a merge");
        };
        assertThrows(IllegalStateException.class, compactions::runOne);
        asked = () -> {};
        assertTrue(compactions.isNeeded());
        assertTrue(compactions.runOne(), "another one");
        while (compactions.runOne()) {}
        compactions.want();
        while (compactions.runOne()) {}
        assertEquals(0, tree.trunk.debtBytes());
    }

    /** While somebody writes some merge is always needed, and what failed once would wait for as long. */
    @Test
    void aMergeThatFailedIsTriedAgainAfterSomeOthersThoughMoreAreNeeded() {
        for (int i = 0; i < 120; i++) {
            writeSome(i);
        }
        CompactionPlan first = tree.trunk.plan(Urge.NEEDED);
        tree.trunk.abandon(first);
        assertFalse(compactions.isAnyFailing());
        tree.trunk.passOver(first);
        int done = 0;
        while (!first.node().equals(nextNeeded())) {
            assertTrue(compactions.runOne());
            done++;
        }
        assertTrue(done > 1 && done < 40, "tried again after " + done);
        assertTrue(waiting(Urge.NEEDED) > 1, "others are needed, too");
        assertTrue(compactions.isAnyFailing(), "what it owes tells nothing of how fast merges are");
        assertTrue(compactions.runOne());
        assertFalse(compactions.isAnyFailing());
    }

    /** As of a node that was split, or whose range was discarded. */
    @Test
    void whatFailedAndIsGoneIsForgottenOnceNothingIsOwed() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
        }
        CompactionPlan first = tree.trunk.plan(Urge.NEEDED);
        tree.trunk.passOver(first);
        tree.trunk.abandon(first);
        tree.trunk.discard(Span.ALL);
        assertEquals(0, tree.trunk.debtBytes());
        assertFalse(compactions.isAnyFailing());
    }

    private TrunkNode nextNeeded() {
        CompactionPlan plan = tree.trunk.plan(Urge.NEEDED);
        assertNotNull(plan);
        tree.trunk.abandon(plan);
        return plan.node();
    }

    /** It is the worst node each time that space is looked for. */
    @Test
    void aMergeForSpaceThatFailsHoldsNoOtherUp() {
        for (int i = 0; i < 80; i++) {
            writeSome(i % 20);
            while (compactions.runOne()) {}
        }
        compactions.targetSpace(1.01);
        long[] finished = new long[1];
        // The first call asks what views see.
        failOnCall(2, () -> {
            finished[0] = compactions.finished();
            return unreadable();
        });
        assertEquals(1, runAll());
        assertTrue(compactions.finished() > finished[0], "others are merged");
    }

    /** As a cursor finds, beside who settles. */
    @Test
    void whoSettlesGoesOnThoughAQuietMomentIsFoundBesideIt() {
        writeAndDelete();
        assertTrue(waiting(Urge.SETTLING) > 2);
        compactions.wantSettled();
        onCall(1, () -> {
            compactions.wantIdle();
            failOnCall(1, () -> new InsufficientMemoryException("none"));
        });
        assertEquals(1, runAll());
        int left = waiting(Urge.SETTLING);
        assertTrue(left <= 1, left + " merges wait");
    }

    /** As a store does; returns how many merges could not be done. */
    private int runAll() {
        int failures = 0;
        boolean more = true;
        while (more || compactions.isNeeded()) {
            try {
                more = compactions.runOne();
            } catch (ReadFailedException | InsufficientMemoryException e) {
                failures++;
                more = compactions.failed(e, false);
            }
        }
        return failures;
    }

    /** Merges that an urge would have done now. */
    private int waiting(Urge urge) {
        List<CompactionPlan> plans = plans(urge);
        plans.forEach(tree.trunk::abandon);
        return plans.size();
    }

    /** Those merges, under way from now on. */
    private List<CompactionPlan> plans(Urge urge) {
        List<CompactionPlan> plans = new ArrayList<>();
        for (CompactionPlan plan = tree.trunk.plan(urge); plan != null; plan = tree.trunk.plan(urge)) {
            plans.add(plan);
        }
        return plans;
    }

    /** Some leaves with many tombstones each, which only quiet moments have time for. */
    private void writeAndDelete() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
            while (compactions.runOne()) {}
        }
        List<String> keys = List.copyOf(tree.history.at(Entries.NEWEST).keySet());
        for (int i = 0; i < keys.size(); i += 2) {
            tree.delete(keys.get(i));
        }
        tree.pack();
        compactions.want();
        while (compactions.runOne()) {}
        while (tree.trunk.balanceQuiet(Urge.IDLE)) {
            compactions.want();
            while (compactions.runOne()) {}
        }
    }

    private static ReadFailedException unreadable() {
        return new ReadFailedException(5, "EIO", "read", "data", 0);
    }

    private void failOnCall(int calls, Supplier<RuntimeException> failure) {
        onCall(calls, () -> {
            throw failure.get();
        });
    }

    @Test
    void aQuietMergeThatCannotReadHoldsNoOtherUp() {
        writeAndDelete();
        int waiting = waiting(Urge.IDLE);
        assertTrue(waiting > 2, waiting + " merges wait");
        compactions.wantIdle();
        // The first call asks whether to merge at all.
        failOnCall(2, CompactionsTest::unreadable);
        assertEquals(1, runAll());
        int left = waiting(Urge.IDLE);
        assertTrue(left <= 1, left + " merges wait");
        compactions.wantIdle();
        assertEquals(0, runAll());
        assertEquals(0, waiting(Urge.IDLE));
    }

    /** A store at rest is told once that there is time. */
    @Test
    void whatAViewHoldsBackInAQuietMomentIsMergedWhenItIsClosed() {
        views = new long[] {1};
        tree.snapshots.add(1L);
        writeAndDelete();
        compactions.wantIdle();
        assertEquals(0, runAll());
        tree.snapshots.clear();
        int waiting = waiting(Urge.IDLE);
        assertTrue(waiting > 2, waiting + " merges wait");
        assertTrue(closeView());
        assertEquals(0, runAll());
        assertEquals(0, waiting(Urge.IDLE));
    }

    /** Those for which there was no space come again when there is plenty, though nobody settles. */
    @Test
    void aQuietMergeWithoutSpaceIsPlannedAgainOnceThereIsSome() {
        writeAndDelete();
        int waiting = waiting(Urge.IDLE);
        assertTrue(waiting > 2, waiting + " merges wait");
        compactions.spaceIsShort(true);
        tree.trunk.passOverWithoutSpace(onePlan());
        compactions.spaceIsShort(false);
        assertEquals(waiting, waiting(Urge.IDLE));
    }

    /** As where only that merge found none, beside what others held for a while. */
    @Test
    void aQuietMergeWithoutSpaceIsPlannedAgainThoughSpaceWasNeverShort() {
        writeAndDelete();
        tree.trunk.passOverWithoutSpace(onePlan());
        compactions.wantIdle();
        assertEquals(0, runAll());
        assertEquals(1, waiting(Urge.IDLE));
        compactions.wantIdle();
        assertEquals(0, runAll());
        assertEquals(0, waiting(Urge.IDLE));
    }

    /** As {@link #writeAndDelete}, of which a view that sees the first write alone would hold something back. */
    private void writeUnderView() {
        tree.snapshots.add(1L);
        writeAndDelete();
        tree.snapshots.clear();
    }

    /** With several workers one may look before a view is opened that holds another one back. */
    @Test
    void whatAViewHoldsBackIsMergedWhenItIsClosedAlsoIfAnotherHadLookedBeforeIt() {
        writeUnderView();
        while (tree.trunk.balanceQuiet(Urge.SETTLING)) {}
        List<CompactionPlan> underWay = plans(Urge.SETTLING);
        assertTrue(underWay.size() > 2, underWay.size() + " merges wait");
        compactions.wantSettled();
        onCall(1, () -> {
            views = new long[] {1};
            compactions.wantSettled();
            assertFalse(compactions.runOne(), "the view holds it back");
        });
        assertFalse(compactions.runOne(), "all are under way");
        underWay.forEach(tree.trunk::abandon);
        assertTrue(closeView());
        assertEquals(0, runAll());
        assertEquals(0, waiting(Urge.IDLE));
    }

    /** Between the look at it and the note that it holds something back. */
    @Test
    void whatAViewHoldsBackIsMergedAlsoIfItIsClosedMeanwhile() {
        writeUnderView();
        assertTrue(waiting(Urge.IDLE) > 2);
        views = new long[] {1};
        compactions.wantIdle();
        onCall(2, () -> assertTrue(closeView()));
        assertEquals(0, runAll());
        assertEquals(0, waiting(Urge.IDLE));
    }

    private CompactionPlan onePlan() {
        CompactionPlan plan = tree.trunk.plan(Urge.IDLE);
        tree.trunk.abandon(plan);
        return plan;
    }

    /** Where others would find no memory either, and nobody waits for them, the next quiet moment begins with another. */
    @Test
    void aQuietMergeWithoutMemoryIsNotTheFirstOfTheNextQuietMoment() {
        writeAndDelete();
        int[] waiting = new int[2];
        for (int moment = 0; moment < waiting.length; moment++) {
            compactions.wantIdle();
            failOnCall(2, () -> new InsufficientMemoryException("none"));
            assertEquals(1, runAll());
            waiting[moment] = waiting(Urge.IDLE);
        }
        assertEquals(waiting[0] - 1, waiting[1], "what failed is passed over");
        compactions.wantIdle();
        assertEquals(0, runAll());
        compactions.wantIdle();
        assertEquals(0, runAll());
        tree.trunk.retryQuiet();
        assertEquals(0, waiting(Urge.IDLE), "what was passed over is done in the end");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoSettlesWaitsForAllMergesThatCanBeDone(boolean isRead) {
        writeAndDelete();
        int waiting = waiting(Urge.SETTLING);
        assertTrue(waiting > 2, waiting + " merges wait");
        compactions.wantSettled();
        failOnCall(2, () -> isRead ? new InsufficientMemoryException("none") : unreadable());
        assertEquals(1, runAll());
        int left = waiting(Urge.SETTLING);
        assertTrue(left <= 1, left + " merges wait");
    }

    @Test
    void aRestGoesOnPastALeafThatCannotBeRead() {
        for (int i = 0; i < 40; i++) {
            writeSome(i);
            while (compactions.runOne()) {}
        }
        int scattered = scattered(Span.ALL);
        assertTrue(scattered > 2, scattered + " leaves");
        compactions.rest(Span.ALL);
        // Two ask whether there is anything to merge for space.
        failOnCall(3, CompactionsTest::unreadable);
        assertEquals(1, runAll());
        assertEquals(1, scattered(Span.ALL));
    }

    /** Whoever found nothing leaves alone what was wanted after it had begun to look. */
    @Test
    void whatIsWantedWhileAnotherLooksStaysWanted() {
        while (compactions.runOne()) {}
        compactions.want();
        asked = compactions::want;
        assertFalse(compactions.runOne());
        assertTrue(compactions.isNeeded());
        asked = () -> {};
        assertFalse(compactions.runOne());
        assertFalse(compactions.isNeeded());
    }

    /** A tree of one leaf with something to merge for space alone, while a view that is older than all of it is open. */
    private void rest() {
        compactions.targetSpace(100);
        tree.snapshots.add(1L);
        write(60);
        while (compactions.runOne()) {}
        write(50);
        while (compactions.runOne()) {}
        views = new long[] {1};
        compactions.targetSpace(1.5);
    }

    /** Closes that view, as another thread does; returns whether that has merges begin. */
    private boolean closeView() {
        views = new long[0];
        return compactions.oldestViewClosed(Long.MAX_VALUE);
    }

    private void assertReclaims(long before) {
        while (compactions.runOne()) {}
        assertTrue(compactions.finished() > before, "nothing was merged for space");
    }

    @Test
    void theOldestViewThatIsClosedHasWhatWaitedForItMerged() {
        rest();
        long before = compactions.finished();
        assertFalse(compactions.runOne());
        assertFalse(compactions.isNeeded());
        views = new long[] {2};
        assertFalse(compactions.oldestViewClosed(2), "that is older than the tree's entries too");
        assertFalse(compactions.isNeeded());
        assertEquals(before, compactions.finished());
        assertTrue(closeView());
        assertTrue(compactions.isNeeded());
        assertReclaims(before);
        assertFalse(compactions.oldestViewClosed(Long.MAX_VALUE), "nothing waits");
    }

    /** A view that sees some of what the tree has holds less than one that sees nothing of it. */
    @Test
    void anOldestViewThatSeesMarkedlyMoreHasMergesBegin() {
        rest();
        assertFalse(compactions.runOne());
        // An eighth of what may be redundant by the target, of 110 entries.
        assertFalse(compactions.oldestViewClosed(6));
        views = new long[] {7};
        assertTrue(compactions.oldestViewClosed(7));
        assertTrue(compactions.isNeeded());
        assertFalse(compactions.runOne(), "it holds enough");
        assertFalse(compactions.oldestViewClosed(12));
        long before = compactions.finished();
        views = new long[] {100};
        assertTrue(compactions.oldestViewClosed(100));
        assertReclaims(before);
    }

    /** Right after whoever plans has seen it, and before anybody can know that something waits for it. */
    @Test
    void aViewThatIsClosedWhileItIsMetHoldsNothingBack() {
        for (int calls = 1; calls <= 2; calls++) {
            rest();
            long before = compactions.finished();
            onCall(calls, () -> assertFalse(closeView()));
            assertTrue(compactions.runOne());
            assertReclaims(before);
        }
    }

    /** Whoever comes because of that finds the one who has just met the view, and leaves again. */
    @Test
    void whoMeetsAViewLooksAgainWhenItIsClosedMeanwhile() {
        rest();
        long before = compactions.finished();
        onCall(3, () -> {
            assertTrue(closeView());
            assertFalse(compactions.runOne(), "one thread at a time");
        });
        assertTrue(compactions.runOne());
        assertReclaims(before);
    }

    /** Has something happen right after the live snapshots were asked for so many times: to plan, to wait, and once more then. */
    private void onCall(int calls, Runnable action) {
        asked = calls == 1
                ? () -> {
                    asked = () -> {};
                    action.run();
                }
                : () -> onCall(calls - 1, action);
    }
}
