package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.NodeMemo;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Restores the shape of a tree after something was added to it or removed from it: flushes by reference as far down as the
 * policy asks, splits, merges underfull nodes, grows and shrinks the root (SplinterDB, sections 3 and 4). Moves references only;
 * reads and writes no page. Makes new floating nodes and leaves the old ones as they are.
 */
final class Balancer {
    private final TreeShape shape;
    private final NodePolicies policies;
    private final TrunkEvents events;
    private final SplitSpace splitSpace;

    Balancer(TreeShape shape, NodePolicies policies, TrunkEvents events, SplitSpace splitSpace) {
        this.shape = shape;
        this.policies = policies;
        this.events = events;
        this.splitSpace = splitSpace;
    }

    /** The balanced tree for a root that may be out of shape. */
    TrunkNode balanceRoot(TrunkNode root, Urge urge) {
        List<TrunkNode> level = balanceAll(root, urge);
        while (level.size() > 1) {
            List<Pivot> pivots = new ArrayList<>(level.size());
            for (TrunkNode node : level) {
                pivots.add(new Pivot(node.pivot(0).key(), node, 0));
            }
            TrunkNode grown = new TrunkNode(level.getFirst().height() + 1, pivots, List.of());
            level = pivots.size() > shape.fanoutMax() ? splitIndex(grown, Span.ALL) : List.of(grown);
        }
        TrunkNode top = level.getFirst();
        while (!top.isLeaf() && top.pivotCount() == 1) {
            TrunkNode child = top.pivot(0).child();
            List<Bundle> moved = activeBundles(top, 0, Span.ALL);
            top = moved.isEmpty() ? child : append(child, moved);
        }
        return top;
    }

    private List<TrunkNode> balanceAll(TrunkNode root, Urge urge) {
        splitSpace.begin(root);
        try {
            return balance(root, Span.ALL, urge);
        } finally {
            splitSpace.end();
        }
    }

    /** One or more nodes of the same height in place of {@code node}, whose keys are {@code span}. */
    private List<TrunkNode> balance(TrunkNode node, Span span, Urge urge) {
        if (node.isLeaf()) {
            return splitLeaf(prune(node, span), span);
        }
        TrunkNode flushed = mergeUnderfull(flush(node, span, urge), span);
        TrunkNode pruned = prune(flushed, span);
        return pruned.pivotCount() > shape.fanoutMax() ? splitIndex(pruned, span) : List.of(pruned);
    }

    private TrunkNode flush(TrunkNode node, Span span, Urge urge) {
        CompactionPolicy policy = policies.of(node);
        BitSet flushes =
                urge == Urge.NEEDED ? NodeMemo.flushesNeeded(node, policy, span) : policy.flushes(node, span, urge);
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        boolean changed = false;
        for (int p = 0; p < node.pivotCount(); p++) {
            Pivot pivot = node.pivot(p);
            if (urge == Urge.NEEDED && !flushes.get(p) && !pivot.child().isFloating()) {
                pivots.add(pivot);
            } else {
                changed |= balanceChild(node, p, span, flushes.get(p), urge, pivots);
            }
        }
        if (!flushes.isEmpty() || pivots.size() > node.pivotCount()) {
            return node.with(pivots, node.bundles());
        }
        return changed ? node.withChildren(pivots) : node;
    }

    /** Adds to {@code pivots} what a child becomes, with what the node holds for it if that is flushed. Returns whether it changed. */
    private boolean balanceChild(TrunkNode node, int p, Span span, boolean flush, Urge urge, List<Pivot> pivots) {
        Pivot pivot = node.pivot(p);
        Span pivotSpan = node.pivotSpan(p, span);
        TrunkNode child = pivot.child();
        if (flush) {
            List<Bundle> moved = activeBundles(node, p, pivotSpan);
            child = moved.isEmpty() ? child : append(child, moved);
            events.flushed();
        }
        int firstActive = flush ? node.runCount() : pivot.firstActive();
        List<TrunkNode> replacements = balance(child, pivotSpan, urge);
        for (int i = 0; i < replacements.size(); i++) {
            TrunkNode replacement = replacements.get(i);
            byte[] key = i == 0 ? pivot.key() : replacement.pivot(0).key();
            pivots.add(new Pivot(key, replacement, firstActive));
        }
        return replacements.getFirst() != pivot.child();
    }

