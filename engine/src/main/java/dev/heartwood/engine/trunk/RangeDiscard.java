package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import java.util.ArrayList;
import java.util.List;

/**
 * Empties the leaves whose keys all lie in a span, and lets go of what the nodes above hold for them: no page is read or written.
 * Leaves that reach beyond the span stay, with what is held for them. A path loses what it has for a leaf only together with the
 * leaf, so an older value never comes to light. A pivot that reaches beyond the span keeps its runs even for leaves that are emptied
 * below it: what it holds is the newest of a path, and a merge operand there loses its base. Pure: makes new floating nodes.
 */
final class RangeDiscard {
    private RangeDiscard() {}

    /** The node without what is in {@code span}; the same node when there is nothing. */
    static TrunkNode discard(TrunkNode node, Span nodeSpan, Span span) {
        if (node.isLeaf()) {
            return node.bundleCount() > 0 && span.covers(nodeSpan)
                    ? node.with(node.pivots(), List.of())
                    : node;
        }
        List<Pivot> pivots = new ArrayList<>(node.pivotCount());
        boolean changed = false;
        for (int p = 0; p < node.pivotCount(); p++) {
            Pivot pivot = node.pivot(p);
            Span pivotSpan = node.pivotSpan(p, nodeSpan);
            if (!pivotSpan.intersect(span).isEmpty()) {
                TrunkNode child = discard(pivot.child(), pivotSpan, span);
                int firstActive = span.covers(pivotSpan) ? node.runCount() : pivot.firstActive();
                changed |= child != pivot.child() || firstActive != pivot.firstActive();
                pivot = pivot.withChild(child).withFirstActive(firstActive);
            }
            pivots.add(pivot);
        }
        return changed ? node.with(pivots, node.bundles()) : node;
    }
}
