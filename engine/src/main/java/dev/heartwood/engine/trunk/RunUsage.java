package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * How much of each run the tree still refers to. Splits share a run by reference, so its space comes back only when the last of
 * its users has merged it; what the others have let go of until then is dead. Estimated from samples.
 */
final class RunUsage {
    private final Map<Branch, Long> usedBytes = new IdentityHashMap<>();

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
                        if (!usedBytes.containsKey(run.branch())) {
                            bytes += run.sample().bytes();
                        }
                        usedBytes.merge(run.branch(), run.sample().bytesWithin(both), Long::sum);
                    }
                    position++;
                }
            }
            if (node.pivot(p).child() != null) {
                add(node.pivot(p).child(), pivotSpan);
            }
        }
    }

    /** Bytes of all entries of the tree's runs, used or not. */
    long bytes() {
        return bytes;
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
                long used = run == null ? 0 : usedBytes.getOrDefault(run.branch(), 0L);
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
