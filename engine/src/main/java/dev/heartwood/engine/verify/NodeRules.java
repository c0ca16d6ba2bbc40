package dev.heartwood.engine.verify;

import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.image.TreeWalk.BundleView;
import dev.heartwood.engine.image.TreeWalk.Node;
import dev.heartwood.engine.image.TreeWalk.PivotView;
import dev.heartwood.engine.image.TreeWalk.RunView;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.trunk.PolicyRules;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** What must hold of every node of a trunk, beyond that its image can be read. */
final class NodeRules {
    private final Superblock superblock;
    private final PolicyRules policies;
    private final Consumer<String> problems;

    NodeRules(Superblock superblock, Consumer<String> problems) {
        this.superblock = superblock;
        StoreOptions options = StoreOptions.parse(superblock.options());
        this.policies = new PolicyRules(options.keyOrder(), options.fanout(), TrunkPolicies.of(options.policy()));
        this.problems = problems;
    }

    void check(Node node) {
        checkPivots(node);
        for (BundleView bundle : node.bundles()) {
            checkBundle(node, bundle);
        }
        String breach = policies.breach(node);
        if (breach != null) {
            report(node, breach);
        }
    }

    private void checkPivots(Node node) {
        Span span = node.span();
        List<PivotView> pivots = node.pivots();
        byte[] least = span.from() == null ? Keys.EMPTY : span.from();
        if (Keys.compare(pivots.getFirst().key(), least) != 0) {
            String found = Keys.text(pivots.getFirst().key());
            report(node, "the first pivot is " + found + " and not the least key " + Keys.text(least));
        }
        for (int p = 1; p < pivots.size(); p++) {
            if (!span.contains(pivots.get(p).key())) {
                report(node, "pivot " + p + ", " + Keys.text(pivots.get(p).key()) + ", is not within");
            }
        }
        if (node.height() == 0 && pivots.getFirst().firstActive() != 0) {
            report(node, "a leaf whose first " + pivots.getFirst().firstActive() + " runs have moved on");
        }
    }

    private void checkBundle(Node node, BundleView bundle) {
        String name = "bundle " + bundle.id();
        checkId(node, name, bundle.id());
        if (bundle.span().intersect(node.span()).isEmpty()) {
            report(node, name + " counts for " + bundle.span().words() + " only");
        }
        if (bundle.maplet() != null) {
            checkId(node, "maplet " + bundle.maplet().id(), bundle.maplet().id());
        }
        for (RunView run : bundle.runs()) {
            if (run.branch() != null) {
                checkRun(node, run);
            }
        }
    }

    private void checkRun(Node node, RunView run) {
        Branch branch = run.branch();
        String name = "branch " + branch.id();
        checkId(node, name, branch.id());
        if (branch.sequenceMax() > superblock.sequence()) {
            report(node, name + " has sequence " + branch.sequenceMax() + ", the checkpoint ends with "
                    + superblock.sequence());
        }
        if (!Arrays.equals(run.firstKey(), branch.firstKey()) || !Arrays.equals(run.lastKey(), branch.lastKey())) {
            report(node, name + " and its sample do not have the same first and last key");
        }
    }

    private void checkId(Node node, String name, long id) {
        if (id <= 0 || id >= superblock.nextId()) {
            report(node, name + " has an id that is not below the next one, " + superblock.nextId());
        }
    }

    private void report(Node node, String text) {
        problems.accept("trunk node on page " + node.page() + ", " + node.span().words() + ": " + text);
    }
}
