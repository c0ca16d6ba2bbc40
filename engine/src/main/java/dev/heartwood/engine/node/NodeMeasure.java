package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Sums over the runs of a node, from samples alone. */
public final class NodeMeasure {
    /** Samples of fewer keys do not tell how much two runs have in common. */
    private static final int SAMPLES_FEW = 16;

    /** Runs that follow each other and have no more than this part of the smaller one in common are not merged for that. */
    private static final int OVERLAP_LITTLE = 4;

    private NodeMeasure() {}

    /** Bytes that a node still holds for one of its pivots, whose keys are {@code pivotSpan}. */
    public static long activeBytes(TrunkNode node, int pivot, Span pivotSpan) {
        return sum(node, node.pivot(pivot).firstActive(), pivotSpan, false);
    }

    /** Bytes of one run that a node still holds for any of its pivots, where the run counts for {@code counted} only. */
    public static long activeBytes(TrunkNode node, Run run, int position, Span counted, Span span) {
        long bytes = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            if (position >= node.pivot(p).firstActive()) {
                bytes += run.sample().bytesWithin(node.pivotSpan(p, span).intersect(counted));
            }
        }
        return bytes;
    }

    /** Runs that a node still holds for one of its pivots. */
    public static int activeRuns(TrunkNode node, int pivot, Span pivotSpan) {
        return (int) sum(node, node.pivot(pivot).firstActive(), pivotSpan, true);
    }

    /** Whether half or more of what a node holds for a pivot are tombstones, which only free space further down. */
    static boolean mostlyTombstones(TrunkNode node, int pivot, Span pivotSpan) {
        long entries = 0;
        long tombstones = 0;
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            Span both = pivotSpan.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && position >= node.pivot(pivot).firstActive() && run.sample().touches(both)) {
                    entries += run.branch().entries();
                    tombstones += run.branch().tombstones();
                }
                position++;
            }
        }
        return tombstones > 0 && tombstones * 2 >= entries;
    }

    /** The share of tombstones among the entries of a leaf's runs within its keys, taking a run's to be spread evenly. */
    static double tombstoneShare(TrunkNode leaf, Span span) {
        return share(leaf, span, run -> run.branch().tombstones());
    }

    /** The same of entries that were kept for views, open or closed. */
    static double keptShare(TrunkNode leaf, Span span) {
        return share(leaf, span, run -> run.kept().entries());
    }

    private static double share(TrunkNode leaf, Span span, ToLongFunction<Run> counted) {
        double entries = 0;
        double sum = 0;
        for (Bundle bundle : leaf.bundles()) {
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null) {
                    double share = (double) run.sample().bytesWithin(both) / Math.max(1, run.sample().bytes());
                    entries += share * run.branch().entries();
                    sum += share * counted.applyAsLong(run);
                }
            }
        }
        return entries == 0 ? 0 : sum / entries;
    }

    /** The bytes of an entry of a node's runs on average. */
    public static double entryBytes(TrunkNode node) {
        long bytes = 0;
        long entries = 0;
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                bytes += run == null ? 0 : run.sample().bytes();
                entries += run == null ? 0 : run.branch().entries();
            }
        }
        return entries == 0 ? 0 : (double) bytes / entries;
    }

    /**
     * Entries of a leaf's runs that entries of other runs supersede, for each one that none does; the filters tell, of runs that
     * share one.
     */
    static double supersededShare(TrunkNode leaf) {
        long superseded = 0;
        long distinct = 0;
        for (Bundle bundle : leaf.bundles()) {
            superseded += bundle.maplet().duplicateEntries();
            distinct += bundle.maplet().distinctKeys();
        }
        return distinct == 0 ? 0 : (double) superseded / distinct;
    }

    /** What the filters of some bundles name of their runs. */
    static long filterEntries(TrunkNode node, int bundleFrom, int bundleTo) {
        long entries = 0;
        for (Bundle bundle : node.bundles().subList(bundleFrom, bundleTo)) {
            for (int i = 0; i < bundle.runs().length; i++) {
                entries += bundle.runs()[i] == null ? 0 : bundle.maplet().entries(i);
            }
        }
        return entries;
    }

    /** What the filters of a node name of the runs that it still holds for some keys below one of its pivots. */
    public static long activeFilterEntries(TrunkNode node, int pivot, Span keys) {
        long entries = 0;
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            Span both = keys.intersect(bundle.span());
            for (int i = 0; i < bundle.runs().length; i++, position++) {
                Run run = bundle.runs()[i];
                boolean isActive = run != null && position >= node.pivot(pivot).firstActive() && run.sample().touches(both);
                entries += isActive ? bundle.maplet().entries(i) : 0;
            }
        }
        return entries;
    }

    /** Bytes of a node's runs within its keys, also of what has moved on. */
    public static long bytes(TrunkNode node, Span span) {
        return sum(node, 0, span, false);
    }

    /** The same of those in a range of positions alone. */
    public static long bytes(TrunkNode node, int runFrom, int runTo, Span span) {
        long bytes = 0;
        if (runFrom >= runTo) {
            return 0;
        }
        int last = node.bundleOf(runTo - 1);
        for (int b = node.bundleOf(runFrom); b <= last; b++) {
            Bundle bundle = node.bundle(b);
            Span both = span.intersect(bundle.span());
            int position = node.runStart(b);
            for (Run run : bundle.runs()) {
                if (run != null && position >= runFrom && position < runTo) {
                    bytes += run.sample().bytesWithin(both);
                }
                position++;
            }
        }
        return bytes;
    }

    private static long sum(TrunkNode node, int firstActive, Span span, boolean count) {
        long total = 0;
        int position = 0;
        for (int b = 0; b < node.bundleCount(); b++) {
            Bundle bundle = node.bundle(b);
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && position >= firstActive && run.sample().touches(both)) {
                    total += count ? 1 : run.sample().bytesWithin(both);
                }
                position++;
            }
        }
        return total;
    }

    /** Bytes of runs that a flush brought and no merge has dealt with yet, in the bundles from one on: what is owed. */
    public static long unsettledBytes(TrunkNode node, int bundlesFrom, Span span) {
        long total = 0;
        for (int p = 0, end; p < node.pivotCount(); p = end) {
            int firstActive = node.pivot(p).firstActive();
            end = p + 1;
            while (end < node.pivotCount() && node.pivot(end).firstActive() == firstActive) {
                end++;
            }
            Span pivotsSpan =
                    new Span(node.pivotSpan(p, span).from(), node.pivotSpan(end - 1, span).to());
            total += unsettledBytes(node, bundlesFrom, firstActive, pivotsSpan);
        }
        return total;
    }

    private static long unsettledBytes(TrunkNode node, int bundlesFrom, int firstActive, Span pivotsSpan) {
        long total = 0;
        for (int b = bundlesFrom; b < node.bundleCount(); b++) {
            Bundle bundle = node.bundle(b);
            Span both = pivotsSpan.intersect(bundle.span());
            int position = node.runStart(b);
            for (Run run : bundle.runs()) {
                if (run != null && !bundle.settled() && position >= firstActive) {
                    total += run.sample().bytesWithin(both);
                }
                position++;
            }
        }
        return total;
    }

    /**
     * Whether live runs of a range of positions overlap within a span; or, where a little is allowed, by more than that. Writers who go through
     * keys in order together leave memtables of which each ends a little behind where the next begins: such a chain does not count, in which no
     * key lies in more than two runs, but for what samples do not tell.
     */
    static boolean overlap(TrunkNode node, int runFrom, int runTo, Span span, boolean isLittleAllowed) {
        List<Part> parts = new ArrayList<>();
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && position >= runFrom && position < runTo && run.sample().touches(both)) {
                    parts.add(new Part(run.sample().extent(both), run.sample()));
                }
                position++;
            }
        }
        parts.sort((x, y) -> Keys.compare(x.extent.from(), y.extent.from()));
        for (int i = 1; i < parts.size(); i++) {
            if (parts.get(i - 1).overlaps(parts.get(i), isLittleAllowed)) {
                return true;
            }
        }
        return false;
    }

    /** What of a run lies in a span. */
    private record Part(Span extent, KeySample sample) {
        /** Whether this one and another, which begins no earlier, overlap; if a little is allowed, by more, or so that one lies in the other. */
        boolean overlaps(Part other, boolean isLittleAllowed) {
            Span both = extent.intersect(other.extent);
            if (both.isEmpty()) {
                return false;
            }
            boolean isChain = Keys.compare(extent.to(), other.extent.to()) < 0;
            int samples = Math.min(sample.keys().size(), other.sample.keys().size());
            if (!isLittleAllowed || !isChain || samples < SAMPLES_FEW) {
                return true;
            }
            long common = Math.min(sample.bytesWithin(both), other.sample.bytesWithin(both));
            return common > Math.min(bytes(), other.bytes()) / OVERLAP_LITTLE;
        }

        private long bytes() {
            return sample.bytesWithin(extent);
        }
    }
}
