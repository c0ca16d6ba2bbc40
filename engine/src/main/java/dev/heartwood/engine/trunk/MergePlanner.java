package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.FilterLimit;
import dev.heartwood.engine.node.InputLimit;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.NodeMemo;
import dev.heartwood.engine.node.RunUsage;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import java.util.function.BiPredicate;

/**
 * Says which merge is done next: what the policies of nodes want most, of what is neither under way nor passed over nor set aside. Guarded by
 * the trunk's structure lock, but for what is said to be thread-safe.
 */
final class MergePlanner {
    private final TreeShape shape;
    private final NodePolicies policies;
    private final RunningMerges running = new RunningMerges();
    private final SetAside setAside = new SetAside();
    private final PassedOverMerges passedOver = new PassedOverMerges();

    // Written under the structure lock, read by any thread.
    private volatile boolean isSpaceShort;
    private volatile long imageBytes;

    MergePlanner(TreeShape shape, NodePolicies policies) {
        this.shape = shape;
        this.policies = policies;
    }

    /**
     * The merge that is most wanted in a tree; null when there is none, and then nothing is passed over any more, if those that are needed
     * were asked for.
     */
    CompactionPlan mostWanted(TrunkNode root, Urge urge) {
        CompactionPlan best = isSpaceShort ? forSpace(root, urge) : usual(root, urge);
        if (best == null && urge == Urge.NEEDED) {
            passedOver.retryNeeded();
        }
        return best;
    }

    /** Whether all of a node may be merged now. */
    boolean mayMergeWhole(TrunkNode node, Span span) {
        return !running.isBusy(node, span) && setAside.after(node, span) == 0 && FilterLimit.allows(node, shape);
    }

    /** Whether it may in a quiet moment. */
    boolean mayMergeQuietly(TrunkNode node, Span span) {
        return mayMergeWhole(node, span) && !passedOver.contains(node, span, Urge.IDLE);
    }

    /** Begins a merge, or the part of it that there is memory for, and holds references to its input. */
    CompactionPlan begin(CompactionPlan wanted) {
        CompactionPlan plan = InputLimit.within(wanted, shape);
        running.add(plan);
        plan.bundles().forEach(Bundle::retain);
        return plan;
    }

    /** A merge is under way no more. Its references are the caller's. */
    void end(CompactionPlan plan) {
        running.remove(plan);
    }

    /** The input of a merge cannot be read: it is not planned again while the store is open. */
    void setAside(CompactionPlan plan) {
        setAside.add(plan);
    }

    PassedOverMerges passedOver() {
        return passedOver;
    }

    /** Says whether merges that free most come first. */
    void spaceIsShort(boolean isShort) {
        isSpaceShort = isShort;
        imageBytes = isShort ? imageBytes : 0;
        if (!isShort) {
            passedOver.retryWithoutSpace();
        }
    }

    /** Thread-safe. */
    boolean isSpaceShort() {
        return isSpaceShort;
    }

    /** Bytes of keys in the images of nodes, about, when a merge was planned last; 0 while space is not short. Thread-safe. */
    long imageBytes() {
        return imageBytes;
    }

    /** What merges owe in a tree, in bytes; not of what was set aside, which no merge will ever deal with. */
    long debt(TrunkNode node, Span span) {
        int from = setAside.after(node, span);
        long bytes = from == 0 ? NodeMemo.unsettledBytes(node, span) : NodeMeasure.unsettledBytes(node, from, span);
        for (int p = 0; p < node.pivotCount(); p++) {
            if (node.pivot(p).child() != null) {
                bytes += debt(node.pivot(p).child(), node.pivotSpan(p, span));
            }
        }
        return bytes;
    }

    private CompactionPlan usual(TrunkNode root, Urge urge) {
        return best(root, Span.ALL, urge, urge.reclaims() ? RunUsage.of(root) : null, null);
    }

    /** What frees most, then what is wanted anyway, then what has to be done before others free any. */
    private CompactionPlan forSpace(TrunkNode root, Urge urge) {
        RunUsage usage = RunUsage.withGroups(root);
        imageBytes = usage.imageBytes();
        BiPredicate<TrunkNode, Span> mayMerge =
                (node, span) -> mayMergeWhole(node, span) && !passedOver.contains(node, span, urge);
        CompactionPlan best = usage.mostFreeing(root, mayMerge);
        best = best == null ? best(root, Span.ALL, urge, usage, null) : best;
        best = best == null && urge == Urge.SETTLING ? usage.mostShared(root, mayMerge) : best;
        // Without knowing who shares groups nothing is kept for copies of them.
        return best == null || best.height() > 0 || !usage.knowsGroups() ? best : best.gathering();
    }

    private CompactionPlan best(TrunkNode node, Span span, Urge urge, RunUsage usage, CompactionPlan soFar) {
        CompactionPlan best = soFar;
        CompactionPlan plan = wanted(node, span, urge, usage);
        if (plan != null && (best == null || urgency(plan, usage) > urgency(best, usage))
                && !running.isBusy(node, span) && !passedOver.contains(node, span, urge)) {
            best = plan;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            if (node.pivot(p).child() != null) {
                best = best(node.pivot(p).child(), node.pivotSpan(p, span), urge, usage, best);
            }
        }
        return best;
    }

    private CompactionPlan wanted(TrunkNode node, Span span, Urge urge, RunUsage usage) {
        int from = setAside.after(node, span);
        CompactionPolicy policy = policies.of(node);
        return urge == Urge.NEEDED && from == 0
                ? NodeMemo.mergeNeeded(node, policy, span)
                : policy.plan(node, from, span, urge, usage);
    }

    /**
     * Higher nodes first, since every read passes them; then the node with most bundles. Where space is short, the leaf first that frees most: so
     * that one of those that share a run is followed by the others.
     */
    private long urgency(CompactionPlan plan, RunUsage usage) {
        if (isSpaceShort) {
            return plan.height() > 0 ? Long.MIN_VALUE : usage.freedBytes(plan.node(), plan.span());
        }
        return plan.height() * 1000L + plan.node().bundleCount();
    }
}
