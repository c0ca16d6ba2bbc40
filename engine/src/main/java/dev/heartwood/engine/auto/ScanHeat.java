package dev.heartwood.engine.auto;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.TreeGauge;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which leaves cursors open, over some intervals. Belongs to one thread at a time. */
class ScanHeat {
    private static final int INTERVALS = 10;

    /** The share of the scans that a hot span has to have. */
    private static final double HOT_SHARE = 0.95;

    private record Leaf(Span span, long bytes, long scans, double heat) {}

    private Leaf[] leaves = {};

    /** Notes the leaves as they are now. Those that were changed have begun to count anew. */
    void add(List<TreeGauge.Leaf> now) {
        Map<ByteBuffer, Leaf> before = new HashMap<>();
        for (Leaf leaf : leaves) {
            before.put(key(leaf.span()), leaf);
        }
        Leaf[] noted = new Leaf[now.size()];
        for (int i = 0; i < noted.length; i++) {
            TreeGauge.Leaf leaf = now.get(i);
            Leaf old = before.get(key(leaf.span()));
            long counted = old == null || old.scans > leaf.scans() ? 0 : old.scans;
            double heat = old == null ? 0 : old.heat;
            heat += (leaf.scans() - counted - heat) / INTERVALS;
            noted[i] = new Leaf(leaf.span(), leaf.bytes(), leaf.scans(), heat);
        }
        leaves = noted; // whole: with a full Java heap it does not come to this
    }

    private static ByteBuffer key(Span span) {
        return ByteBuffer.wrap(span.from() == null ? new byte[0] : span.from());
    }

    /** The narrowest span of whole leaves that has nearly all scans; all keys when there were none. */
    Span hot() {
        double enough = HOT_SHARE * heat(0, leaves.length);
        if (enough == 0) {
            return Span.ALL;
        }
        int from = 0;
        int fewest = leaves.length;
        double heat = 0;
        int begin = 0;
        for (int end = 1; end <= leaves.length; end++) {
            heat += leaves[end - 1].heat;
            while (begin + 1 < end && heat - leaves[begin].heat >= enough) {
                heat -= leaves[begin++].heat;
            }
            if (heat >= enough && end - begin < fewest) {
                from = begin;
                fewest = end - begin;
            }
        }
        return fewest == leaves.length
                ? Span.ALL
                : new Span(leaves[from].span.from(), leaves[from + fewest - 1].span.to());
    }

    private double heat(int from, int to) {
        double heat = 0;
        for (int i = from; i < to; i++) {
            heat += leaves[i].heat;
        }
        return heat;
    }

    /** The share of the leaves that have keys in a span. */
    double shareOfLeaves(Span span) {
        int within = 0;
        for (Leaf leaf : leaves) {
            within += leaf.span.intersect(span).isEmpty() ? 0 : 1;
        }
        return leaves.length == 0 ? 1 : (double) within / leaves.length;
    }

    /** What the leaves hold that have keys in a span. */
    long bytes(Span span) {
        long bytes = 0;
        for (Leaf leaf : leaves) {
            bytes += leaf.span.intersect(span).isEmpty() ? 0 : leaf.bytes;
        }
        return bytes;
    }

    /** The share of the scans that opened leaves with keys in a span; 1 when there were none. */
    double shareOfScans(Span span) {
        double all = 0;
        double within = 0;
        for (Leaf leaf : leaves) {
            all += leaf.heat;
            within += leaf.span.intersect(span).isEmpty() ? 0 : leaf.heat;
        }
        return all == 0 ? 1 : within / all;
    }
}
