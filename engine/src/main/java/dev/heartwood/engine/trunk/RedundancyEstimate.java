package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletSlice;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.RunUsage;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * How much of a tree is redundant, node by node: versions of keys that younger ones supersede, in the same node or in one above it, and
 * parts of runs that no node refers to any more. From the hashes of a sample of keys, the same everywhere, as maplets record them ("SplinterDB
 * and Maplets", adaptive space reclamation). Bytes are those of entries: keys and values. One thread makes it; immutable afterwards.
 *
 * <p>Tombstones and operands count as any entry. Of versions of a key within one run, which were kept for views, it is known which are free by now
 * ({@code KeptVersions}); after the store was opened anew they count as live.
 */
public final class RedundancyEstimate {
    /*
     * An entry is superseded when its hash is met again in a younger run on the path from the root. Three things stand between the
     * sample and the truth.
     *
     * Shares. A maplet names all keys of its runs, though the node may count them for a part of the keys only: after a split by
     * reference, after a flush by reference, and where some children have got the run already. Of the keys that a maplet names for a run, the
     * share that lies where the run counts is known from its sample. A hash met in several runs lies where all of them count, so its
     * chance of being there is that of the run which reaches least far beyond, the greatest of the shares.
     *
     * False positives. With n hashes of b bits seen, another key is taken for one of them with a chance of q = n / 2^b. What is observed
     * is t + (1 - t) q on the average, so t is (observed - q) / (1 - q).
     *
     * Children that have got a run and those that have not: pivots of a node for which the same runs count are looked at together.
     */

    /**
     * What a node has to give.
     *
     * @param height its height, leaves at 0
     * @param span its keys
     * @param oldestBundle the id of the first of its bundles; 0 when it has none
     * @param usedBytes bytes of entries that it refers to and its children do not
     * @param within of them, what younger runs of the node supersede, or what was kept for views that are closed
     * @param above of them, what only nodes above supersede
     * @param dead bytes that nobody refers to, in runs that it keeps alive; where several do, a part for each
     */
    public record Node(
            int height, Span span, long oldestBundle, long usedBytes, double within, double above, double dead) {
        /** Bytes that are gone when all above it has been flushed to the node, and the node merged. */
        public double redundantBytes() {
            return Math.max(0, within + above) + dead;
        }

        /** Bytes of the newest versions, and of what was kept for an open view. */
        public double liveBytes() {
            return Math.max(0, usedBytes - within - above);
        }
    }

    private final Function<Maplet, MapletSlice> slices;
    private final long oldestView;
    private final RunUsage usage;
    private final List<Node> nodes = new ArrayList<>();
    private final HashShares younger = new HashShares();
    /** The hashes of the runs that were added to it, cut by so many bits: what was above the node looked at last. */
    private final HashShares above = new HashShares();

    private List<Named> aboveAdded = List.of();
    private int aboveCut = Integer.SIZE;
    private double liveBytes;
    private double keptBytes;

    private RedundancyEstimate(TrunkNode root, Function<Maplet, MapletSlice> slices, long oldestView) {
        this.slices = slices;
        this.oldestView = oldestView;
        this.usage = RunUsage.of(root);
        visit(root, Span.ALL, List.of());
        for (Node node : nodes) {
            liveBytes += node.liveBytes();
        }
        liveBytes = Math.max(0, liveBytes - keptBytes);
    }

    /**
     * The estimate for a tree.
     *
     * @param slices for each maplet the slice with as many zero bits
     * @param oldestView the sequence number that the oldest open view sees, Long.MAX_VALUE when there is none
     */
    public static RedundancyEstimate of(TrunkNode root, Function<Maplet, MapletSlice> slices, long oldestView) {
        return new RedundancyEstimate(root, slices, oldestView);
    }

    /** All nodes, parents before children. */
    public List<Node> nodes() {
        return nodes;
    }

    /** Bytes of entries in all runs of the tree, wherever nobody refers to them included. */
    public long bytes() {
        return usage.bytes();
    }

    /** Bytes of the newest versions. */
    public double liveBytes() {
        return liveBytes;
    }

    /** Bytes of versions that are known to be there for open views alone. */
    public double keptBytes() {
        return keptBytes;
    }

    /** Bytes of the tree for each one of the newest versions; 1 for an empty tree. */
    public double spaceAmplification() {
        return bytes() == 0 ? 1 : bytes() / Math.max(1, liveBytes);
    }

    /** A run that counts for some keys: what its maplet says of it. */
    private record Named(Run run, MapletSlice slice, int value, Maplet maplet, long activeBytes) {
        int[] hashes() {
            return slice.of(value);
        }

        double entryBytes() {
            return (double) run.sample().bytes() / Math.max(1, run.branch().entries());
        }

        /** Of the keys that the maplet names for the run, each once, the share for which it counts. */
        float share() {
            double counted = (activeBytes - keptBytes(run.kept().entries())) / Math.max(1, entryBytes());
            return (float) Math.clamp(counted / Math.max(1, maplet.entries(value)), Float.MIN_NORMAL, 1);
        }

        /** Bytes, where the run counts, of so many of the entries that were kept for views. */
        double keptBytes(long entries) {
            return (double) entries * activeBytes / Math.max(1, run.branch().entries());
        }

        /** Entries for each one in the slice. */
        double scale() {
            return (double) maplet.entries(value) / hashes().length;
        }
    }

    /** @param aboveRuns what the nodes above hold for the node */
    private void visit(TrunkNode node, Span span, List<Named> aboveRuns) {
        Map<Integer, List<Span>> groups = new TreeMap<>();
        for (int p = 0; p < node.pivotCount(); p++) {
            groups.computeIfAbsent(node.pivot(p).firstActive(), first -> new ArrayList<>()).add(node.pivotSpan(p, span));
        }
        long used = 0;
        double[] superseded = new double[2];
        for (Map.Entry<Integer, List<Span>> group : groups.entrySet()) {
            List<Named> runs = activeRuns(node, group.getKey(), group.getValue());
            for (Named run : runs) {
                used += run.activeBytes;
                long free = run.run.kept().free(oldestView);
                superseded[0] += run.keptBytes(free);
                keptBytes += run.keptBytes(run.run.kept().entries() - free);
            }
            addSuperseded(runs, aboveRuns, superseded);
        }
        long oldest = node.bundleCount() == 0 ? 0 : node.bundle(0).id();
        long dead = usage.deadBytes(node, span);
        nodes.add(new Node(node.height(), span, oldest, used, superseded[0], superseded[1], dead));
        // Children that have got the same runs one after the other, since the same is above them as a rule.
        for (int firstActive : groups.keySet()) {
            visitChildren(node, span, firstActive, aboveRuns);
        }
    }

    private void visitChildren(TrunkNode node, Span span, int firstActive, List<Named> aboveRuns) {
        for (int p = 0; p < node.pivotCount(); p++) {
            if (node.pivot(p).child() != null && node.pivot(p).firstActive() == firstActive) {
                Span pivotSpan = node.pivotSpan(p, span);
                List<Named> held = new ArrayList<>(aboveRuns);
                held.addAll(activeRuns(node, firstActive, List.of(pivotSpan)));
                visit(node.pivot(p).child(), pivotSpan, held);
            }
        }
    }

    /** The runs from a position on that have entries in some spans, oldest first. */
    private List<Named> activeRuns(TrunkNode node, int firstActive, List<Span> spans) {
        List<Named> active = new ArrayList<>();
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            for (int value = 0; value < bundle.runs().length; value++, position++) {
                Run run = bundle.runs()[value];
                long bytes = 0;
                for (Span span : spans) {
                    bytes += run == null || position < firstActive ? 0 : run.sample().bytesWithin(span.intersect(bundle.span()));
                }
                if (bytes > 0) {
                    active.add(new Named(run, slices.apply(bundle.maplet()), value, bundle.maplet(), bytes));
                }
            }
        }
        return active;
    }

    /** Adds bytes of runs that are superseded by others of them, and those that are superseded by runs above only. */
    private void addSuperseded(List<Named> runs, List<Named> aboveRuns, double[] superseded) {
        int cut = Integer.SIZE - Math.min(bits(runs), bits(aboveRuns));
        younger.clear(count(runs));
        setAbove(aboveRuns, cut);
        double falseAbove = above.size() / range(cut);
        for (Named run : runs.reversed()) {
            if (run.hashes().length == 0) {
                continue;
            }
            double falseWithin = younger.size() / range(cut);
            double falseAny = 1 - (1 - falseWithin) * (1 - falseAbove);
            float share = run.share();
            double within = 0;
            double any = 0;
            for (int whole : run.hashes()) {
                int hash = whole >>> cut;
                float seen = younger.share(hash);
                double chance = Math.max(share, seen);
                within += chance * truth(seen > 0, falseWithin);
                any += chance * truth(seen > 0 || above.share(hash) > 0, falseAny);
            }
            double bytes = run.scale() * run.entryBytes();
            superseded[0] += within * bytes;
            superseded[1] += (any - within) * bytes;
            add(run, cut, younger);
        }
    }

    /** Only whether a hash is above is asked, not with what share. */
    private void setAbove(List<Named> runs, int cut) {
        boolean isSame = cut == aboveCut && runs.size() == aboveAdded.size();
        for (int i = 0; isSame && i < runs.size(); i++) {
            isSame = runs.get(i).slice == aboveAdded.get(i).slice && runs.get(i).value == aboveAdded.get(i).value;
        }
        if (!isSame) {
            above.clear(count(runs));
            for (Named run : runs) {
                add(run, cut, above);
            }
            aboveAdded = runs;
            aboveCut = cut;
        }
    }

    private static double truth(boolean observed, double falsePositives) {
        return ((observed ? 1 : 0) - falsePositives) / Math.max(0.5, 1 - falsePositives);
    }

    private static void add(Named run, int cut, HashShares shares) {
        float share = run.share();
        for (int hash : run.hashes()) {
            shares.add(hash >>> cut, share);
        }
    }

    private static int count(List<Named> runs) {
        int hashes = 0;
        for (Named run : runs) {
            hashes += run.hashes().length;
        }
        return hashes;
    }

    private static int bits(List<Named> runs) {
        int bits = Integer.SIZE;
        for (Named run : runs) {
            bits = Math.min(bits, run.slice.bits());
        }
        return Math.max(1, bits);
    }

    private static double range(int cut) {
        return Math.scalb(1.0, Integer.SIZE - cut);
    }
}
