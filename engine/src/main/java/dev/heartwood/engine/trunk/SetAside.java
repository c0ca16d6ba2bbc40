package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Input of merges that cannot be read for damage, never to be planned again while the store is open. A flush hands one bundle to several
 * nodes, so that it is set aside for the keys of the one whose merge met the damage alone. Guarded by the trunk's structure lock.
 */
final class SetAside {
    private record Place(int height, long bundle) {}

    private final Map<Place, List<Span>> spans = new HashMap<>();

    /** Sets the input of a merge aside. */
    void add(CompactionPlan plan) {
        for (Bundle bundle : plan.bundles()) {
            spans.computeIfAbsent(new Place(plan.height(), bundle.id()), place -> new ArrayList<>(1)).add(plan.spanOf(bundle));
        }
    }

    /** The index behind the youngest bundle of a node with these keys that was set aside: what is younger is merged as ever. */
    int after(TrunkNode node, Span span) {
        int after = spans.isEmpty() ? 0 : node.bundleCount();
        while (after > 0 && !contains(node.height(), node.bundle(after - 1), span)) {
            after--;
        }
        return after;
    }

    private boolean contains(int height, Bundle bundle, Span span) {
        Span counted = bundle.span().intersect(span);
        for (Span aside : spans.getOrDefault(new Place(height, bundle.id()), List.of())) {
            if (!aside.intersect(counted).isEmpty()) {
                return true;
            }
        }
        return false;
    }
}
