package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * How much of each run the tree still refers to. Splits share a run by reference, so its space comes back only when the last of
 * its users has merged it; what the others have let go of until then is dead. Estimated from samples.
 */
final class RunUsage {
    /** What nodes use of a run. */
    private static final class Use {
        private final TrunkNode first;
        private long bytes;
        /** Whether it lies in one leaf alone, and so is free once that is merged. */
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

    private final Map<Branch, Use> uses = new IdentityHashMap<>();

    private long bytes;

    private RunUsage() {}

    /** The usage of the runs of a whole tree. */
    static RunUsage of(TrunkNode root) {
        RunUsage usage = new RunUsage();
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
                        use(run, node).add(node, run.sample().bytesWithin(both));
                    }
                    position++;
                }
            }
            if (node.pivot(p).child() != null) {
                add(node.pivot(p).child(), pivotSpan);
            }
        }
    }

    private Use use(Run run, TrunkNode node) {
        Use use = uses.get(run.branch());
        if (use == null) {
            use = new Use(node);
            uses.put(run.branch(), use);
            bytes += run.sample().bytes();
        }
        return use;
    }

    /** Bytes of all entries of the tree's runs, used or not. */
    long bytes() {
        return bytes;
    }

    /** Bytes that nodes use of runs that do not lie in one leaf alone: they are to be copied before the runs are free. */
    long movingBytes() {
        long moving = 0;
        for (Use use : uses.values()) {
            moving += use.isOfOneLeaf ? 0 : use.bytes;
        }
        return moving;
    }

    /**
     * Bytes of entries that a merge of a node frees beyond those that it writes, at most, or below 0 those that it takes until other nodes
     * are merged too.
     */
    long freedBytes(TrunkNode node, Span span) {
        long freed = 0;
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            for (Run run : bundle.runs()) {
                Use use = run == null ? null : uses.get(run.branch());
                if (use != null) {
                    long active = NodeMeasure.activeBytes(node, run, position, bundle.span(), span);
                    freed += use.bytes == active ? run.sample().bytes() - active : -active;
                }
                position++;
            }
        }
        return freed;
    }

    /** A merge of the whole leaf that frees most beyond what it writes, of those that may be merged; null when none frees a good part of that. */
    CompactionPlan mostFreeing(TrunkNode root, BiPredicate<TrunkNode, Span> mayMerge) {
        return mostFreeing(root, Span.ALL, mayMerge, null);
    }

    private CompactionPlan mostFreeing(
            TrunkNode node, Span span, BiPredicate<TrunkNode, Span> mayMerge, CompactionPlan soFar) {
        CompactionPlan most = soFar;
        if (node.isLeaf()) {
            long freed = freedBytes(node, span);
            boolean isMost = most == null || freed > freedBytes(most.node(), most.span());
            return isMost && freed > FREED_SHARE_MIN * NodeMeasure.bytes(node, span) && mayMerge.test(node, span)
                    ? new CompactionPlan(0, span, node, 0, node.bundleCount(), 0, node.runCount())
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
    long deadBytes(TrunkNode node, Span span) {
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
