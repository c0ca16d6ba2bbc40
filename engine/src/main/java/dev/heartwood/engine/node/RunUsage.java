package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.page.PageLayout;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * How much of each run the tree still refers to. Splits share a run by reference, so its space comes back only when the last of
 * its users has merged it; what the others have let go of until then is dead. Merges share groups of large values likewise. Estimated from
 * samples.
 */
public final class RunUsage {
    /** What nodes use of a run, or which of a group of large values. */
    private static final class Use {
        private final TrunkNode first;
        private long bytes;
        /** Whether it lies in one leaf alone, and so is free once that is merged, large values and all. */
        private boolean isOfOneLeaf;

        Use(TrunkNode first) {
            this.first = first;
            this.isOfOneLeaf = first.isLeaf();
        }

        void add(TrunkNode node, long bytesOfNode) {
            bytes += bytesOfNode;
            isOfOneLeaf &= node == first;
        }
    }

    private static final double FREED_SHARE_MIN = 0.125;

    /** Some milliseconds' worth; where nodes share groups, runs may refer to as many as they have values. */
    private static final long REFERENCES_MAX = 1 << 16;

    /** How often the image of a node has the first and the last key of each run: with the branch, and with the sample. */
    private static final int KEYS_OF_IMAGE = 2;

    private final Map<Branch, Use> uses = new IdentityHashMap<>();
    /** Null where groups are not asked for, or too many. */
    private Map<OverflowGroup, Use> groups;

    private long referencesLeft;
    private long bytes;
    private long imageBytes;

    private RunUsage(Map<OverflowGroup, Use> groups, long referencesMax) {
        this.groups = groups;
        this.referencesLeft = referencesMax;
    }

    /** The usage of the runs of a whole tree; of their large values only how much they are. */
    public static RunUsage of(TrunkNode root) {
        RunUsage usage = new RunUsage(null, 0);
        usage.add(root, Span.ALL);
        return usage;
    }

    /**
     * The usage of runs and of the groups of their large values, by which it is known what merges that copy those take and free. As {@link
     * #of} where runs refer to more than 65,536 groups, since the tree is walked for each memtable.
     */
    public static RunUsage withGroups(TrunkNode root) {
        return withGroups(root, REFERENCES_MAX);
    }

    public static RunUsage withGroups(TrunkNode root, long referencesMax) {
        RunUsage usage = new RunUsage(new IdentityHashMap<>(), referencesMax);
        usage.add(root, Span.ALL);
        return usage;
    }

    private void add(TrunkNode node, Span span) {
        for (int p = 0; p < node.pivotCount(); p++) {
            Span pivotSpan = node.pivotSpan(p, span);
            int position = 0;
            for (Bundle bundle : node.bundles()) {
                Span both = pivotSpan.intersect(bundle.span());
                for (Run run : bundle.runs()) {
                    if (run != null && position >= node.pivot(p).firstActive()) {
                        use(run, node, run.sample().bytesWithin(both));
                    }
                    position++;
                }
            }
            if (node.pivot(p).child() != null) {
                add(node.pivot(p).child(), pivotSpan);
            }
        }
    }

    private void use(Run run, TrunkNode node, long bytesOfNode) {
        Use use = uses.get(run.branch());
        if (use == null) {
            use = new Use(node);
            uses.put(run.branch(), use);
            bytes += run.sample().bytes();
        }
        use.add(node, bytesOfNode);
        Branch branch = run.branch();
        imageBytes += bytesOfNode > 0 ? KEYS_OF_IMAGE * (branch.firstKey().length + (long) branch.lastKey().length) : 0;
        if (groups != null && bytesOfNode > 0) {
            useGroups(branch.overflowGroups(), node);
        }
    }

    private void useGroups(OverflowGroup[] all, TrunkNode node) {
        referencesLeft -= all.length;
        if (referencesLeft < 0) {
            groups = null;
            return;
        }
        for (OverflowGroup group : all) {
            groups.computeIfAbsent(group, g -> new Use(node)).add(node, 0);
        }
    }

    /** Whether the groups were counted. */
    public boolean knowsGroups() {
        return groups != null;
    }

    /** Whether any run refers to a group. */
    public boolean hasGroups() {
        return groups != null && !groups.isEmpty();
    }

    /** Bytes of the first and last keys of runs in the images of nodes, once they have moved to the children. */
    public long imageBytes() {
        return imageBytes;
    }

    /** Bytes of all entries of the tree's runs, used or not. */
    public long bytes() {
        return bytes;
    }

    /**
     * Bytes that nodes use of runs, and of groups, that do not lie in one leaf alone: they are to be copied before the runs and the groups are
     * free.
     */
    public long movingBytes() {
        long moving = 0;
        for (Map.Entry<Branch, Use> used : uses.entrySet()) {
            Use use = used.getValue();
            moving += use.isOfOneLeaf ? Math.min(use.bytes, sharedBytes(used.getKey())) : use.bytes;
        }
        return moving;
    }

