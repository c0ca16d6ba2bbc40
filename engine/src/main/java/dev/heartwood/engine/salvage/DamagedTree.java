package dev.heartwood.engine.salvage;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchSalvage.Gap;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.RootSearch;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.image.TreeWalk.BundleView;
import dev.heartwood.engine.image.TreeWalk.Node;
import dev.heartwood.engine.image.TreeWalk.RunView;
import dev.heartwood.engine.node.TreeStorage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What can be read of a checkpoint's tree: which branches count for a key, and which of them is younger. Where nodes cannot be read
 * the tree of an older checkpoint may stand in for them. One thread.
 */
final class DamagedTree implements TreeWalk.Visitor {
    /**
     * A branch that counts for the keys of a span; in the place of what is lost, {@link #LOST_BRANCH}.
     *
     * @param isOlder whether it counts in the older tree, where what is above the lost node may lie too
     */
    record Visible(long branchId, Span span, boolean isOlder) {
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
    private DamagedTree older;
    /** The keys for which the older tree stands in, and the branches that it alone has. */
    private List<Span> lostSpans = List.of();
    private final Set<Long> onlyOlder = new HashSet<>();
    private Span leafSpan;
    private List<Visible> youngestFirst;

    private DamagedTree(boolean isEmpty, Consumer<String> lost) {
        this.isEmpty = isEmpty;
        this.lost = lost;
    }

    /** Reads the tree of a root; {@code lost} is told of nodes that cannot be read, with their keys. */
    static DamagedTree read(TreeStorage storage, RootSearch.Root root, Consumer<String> lost) {
        DamagedTree tree = new DamagedTree(root.pages().length == 0, lost);
        TreeWalk.walk(storage, root.pages(), root.generation(), tree);
        return tree;
    }

    /** The keys of each node that cannot be read. */
    List<Span> lostSpans() {
        List<Span> spans = new ArrayList<>();
        if (!isEmpty) {
            addLostSpans(0, Span.ALL, spans);
        }
        return spans;
    }

    private void addLostSpans(int depth, Span span, List<Span> spans) {
        Node node = nodes.get(place(depth, span));
        if (node == null) {
            spans.add(span);
            return;
        }
        for (int pivot = 0; pivot < node.pivots().size() && node.height() > 0; pivot++) {
            addLostSpans(depth + 1, pivotSpan(node, pivot, span), spans);
        }
    }

    /** Has the tree of a checkpoint before this one, read through another cache, stand in for the nodes that cannot be read. */
    void goOnWith(DamagedTree before) {
        older = before;
        lostSpans = lostSpans();
        Set<Long> own = new HashSet<>();
        branches.forEach(branch -> own.add(branch.id()));
        for (Branch branch : before.branches) {
            if (!own.contains(branch.id()) && isStoodInFor(upTo(branch.firstKey(), branch.lastKey()))) {
                onlyOlder.add(branch.id());
                branches.add(branch);
            }
        }
    }

    private boolean isStoodInFor(Span span) {
        return lostSpans.stream().anyMatch(lostSpan -> !lostSpan.intersect(span).isEmpty());
    }

    /** Whether something is missing where a branch cannot be read. A branch of the older tree alone counts for few keys, perhaps. */
    boolean counts(Gap gap) {
        byte[] first = gap.after() == null ? gap.branch().firstKey() : gap.after();
        byte[] last = gap.before() == null ? gap.branch().lastKey() : gap.before();
        return !onlyOlder.contains(gap.branch().id()) || isStoodInFor(upTo(first, last));
    }

    private static Span upTo(byte[] first, byte[] last) {
        return new Span(first, Arrays.copyOf(last, last.length + 1));
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
            span = pivotSpan(node, pivot, span);
            addRuns(node, node.pivots().get(pivot).firstActive());
            leafSpan = span;
            isThere = node.height() > 0;
            node = isThere ? nodes.get(place(node.depth() + 1, span)) : null;
        }
        if (isThere) {
            youngestFirst.add(new Visible(LOST_BRANCH, Span.ALL, false));
            addOlder(key);
        }
    }

    private void addOlder(byte[] key) {
        if (older != null) {
            older.visible(key).forEach(visible -> youngestFirst.add(new Visible(visible.branchId, visible.span, true)));
            leafSpan = leafSpan.intersect(older.leafSpan);
        }
    }

    private static Span pivotSpan(Node node, int pivot, Span span) {
        byte[] from = pivot == 0 ? span.from() : node.pivots().get(pivot).key();
        byte[] to = pivot + 1 == node.pivots().size() ? span.to() : node.pivots().get(pivot + 1).key();
        return new Span(from, to);
    }

    private void addRuns(Node node, int firstActive) {
        int position = node.bundles().stream().mapToInt(bundle -> bundle.runs().size()).sum();
        for (BundleView bundle : node.bundles().reversed()) {
            for (RunView run : bundle.runs().reversed()) {
                position--;
                if (position >= firstActive && run.branch() != null) {
                    youngestFirst.add(new Visible(run.branch().id(), bundle.span(), false));
                } else if (position >= firstActive && run.isLost()) {
                    Span keys = upTo(run.firstKey(), run.lastKey()).intersect(bundle.span());
                    youngestFirst.add(new Visible(LOST_BRANCH, keys, false));
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
        lost.accept(span.words() + ": what the trunk node on page " + page + " and those below it refer to: " + text);
    }
}
