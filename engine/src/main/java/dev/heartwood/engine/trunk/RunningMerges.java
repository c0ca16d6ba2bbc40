package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/**
 * The merges that are planned and not done. A node is not merged twice at once; but a flush hands one bundle to several nodes, and those
 * are merged beside each other, each for its own keys. Guarded by the trunk's structure lock.
 */
final class RunningMerges {
    private final List<CompactionPlan> plans = new ArrayList<>();

    void add(CompactionPlan plan) {
        plans.add(plan);
    }

    /** Allocates nothing: a merge that ended for want of Java heap has to be able to end. */
    void remove(CompactionPlan plan) {
        for (int i = plans.size() - 1; i >= 0; i--) {
            if (plans.get(i) == plan) {
                plans.remove(i);
            }
        }
    }

    /** Whether a merge reads what a node, whose keys are {@code span}, holds for them: its result will take the place of that. */
    boolean isBusy(TrunkNode node, Span span) {
        for (CompactionPlan plan : plans) {
            boolean reachesIt = plan.height() == node.height() && !plan.span().intersect(span).isEmpty();
            if (reachesIt && isInput(plan, node, span)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isInput(CompactionPlan plan, TrunkNode node, Span span) {
        for (Bundle planned : plan.bundles()) {
            Span read = plan.spanOf(planned).intersect(span);
            for (int b = 0; b < node.bundleCount(); b++) {
                Bundle bundle = node.bundle(b);
                if (bundle.id() == planned.id() && !bundle.span().intersect(read).isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }
}
