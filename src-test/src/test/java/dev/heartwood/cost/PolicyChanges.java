package dev.heartwood.cost;

import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreListener;
import java.util.ArrayList;
import java.util.List;

/** What a store has changed by itself. */
final class PolicyChanges implements StoreListener {
    final List<PolicyChange> all = new ArrayList<>();

    @Override
    public void policyChange(PolicyChange event) {
        all.add(event);
    }

    /** The last change of a part; null when there was none. */
    PolicyChange last(Part part) {
        return all.stream().filter(event -> event.part() == part).reduce((a, b) -> b).orElse(null);
    }
}
