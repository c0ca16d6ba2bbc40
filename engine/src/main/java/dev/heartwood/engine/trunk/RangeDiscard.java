package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Empties the leaves whose keys all lie in a span, and lets go of what the nodes above hold for them: no page is read or written. A bound beyond which
 * the tree has no key is none.
 * Leaves that reach beyond the span stay, with what is held for them. A path loses what it has for a leaf only together with the
 * leaf, so an older value never comes to light. A pivot that reaches beyond the span keeps its runs even for leaves that are emptied
 * below it: what it holds is the newest of a path, and a merge operand there loses its base. Pure: makes new floating nodes.
 */
final class RangeDiscard {
    private RangeDiscard() {}

    /** The tree without what is in {@code span}; the same root when there is nothing. */
    static TrunkNode discard(TrunkNode root, Span span) {
        byte[] from = span.from() != null && isAny(root, new Span(null, span.from())) ? span.from() : null;
        byte[] to = span.to() != null && isAny(root, new Span(span.to(), null)) ? span.to() : null;
        return discard(root, Span.ALL, new Span(from, to));
    }

    /** Whether a run of a node, or of those below, may have a key in a span. */
    private static boolean isAny(TrunkNode node, Span span) {
        for (Bundle bundle : node.bundles()) {
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && run.sample().touches(both)) {
                    return true;
                }
            }
        }
        for (Pivot pivot : node.pivots()) {
            if (pivot.child() != null && isAny(pivot.child(), span)) {
                return true;
            }
        }
        return false;
    }

    private static TrunkNode discard(TrunkNode node, Span nodeSpan, Span span) {
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