    /** Bytes that a branch refers to in groups which do not lie in one leaf alone. */
    private long sharedBytes(Branch branch) {
        long shared = 0;
        OverflowGroup[] all = branch.overflowGroups();
        for (int i = 0; i < all.length && groups != null; i++) {
            Use use = groups.get(all[i]);
            shared += use == null || use.isOfOneLeaf ? 0 : branch.overflowBytes()[i];
        }
        return shared;
    }

    /**
     * Bytes of entries that a merge of a node, which copies large values where groups are known, frees beyond those that it writes, at most, or
     * below 0 those that it takes until other nodes are merged too.
     */
    public long freedBytes(TrunkNode node, Span span) {
        long freed = 0;
        int whole = 0;
        int position = 0;
        Set<OverflowGroup> counted = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                Use use = run == null ? null : uses.get(run.branch());
                if (use != null) {
                    long active = NodeMeasure.activeBytes(node, run, position, bundle.span(), span);
                    freed -= active;
                    if (use.bytes == active) {
                        freed += freedOf(run, counted);
                        whole++;
                    }
                }
                position++;
            }
        }
        // Runs become one, with the extents that each has begun.
        return freed + (long) Math.max(0, whole - 1) * PageLayout.EXTENT_BYTES;
    }

    /** What goes with a run of a leaf: its entries, and those of its groups that no other leaf refers to, each once. */
    private long freedOf(Run run, Set<OverflowGroup> counted) {
        long freed = run.sample().bytes();
        OverflowGroup[] all = run.branch().overflowGroups();
        for (int i = 0; i < all.length && groups != null; i++) {
            Use use = groups.get(all[i]);
            freed -= run.branch().overflowBytes()[i];
            freed += use != null && use.isOfOneLeaf && counted.add(all[i]) ? all[i].bytes() : 0;
        }
        return freed;
    }

    /** A merge of the whole leaf that frees most beyond what it writes, of those that may be merged; null when none frees a good part of that. */
    public CompactionPlan mostFreeing(TrunkNode root, BiPredicate<TrunkNode, Span> mayMerge) {
        return mostFreeing(root, Span.ALL, mayMerge, null);
    }

    /** A merge of the whole leaf that has most in runs and groups which it shares with others, so that it has its own; null when none does. */
    public CompactionPlan mostShared(TrunkNode root, BiPredicate<TrunkNode, Span> mayMerge) {
        Shared most = mostShared(root, Span.ALL, mayMerge, new Shared(0, null));
        return most.plan;
    }

    private record Shared(long bytes, CompactionPlan plan) {}

    private Shared mostShared(TrunkNode node, Span span, BiPredicate<TrunkNode, Span> mayMerge, Shared soFar) {
        Shared most = soFar;
        if (node.isLeaf()) {
            long shared = sharedBytes(node, span);
            return shared > most.bytes && mayMerge.test(node, span) ? new Shared(shared, whole(node, span)) : most;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            most = mostShared(node.pivot(p).child(), node.pivotSpan(p, span), mayMerge, most);
        }
        return most;
    }

    private long sharedBytes(TrunkNode leaf, Span span) {
        long shared = 0;
        int position = 0;
        for (Bundle bundle : leaf.bundles()) {
            for (Run run : bundle.runs()) {
                Use use = run == null ? null : uses.get(run.branch());
                if (use != null) {
                    long active = NodeMeasure.activeBytes(leaf, run, position, bundle.span(), span);
                    shared += use.isOfOneLeaf ? Math.min(active, sharedBytes(run.branch())) : active;
                }
                position++;
            }
        }
        return shared;
    }

    private static CompactionPlan whole(TrunkNode leaf, Span span) {
        return new CompactionPlan(0, span, leaf, 0, leaf.bundleCount(), 0, leaf.runCount());
    }

    private CompactionPlan mostFreeing(
            TrunkNode node, Span span, BiPredicate<TrunkNode, Span> mayMerge, CompactionPlan soFar) {
        CompactionPlan most = soFar;
        if (node.isLeaf()) {
            long freed = freedBytes(node, span);
            boolean isMost = most == null || freed > freedBytes(most.node(), most.span());
            return isMost && freed > FREED_SHARE_MIN * NodeMeasure.bytes(node, span) && mayMerge.test(node, span)
                    ? whole(node, span)
                    : most;
        }
        for (int p = 0; p < node.pivotCount(); p++) {
            most = mostFreeing(node.pivot(p).child(), node.pivotSpan(p, span), mayMerge, most);
        }
        return most;
    }

    /**
     * Bytes that are dead in the runs of a node, whose keys are {@code span}: of each run as much as falls to the node by its
     * share of what is still used.
     */
    public long deadBytes(TrunkNode node, Span span) {
        double dead = 0;
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                long used = run == null || !uses.containsKey(run.branch()) ? 0 : uses.get(run.branch()).bytes;
                if (used > 0) {
                    long unused = Math.max(0, run.sample().bytes() - used);
                    dead += (double) unused * NodeMeasure.activeBytes(node, run, position, bundle.span(), span) / used;
                }
                position++;
            }
        }
        return (long) dead;
    }
}
