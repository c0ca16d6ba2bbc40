package dev.heartwood.engine.salvage;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.trunk.TreeStorage;
import dev.heartwood.engine.trunk.TreeWalk;
import dev.heartwood.engine.trunk.TreeWalk.BundleView;
import dev.heartwood.engine.trunk.TreeWalk.Node;
import dev.heartwood.engine.trunk.TreeWalk.RunView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What can be read of a checkpoint's tree: which branches count for a key, and which of them is younger. One thread. */
final class DamagedTree implements TreeWalk.Visitor {
    /** A branch that counts for the keys of a span; in the place of what is lost, {@link #LOST_BRANCH}. */
    record Visible(long branchId, Span span) {
        boolean isLost() {
            return branchId == LOST_BRANCH;
        }
    }

    /** Stands for branches of which nothing can be read, not even which they are. */
    static final long LOST_BRANCH = -1;

    private record Place(int depth, String from) {}

    private final Map<Place, Node> nodes = new HashMap<>();
    private final List<Branch> branches = new ArrayList<>();
    private final Consumer<String> lost;
    private final boolean isEmpty;
    private Span leafSpan;
    private List<Visible> youngestFirst;

    private DamagedTree(boolean isEmpty, Consumer<String> lost) {
        this.isEmpty = isEmpty;
        this.lost = lost;
    }

    /** Reads the tree of a superblock; {@code lost} is told of nodes that cannot be read, with their keys. */
    static DamagedTree read(TreeStorage storage, Superblock superblock, Consumer<String> lost) {
        DamagedTree tree = new DamagedTree(superblock.rootPages().length == 0, lost);
        TreeWalk.walk(storage, superblock.rootPages(), superblock.rootGeneration(), tree);
        return tree;
    }

    /** Every branch whose descriptor can be read. */
    List<Branch> branches() {
        return branches;
    }

    /**
     * The branches on the way from the root to a key's leaf that count there, youngest first, and what is lost in the place where its
     * branches were. The same list for keys that follow each other up to the next bound of a leaf.
     */
    List<Visible> visible(byte[] key) {
        if (leafSpan == null || !leafSpan.contains(key)) {
            descend(key);
        }
        return youngestFirst;
    }

    private void descend(byte[] key) {
        youngestFirst = new ArrayList<>();
        Span span = Span.ALL;
        leafSpan = span;
        Node node = nodes.get(place(0, span));
        boolean isThere = !isEmpty;
        while (node != null) {
            int pivot = node.pivots().size() - 1;
            while (pivot > 0 && Keys.compare(node.pivots().get(pivot).key(), key) > 0) {
                pivot--;
            }
            byte[] from = pivot == 0 ? span.from() : node.pivots().get(pivot).key();
            byte[] to = pivot + 1 == node.pivots().size() ? span.to() : node.pivots().get(pivot + 1).key();
            span = new Span(from, to);
            addRuns(node, node.pivots().get(pivot).firstActive());
            leafSpan = span;
            isThere = node.height() > 0;
            node = isThere ? nodes.get(place(node.depth() + 1, span)) : null;
        }
        if (isThere) {
            youngestFirst.add(new Visible(LOST_BRANCH, Span.ALL));
        }
    }

    private void addRuns(Node node, int firstActive) {
        int position = node.bundles().stream().mapToInt(bundle -> bundle.runs().size()).sum();
        for (BundleView bundle : node.bundles().reversed()) {
            for (RunView run : bundle.runs().reversed()) {
                position--;
                if (position >= firstActive && run.branch() != null) {
                    youngestFirst.add(new Visible(run.branch().id(), bundle.span()));
                } else if (position >= firstActive && run.isLost()) {
                    byte[] afterLast = Arrays.copyOf(run.lastKey(), run.lastKey().length + 1);
                    youngestFirst.add(
                            new Visible(LOST_BRANCH, new Span(run.firstKey(), afterLast).intersect(bundle.span())));
                }
            }
        }
    }

    private static Place place(int depth, Span span) {
        return new Place(depth, span.from() == null ? "" : java.util.HexFormat.of().formatHex(span.from()));
    }

    @Override
    public void node(Node node) {
        nodes.put(place(node.depth(), node.span()), node);
    }

    @Override
    public void branch(Branch branch) {
        branches.add(branch);
    }

    @Override
    public void maplet(Maplet maplet) {}

    @Override
    public void group(OverflowGroup group) {}

    @Override
    public void place(long[] pages, long generation) {}

    @Override
    public void damage(long page, Span span, String text) {
        lost.accept("keys " + span + ": what the trunk node on page " + page + " and those below it refer to: " + text);
    }
}
