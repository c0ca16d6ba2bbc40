package dev.heartwood.engine.trunk;

import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkVersion;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Counts over the current tree; what nodes share is counted once.
 *
 * @param height levels of nodes
 * @param nodes nodes
 * @param runs branches
 * @param entries entries of all branches
 * @param dataBytes bytes of their keys and values, large values included
 * @param filterBytes bytes of all maplets
 * @param filterEntries fingerprints of all maplets
 */
public record TreeSummary(int height, int nodes, int runs, long entries, long dataBytes, long filterBytes, long filterEntries) {
    /** The counts of the current version. */
    public static TreeSummary of(Trunk trunk) {
        TrunkVersion version = trunk.pin();
        try {
            Set<Branch> branches = Collections.newSetFromMap(new IdentityHashMap<>());
            Set<Maplet> maplets = Collections.newSetFromMap(new IdentityHashMap<>());
            int nodes = count(version.root(), branches, maplets);
            return new TreeSummary(
                    version.root().height() + 1,
                    nodes,
                    branches.size(),
                    branches.stream().mapToLong(Branch::entries).sum(),
                    branches.stream().mapToLong(Branch::dataBytes).sum(),
                    maplets.stream().mapToLong(Maplet::bytes).sum(),
                    maplets.stream().mapToLong(Maplet::entries).sum());
        } finally {
            version.release();
        }
    }

    private static int count(TrunkNode node, Set<Branch> branches, Set<Maplet> maplets) {
        for (Bundle bundle : node.bundles()) {
            maplets.add(bundle.maplet());
            for (Run run : bundle.runs()) {
                if (run != null) {
                    branches.add(run.branch());
                }
            }
        }
        int nodes = 1;
        for (Pivot pivot : node.pivots()) {
            nodes += pivot.child() == null ? 0 : count(pivot.child(), branches, maplets);
        }
        return nodes;
    }
}
