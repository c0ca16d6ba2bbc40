package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds where the input of a merge is now and puts the output there. Since the merge was planned, its node may have been split,
 * merged with a neighbour, pruned, flushed from and added to; the ids of the bundles tell. A neighbour may have brought bundles
 * with the same ids for its own keys, which the merge has not read: those stay.
 */
final class Installer {
    private Installer() {}

    /** The tree with {@code output} in place of the plan's bundles wherever they still are; the same tree when nowhere. */
    static TrunkNode replace(TrunkNode node, Span span, CompactionPlan plan, Bundle output, int mergedPosition) {
        if (node.height() == plan.height()) {
            return replaceHere(node, span, plan, output, mergedPosition);
        }
        if (node.height() < plan.height()) {
            // The tree has shrunk below the node of the plan.
            return node;
        }
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        boolean changed = false;
        for (int p = 0; p < node.pivotCount(); p++) {
            Pivot pivot = node.pivot(p);
            Span pivotSpan = node.pivotSpan(p, span);
            if (!pivotSpan.intersect(plan.span()).isEmpty()) {
                TrunkNode child = replace(pivot.child(), pivotSpan, plan, output, mergedPosition);
                changed |= child != pivot.child();
                pivot = pivot.withChild(child);
            }
            pivots.add(pivot);
        }
        return changed ? node.withChildren(pivots) : node;
    }

    private static TrunkNode replaceHere(
            TrunkNode node, Span span, CompactionPlan plan, Bundle output, int mergedPosition) {
        TrunkNode current = node;
        int from = 0;
        while (true) {
            int found = find(current, span, plan, from);
            if (found < 0) {
                return current == node ? node : Balancer.prune(current, span);
            }
            current = replaceAt(current, found, plan, output, mergedPosition);
            from = found + (output == null ? 0 : 1);
        }
    }

    /** Index of the plan's bundles, in order and next to each other, at or after {@code from}; -1 when they are not. */
    private static int find(TrunkNode node, Span span, CompactionPlan plan, int from) {
        List<Bundle> wanted = plan.bundles();
        int count = wanted.size();
        boolean oneSpan = plan.hasOneSpan();
        for (int i = from; i + count <= node.bundleCount(); i++) {
            if (node.bundle(i).id() != wanted.getFirst().id()) {
                continue;
            }
            boolean same = !oneSpan || CompactionPlan.hasOneSpan(node, i, i + count, span);
            for (int j = 0; j < count && same; j++) {
                Bundle planned = wanted.get(j);
                Span here = node.bundle(i + j).span().intersect(span);
                Span read = plan.spanOf(planned);
                same = node.bundle(i + j).id() == planned.id()
                        && here.equals(here.intersect(read))
                        && (oneSpan || here.equals(read.intersect(span)));
            }
            if (same) {
                return i;
            }
        }
        return -1;
    }

    private static TrunkNode replaceAt(TrunkNode node, int at, CompactionPlan plan, Bundle output, int mergedPosition) {
        int count = plan.bundles().size();
        List<Bundle> bundles = new ArrayList<>(node.bundles().subList(0, at));
        if (output != null) {
            bundles.add(plan.hasOneSpan() ? output.slice(node.bundle(at).span()) : output);
        }
        bundles.addAll(node.bundles().subList(at + count, node.bundleCount()));
        int start = node.runStart(at);
        int end = node.runStart(at + count);
        int outputRuns = output == null ? 0 : output.runs().length;
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        for (Pivot pivot : node.pivots()) {
            int firstActive = pivot.firstActive();
            if (firstActive >= end) {
                firstActive += outputRuns - (end - start);
            } else if (firstActive > start) {
                firstActive = start + positionInOutput(plan, firstActive - start, mergedPosition);
            }
            pivots.add(pivot.withFirstActive(firstActive));
        }
        return node.with(pivots, bundles);
    }

    /** How many runs of the output come before a position within the plan's bundles. */
    private static int positionInOutput(CompactionPlan plan, int position, int mergedPosition) {
        int base = plan.node().runStart(plan.bundleFrom());
        int mergeFrom = plan.runFrom() - base;
        int mergeTo = plan.runTo() - base;
        int before = 0;
        int i = 0;
        for (Bundle bundle : plan.bundles()) {
            for (Run run : bundle.runs()) {
                if (i == position) {
                    return before;
                }
                boolean merged = i >= mergeFrom && i < mergeTo;
                if (!merged && run != null || merged && i == mergeTo - 1 && mergedPosition >= 0) {
                    before++;
                }
                i++;
            }
        }
        return before;
    }
}
