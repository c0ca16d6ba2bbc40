package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import java.util.List;

/**
 * A merge to be done: bundles of a node that become one, and the runs among theirs that become one.
 *
 * @param height the height of the node, which with the ids of the bundles finds it again
 * @param span the keys of the node
 * @param node the node as it was when planned
 * @param bundleFrom index of the first bundle
 * @param bundleTo index after the last bundle
 * @param runFrom position of the first run to merge, among all runs of the node
 * @param runTo position after the last run to merge; equal to {@code runFrom} when only maplets are merged
 * @param gathers whether large values are copied, so that they lie in the order of keys and in no group that others share
 */
public record CompactionPlan(
        int height,
        Span span,
        TrunkNode node,
        int bundleFrom,
        int bundleTo,
        int runFrom,
        int runTo,
        boolean gathers) {
    /** A merge that leaves large values where they are. */
    public CompactionPlan(int height, Span span, TrunkNode node, int bundleFrom, int bundleTo, int runFrom, int runTo) {
        this(height, span, node, bundleFrom, bundleTo, runFrom, runTo, false);
    }

    /** This merge, with large values copied. */
    public CompactionPlan gathering() {
        return gathers ? this : new CompactionPlan(height, span, node, bundleFrom, bundleTo, runFrom, runTo, true);
    }

    /** As much of this merge as some of its bundles have part in; only of their maplets when that is not two runs. */
    CompactionPlan ofBundles(int from, int to) {
        int end = node.runStart(to);
        int first = Math.max(runFrom, node.runStart(from));
        int last = Math.min(runTo, end);
        boolean merges = first < last && node.liveRuns(first, last) > 1;
        return merges ? of(from, to, first, last) : of(from, to, end, end);
    }

    /** As much of this merge as some runs of a bundle have part in: so many, beginning with one of them. */
    CompactionPlan ofRuns(int bundle, int from, int runs) {
        int to = from;
        int live = 0;
        while (live < runs) {
            live += node.run(to) == null ? 0 : 1;
            to++;
        }
        return of(bundle, bundle + 1, from, to);
    }

    private CompactionPlan of(int bundlesFrom, int bundlesTo, int from, int to) {
        boolean gathersThose = gathers && from < to && isOldest(node, from);
        return new CompactionPlan(height, span, node, bundlesFrom, bundlesTo, from, to, gathersThose);
    }

    public List<Bundle> bundles() {
        return node.bundles().subList(bundleFrom, bundleTo);
    }

    /** The keys for which one of the bundles counts at the node. */
    public Span spanOf(Bundle bundle) {
        return bundle.span().intersect(span);
    }

    /**
     * The keys for which the output counts. Bundles of different spans, as two merged nodes bring them, become one only when all
     * their runs do: a run that was left as it is would count for keys it no longer counted for.
     */
    public Span outputSpan() {
        Span first = spanOf(node.bundle(bundleFrom));
        if (hasOneSpan()) {
            return first;
        }
        assert runFrom == node.runStart(bundleFrom) && runTo == node.runStart(bundleTo);
        return span;
    }

    /** Whether the bundles all count for the same keys. */
    public boolean hasOneSpan() {
        return hasOneSpan(node, bundleFrom, bundleTo, span);
    }

    /** Whether bundles of a node, whose keys are {@code span}, all count for the same keys. */
    public static boolean hasOneSpan(TrunkNode node, int bundleFrom, int bundleTo, Span span) {
        for (int b = bundleFrom + 1; b < bundleTo; b++) {
            if (!node.bundle(b).span().intersect(span).equals(node.bundle(bundleFrom).span().intersect(span))) {
                return false;
            }
        }
        return true;
    }

    /** Whether no run of its bundles is left that came by a flush and was in no merge since. */
    public boolean dealsWithAll() {
        return runTo == node.runStart(bundleTo) || bundles().stream().allMatch(Bundle::settled);
    }

    /** Whether nothing older than the merged runs exists for any key of the node, so that tombstones have done their work. */
    public boolean reachesBottom() {
        return height == 0 && takesOldest();
    }

    /** Whether no run of the node is older than the merged ones; places that a split left empty are before them at most. */
    public boolean takesOldest() {
        return isOldest(node, runFrom);
    }

    /** Whether there is no run before a position among all runs of a node. */
    static boolean isOldest(TrunkNode node, int position) {
        return node.liveRuns(0, position) == 0;
    }

    /** Bytes that the merge will read. */
    public long inputBytes() {
        return NodeMeasure.bytes(node, runFrom, runTo, span);
    }
}
