package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/** The way from the root to one leaf, and the runs on it that may have a key of the leaf, youngest first. Immutable. */
final class TreePath {
    private record Found(Run run, Span span, boolean exact) {}

    private final List<TrunkNode> nodes = new ArrayList<>();
    private final List<Found> found = new ArrayList<>();
    private Span leafSpan = Span.ALL;
    private int leafRunCount;

    private TreePath() {}

    /**
     * The path to the leaf of {@code key}, or, with {@code before}, to the leaf of the keys just before it; a null key is past the
     * last. Notes the scan with the nodes.
     */
    static TreePath to(TrunkNode root, byte[] key, boolean before) {
        return to(root, key, before, null);
    }

    /**
     * As {@link #to(TrunkNode, byte[], boolean)}, of the runs those that may hold keys of a group. Such a scan says little about what a
     * merge of the runs would spare the next, and is not noted.
     *
     * @param group null for all runs
     */
    static TreePath to(TrunkNode root, byte[] key, boolean before, GroupFilter group) {
        TreePath path = new TreePath();
        List<Integer> pivots = new ArrayList<>();
        for (TrunkNode node = root; node != null; node = node.pivot(pivots.getLast()).child()) {
            int pivot = node.pivotOf(key, before);
            path.nodes.add(node);
            if (group == null) {
                node.countScan();
            }
            pivots.add(pivot);
            path.leafSpan = node.pivotSpan(pivot, path.leafSpan);
        }
        int above = 0;
        for (int i = 0; i < path.nodes.size(); i++) {
            above = path.found.size();
            path.addRuns(path.nodes.get(i), pivots.get(i), group);
        }
        path.leafRunCount = path.found.size() - above;
        if (group == null && above > 0) {
            path.nodes.getLast().countLooksAbove(above);
        }
        return path;
    }

    private void addRuns(TrunkNode node, int pivot, GroupFilter group) {
        int firstActive = node.pivot(pivot).firstActive();
        int position = node.runCount();
        for (int b = node.bundleCount() - 1; b >= 0; b--) {
            Bundle bundle = node.bundle(b);
            position -= bundle.runs().length;
            if (position + bundle.runs().length <= firstActive) {
                break;
            }
            long candidates = group == null ? -1L : group.candidates(bundle.maplet());
            boolean exact = !bundle.span().covers(leafSpan);
            Span span = exact ? leafSpan.intersect(bundle.span()) : leafSpan;
            for (int r = bundle.runs().length - 1; r >= 0; r--) {
                Run run = bundle.runs()[r];
                boolean isCandidate = group == null || (candidates >>> r & 1) != 0;
                if (run != null && isCandidate && position + r >= firstActive && run.sample().touches(span)) {
                    found.add(new Found(run, span, exact));
                }
            }
        }
    }

    /** Notes with the nodes that a seek had to read from the device. */
    void countReads(int reads) {
        for (int i = 0; reads > 0 && i < nodes.size(); i++) {
            nodes.get(i).countScanReads(reads);
        }
    }

    /** Notes with the leaf that a cursor had to read large values from the device. */
    void countLargeReads(int reads) {
        if (reads > 0) {
            nodes.getLast().countLargeReads(reads);
        }
    }

    /** The keys of the leaf. */
    Span leafSpan() {
        return leafSpan;
    }

    int runCount() {
        return found.size();
    }

    /** How many of the runs are the leaf's own. */
    int leafRunCount() {
        return leafRunCount;
    }

    Run run(int index) {
        return found.get(index).run();
    }

    /** The keys of the leaf for which a run counts. */
    Span span(int index) {
        return found.get(index).span();
    }

    /** Whether the run has entries of the leaf's keys for which it does not count. */
    boolean isExact(int index) {
        return found.get(index).exact();
    }
}