    /** What a node holds for a pivot, as bundles for the child. */
    static List<Bundle> activeBundles(TrunkNode node, int pivot, Span pivotSpan) {
        List<Bundle> active = new ArrayList<>();
        int firstActive = node.pivot(pivot).firstActive();
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            Span both = pivotSpan.intersect(bundle.span());
            Run[] runs = bundle.runs().clone();
            int live = 0;
            for (int i = 0; i < runs.length; i++, position++) {
                if (runs[i] != null && (position < firstActive || !runs[i].sample().touches(both))) {
                    runs[i] = null;
                }
                live += runs[i] == null ? 0 : 1;
            }
            if (live > 0) {
                active.add(new Bundle(bundle.id(), bundle.maplet(), runs, bundle.span(), false));
            }
        }
        return active;
    }

    /** A node with more bundles, younger than its own. */
    static TrunkNode append(TrunkNode node, List<Bundle> youngest) {
        List<Bundle> bundles = new ArrayList<>(node.bundles());
        bundles.addAll(youngest);
        return node.with(node.pivots(), bundles);
    }

    /** Lets go of runs that no child needs any more. */
    static TrunkNode prune(TrunkNode node, Span span) {
        List<Bundle> kept = new ArrayList<>(node.bundleCount());
        int[] shift = new int[node.runCount() + 1];
        boolean changed = false;
        int position = 0;
        int removed = 0;
        for (Bundle bundle : node.bundles()) {
            Run[] runs = bundle.runs();
            Run[] needed = new Run[runs.length];
            int live = 0;
            boolean dropped = false;
            for (int i = 0; i < runs.length; i++) {
                boolean keep = runs[i] != null && isNeeded(node, runs[i], position + i, bundle.span(), span);
                needed[i] = keep ? runs[i] : null;
                dropped |= runs[i] != null && !keep;
                live += keep ? 1 : 0;
            }
            for (int i = 0; i < runs.length; i++) {
                shift[position + i] = removed + (live == 0 ? i : 0);
            }
            if (live == 0) {
                removed += runs.length;
                changed = true;
            } else {
                kept.add(dropped ? bundle.withRuns(needed) : bundle);
                changed |= dropped;
            }
            position += runs.length;
        }
        shift[position] = removed;
        if (!changed) {
            return node;
        }
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        for (Pivot pivot : node.pivots()) {
            pivots.add(pivot.withFirstActive(pivot.firstActive() - shift[pivot.firstActive()]));
        }
        return node.with(pivots, kept);
    }

    private static boolean isNeeded(TrunkNode node, Run run, int position, Span bundleSpan, Span span) {
        for (int p = 0; p < node.pivotCount(); p++) {
            if (position >= node.pivot(p).firstActive()
                    && run.sample().touches(node.pivotSpan(p, span).intersect(bundleSpan))) {
                return true;
            }
        }
        return false;
    }

    private List<TrunkNode> splitLeaf(TrunkNode leaf, Span span) {
        long bytes = NodeMemo.bytes(leaf, span);
        if (bytes <= shape.firstLeafBytesMax()) {
            return List.of(leaf);
        }
        boolean isWhole = span.from() == null && span.to() == null;
        long bytesMax = shape.leafBytesMax(NodeMeasure.entryBytes(leaf), isWhole);
        if (bytes <= bytesMax) {
            return List.of(leaf);
        }
        int parts = shape.leafParts(bytes, bytesMax, isWhole);
        List<byte[]> keys = SplitKeys.choose(leaf, span, parts);
        if (keys.isEmpty() || !splitSpace.take(span, bytes, keys.size() + 1)) {
            return List.of(leaf);
        }
        List<TrunkNode> leaves = new ArrayList<>(keys.size() + 1);
        byte[] from = leaf.pivot(0).key();
        for (int i = 0; i <= keys.size(); i++) {
            byte[] to = i < keys.size() ? keys.get(i) : span.to();
            TrunkNode part = leaf.with(List.of(new Pivot(from, null, 0)), leaf.bundles());
            leaves.add(prune(part, new Span(i == 0 ? span.from() : from, to)));
            from = to;
        }
        events.split();
        return leaves;
    }

    private List<TrunkNode> splitIndex(TrunkNode node, Span span) {
        int parts = (node.pivotCount() + shape.fanoutMax() - 1) / shape.fanoutMax();
        if (parts == 1) {
            parts = 2;
        }
        List<TrunkNode> nodes = new ArrayList<>(parts);
        int from = 0;
        for (int i = 1; i <= parts; i++) {
            int to = (int) ((long) node.pivotCount() * i / parts);
            TrunkNode part = node.with(node.pivots().subList(from, to), node.bundles());
            Span first = node.pivotSpan(from, span);
            Span last = node.pivotSpan(to - 1, span);
            nodes.add(prune(part, new Span(first.from(), last.to())));
            from = to;
        }
        events.split();
        return nodes;
    }

    /** Joins neighbours of which one is too small and that fit into one node together. */
    private TrunkNode mergeUnderfull(TrunkNode node, Span span) {
        if (node.pivotCount() == 1) {
            return node;
        }
        List<Pivot> pivots = new ArrayList<>(node.pivots());
        boolean changed = false;
        int p = 0;
        while (p + 1 < pivots.size()) {
            Span left = spanOf(pivots, p, span);
            Span right = spanOf(pivots, p + 1, span);
            TrunkNode a = pivots.get(p).child();
            TrunkNode b = pivots.get(p + 1).child();
            if (pivots.get(p).firstActive() == pivots.get(p + 1).firstActive() && wantsMerge(a, left, b, right)) {
                pivots.set(p, pivots.get(p).withChild(concatenate(a, left, b, right)));
                pivots.remove(p + 1);
                changed = true;
                events.merged();
            } else {
                p++;
            }
        }
        return changed ? node.with(pivots, node.bundles()) : node;
    }

    private static Span spanOf(List<Pivot> pivots, int p, Span span) {
        return new Span(
                p == 0 ? span.from() : pivots.get(p).key(),
                p + 1 == pivots.size() ? span.to() : pivots.get(p + 1).key());
    }

    private boolean wantsMerge(TrunkNode a, Span left, TrunkNode b, Span right) {
        if (a.bundleCount() + b.bundleCount() > 2 * shape.runsMax()) {
            return false;
        }
        if (!a.isLeaf()) {
            int children = a.pivotCount() + b.pivotCount();
            return Math.min(a.pivotCount(), b.pivotCount()) <= shape.fanoutMax() / 8 && children <= shape.fanoutMax() / 2;
        }
        long leftBytes = NodeMemo.bytes(a, left);
        long rightBytes = NodeMemo.bytes(b, right);
        return Math.min(leftBytes, rightBytes) < shape.leafBytesMin()
                && leftBytes + rightBytes < shape.leafBytesMax() / 2;
    }

    /**
     * One node with the children and the runs of both; the runs of each count for its own keys only. A policy of its own it has when both
     * had the same.
     */
    private static TrunkNode concatenate(TrunkNode a, Span left, TrunkNode b, Span right) {
        List<Bundle> bundles = new ArrayList<>();
        a.bundles().forEach(bundle -> bundles.add(bundle.slice(left)));
        b.bundles().forEach(bundle -> bundles.add(bundle.slice(right)));
        TrunkPolicies policy = a.ownPolicy() == b.ownPolicy() ? a.ownPolicy() : null;
        if (a.isLeaf()) {
            return new TrunkNode(0, policy, List.of(a.pivot(0)), bundles);
        }
        List<Pivot> pivots = new ArrayList<>(a.pivots());
        for (int i = 0; i < b.pivotCount(); i++) {
            Pivot pivot = b.pivot(i);
            byte[] key = i == 0 ? right.from() == null ? Keys.EMPTY : right.from() : pivot.key();
            pivots.add(new Pivot(key, pivot.child(), pivot.firstActive() + a.runCount()));
        }
        return new TrunkNode(a.height(), policy, pivots, bundles);
    }
}
