package dev.heartwood.engine.inspect;

import dev.heartwood.engine.image.TreeWalk.BundleView;
import dev.heartwood.engine.image.TreeWalk.Node;
import dev.heartwood.engine.image.TreeWalk.RunView;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.verify.Tree;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The tree as a table with a row for each level, the root's first. */
final class LevelTable {
    private LevelTable() {}

    static Table of(Tree tree, TrunkPolicies common) {
        Table table = new Table()
                .row("level", "nodes", "pivots", "bundles", "unsettled", "runs", "branches", "branch pages", "active data",
                        "policy");
        int height = tree.nodes().stream().mapToInt(Node::height).max().orElse(-1);
        for (int level = height; level >= 0; level--) {
            addLevel(tree, level, level == height ? "root" : level == 0 ? "leaves" : "height " + level, common, table);
        }
        return table;
    }

    private static void addLevel(Tree tree, int level, String name, TrunkPolicies common, Table table) {
        int nodes = 0;
        int pivots = 0;
        int bundles = 0;
        int unsettled = 0;
        int runs = 0;
        long pages = 0;
        long active = 0;
        Set<Long> branches = new HashSet<>();
        Map<TrunkPolicies, Integer> policies = new EnumMap<>(TrunkPolicies.class);
        for (Node node : tree.nodes()) {
            if (node.height() != level) {
                continue;
            }
            nodes++;
            policies.merge(node.policy() == null ? common : node.policy(), 1, Integer::sum);
            pivots += node.pivots().size();
            active += node.activeBytes();
            for (BundleView bundle : node.bundles()) {
                bundles++;
                unsettled += bundle.settled() ? 0 : 1;
                runs += bundle.runCount();
                for (RunView run : bundle.runs()) {
                    if (run.branch() != null && branches.add(run.branch().id())) {
                        pages += run.branch().pageCount();
                    }
                }
            }
        }
        table.row(
                name, nodes, pivots, bundles, unsettled, runs, branches.size(), pages, Table.bytes(active), text(policies));
    }

    /** The policy of all, or each with how many nodes are under it. */
    private static String text(Map<TrunkPolicies, Integer> nodes) {
        boolean isMixed = nodes.size() > 1;
        return nodes.entrySet().stream()
                .map(entry -> entry.getKey().name().toLowerCase(Locale.ROOT) + (isMixed ? " " + entry.getValue() : ""))
                .collect(Collectors.joining(", "));
    }
}
