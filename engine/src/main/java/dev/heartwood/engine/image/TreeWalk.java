package dev.heartwood.engine.image;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.branch.OverflowGroups;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.NodeMeasure;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the stored images of a tree, parents before children, and shows a visitor what is in them. Goes on past damage: what an
 * image tells before it stops making sense is shown too. Claims nothing and changes nothing. One thread; used once.
 */
public final class TreeWalk {
    /** Is shown the tree. Every branch, maplet and overflow group is shown once, however many nodes refer to it. */
    public interface Visitor {
        /** A node whose image makes sense. */
        void node(Node node);

        void branch(Branch branch);

        void maplet(Maplet maplet);

        void group(OverflowGroup group);

        /** The pages that an image is said to be on, before they are read. */
        void place(long[] pages, long generation);

        /** Something that is not as it should be, in the image that begins on {@code page} and covers {@code span}. */
        void damage(long page, Span span, String text);

        /** A damaged page, which may be any of an image; {@link #damage} follows. */
        default void damagedPage(CorruptionException e) {}
    }

    /**
     * A node of the trunk.
     *
     * @param page the first page of its image
     * @param pages how many pages the image has
     * @param depth nodes above it
     * @param height levels of nodes below it; 0 for a leaf
     * @param policy its own policy; null when it goes with its tree
     * @param span its keys
     * @param pivots its pivots, in the order of their keys
     * @param bundles its bundles, oldest first
     * @param activeBytes estimated bytes of entries that it holds and its children do not
     * @param node what {@code PolicyRules} look at
     */
    public record Node(
            long page,
            int pages,
            int depth,
            int height,
            TrunkPolicies policy,
            Span span,
            List<PivotView> pivots,
            List<BundleView> bundles,
            long activeBytes,
            TrunkNode node) {
        /**
         * The keys of the node for which a run counts: those of the children that have not got it yet.
         *
         * @param bundle the bundle that the run is in
         * @param position its position among all runs of the node, those included that have moved on
         */
        public List<Span> activeSpans(BundleView bundle, int position) {
            List<Span> spans = new ArrayList<>();
            for (int p = 0; p < pivots.size(); p++) {
                byte[] from = p == 0 ? span.from() : pivots.get(p).key();
                byte[] to = p + 1 == pivots.size() ? span.to() : pivots.get(p + 1).key();
                Span active = new Span(from, to).intersect(bundle.span());
                if (pivots.get(p).firstActive() <= position && !active.isEmpty()) {
                    spans.add(active);
                }
            }
            return spans;
        }
    }

    /** A pivot: its least key, and the position of the first run that its child has not got yet. */
    public record PivotView(byte[] key, int firstActive) {}

    /**
     * A bundle.
     *
     * @param id its number
     * @param settled whether a merge has dealt with it at this node
     * @param span the keys for which it counts
     * @param maplet its filter; null when its descriptor is damaged
     * @param runs its runs, oldest first
     */
    public record BundleView(long id, boolean settled, Span span, Maplet maplet, List<RunView> runs) {
        /** Runs that are there. */
        public int runCount() {
            return (int) runs.stream().filter(run -> run.branch() != null).count();
        }
    }

    /**
     * A run; all null where it has moved on.
     *
     * @param branch its branch; null also when its descriptor is damaged
     * @param firstKey the first key of its sample
     * @param lastKey the last key of its sample
     */
    public record RunView(Branch branch, byte[] firstKey, byte[] lastKey) {
        /** Whether there is a run of which nothing can be read. */
        public boolean isLost() {
            return branch == null && firstKey != null;
        }
    }

    private final TreeStorage storage;
    private final NodePages pages;
    private final Visitor visitor;
    private final Map<Long, Known<Run>> runs = new HashMap<>();
    private final Map<Long, Known<Maplet>> maplets = new HashMap<>();
    private final OverflowGroups groups = new OverflowGroups();
    private final Set<Long> seen = new HashSet<>();

    private record Known<T>(byte[] descriptor, T object) {}

    private TreeWalk(TreeStorage storage, Visitor visitor) {
        this.storage = storage;
        this.pages = new NodePages(storage);
        this.visitor = visitor;
    }

    /**
     * Walks the tree whose root is on {@code rootPages}; none of them is an empty tree.
     *
     * @throws InsufficientMemoryException when there is no buffer to read an image with, which is no damage
     */
    public static void walk(TreeStorage storage, long[] rootPages, long rootGeneration, Visitor visitor) {
        TreeWalk walk = new TreeWalk(storage, visitor);
        if (rootPages.length > 0 && walk.areOfNode(rootPages)) {
            walk.visit(new NodePlace(rootPages, rootGeneration, () -> {}), 0, -1, Span.ALL);
        }
        walk.groups.all().forEach(visitor::group);
    }

    /** Whether what a superblock names can be the pages of a node, as is asked of children when their places are decoded; tells of the damage. */
    private boolean areOfNode(long[] rootPages) {
        try {
            NodeCodec.requirePages(rootPages);
            return true;
        } catch (MalformedImageException e) {
            visitor.damage(rootPages[0], Span.ALL, e.getMessage());
            return false;
        }
    }

    private void visit(NodePlace place, int depth, int heightExpected, Span span) {
        long page = place.pages()[0];
        if (!seen.add(page)) {
            visitor.damage(page, span, "a second parent refers to this node");
            return;
        }
        visitor.place(place.pages(), place.generation());
        Image image = new Image(page, span);
        TrunkNode node = null;
        try {
            node = NodeCodec.decode(pages.read(place.pages(), place.generation()), heightExpected, image);
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the node
        } catch (StoreException e) {
            damage(page, span, e);
        } catch (MalformedImageException e) {
            visitor.damage(page, span, e.getMessage());
        }
        if (node != null) {
            visitor.node(view(node, place, depth, span, image));
        }
        for (int i = 0; i < image.children.size(); i++) {
            Span childSpan = node == null ? span : node.pivotSpan(i, span);
            visit(image.children.get(i), depth + 1, image.heights.get(i), childSpan);
        }
    }

    private void damage(long page, Span span, StoreException why) {
        if (why instanceof CorruptionException e) {
            visitor.damagedPage(e);
        }
        visitor.damage(page, span, why.getMessage());
    }

    private static Node view(TrunkNode node, NodePlace place, int depth, Span span, Image image) {
        List<PivotView> pivots = new ArrayList<>();
        long active = 0;
        for (int p = 0; p < node.pivotCount(); p++) {
            Pivot pivot = node.pivot(p);
            pivots.add(new PivotView(pivot.key(), pivot.firstActive()));
            active += NodeMeasure.activeBytes(node, p, node.pivotSpan(p, span));
        }
        List<BundleView> bundles = new ArrayList<>();
        int position = 0;
        for (Bundle bundle : node.bundles()) {
            List<RunView> views = new ArrayList<>();
            for (Run run : bundle.runs()) {
                KeySample lost = image.lostRuns.get(position++);
                views.add(run != null ? view(run.branch(), run.sample()) : view(null, lost));
            }
            bundles.add(new BundleView(bundle.id(), bundle.settled(), bundle.span(), bundle.maplet(), views));
        }
        int pageCount = place.pages().length;
        return new Node(place.pages()[0], pageCount, depth, node.height(), node.ownPolicy(), span, pivots, bundles, active, node);
    }

    private static RunView view(Branch branch, KeySample sample) {
        return sample == null ? new RunView(null, null, null) : new RunView(branch, sample.first(), sample.last());
    }

    /** Takes what one image refers to; remembers the children instead of reading them at once. */
    private final class Image implements NodeCodec.Objects {
        private final long page;
        private final Span span;
        private final List<NodePlace> children = new ArrayList<>();
        private final List<Integer> heights = new ArrayList<>();
        /** Runs that cannot be read, by their position among all of the node. */
        private final Map<Integer, KeySample> lostRuns = new HashMap<>();

        Image(long page, Span span) {
            this.page = page;
            this.span = span;
        }

        @Override
        public TrunkNode child(NodePlace place, int height) {
            children.add(place);
            heights.add(height);
            return null;
        }

        @Override
        public NodePlace place(long[] nodePages, long generation) {
            return new NodePlace(nodePages, generation, () -> {});
        }

        @Override
        public Run run(int position, long id, byte[] descriptor, KeySample sample) {
            Known<Run> known = runs.get(id);
            if (known != null && known.object != null) {
                requireSame("branch " + id, known.descriptor, descriptor);
                return known.object;
            }
            Run run = null;
            try {
                String file = storage.device().name();
                Branch branch = Branch.decode(ByteBuffer.wrap(descriptor), storage.branches(), groups, file, page);
                requireId("branch", id, branch.id());
                run = new Run(branch, sample);
                visitor.branch(branch);
            } catch (StoreException e) {
                lostRuns.put(position, sample);
                damage(page, span, e);
            }
            runs.put(id, new Known<>(descriptor, run));
            return run;
        }

        @Override
        public Maplet maplet(long id, byte[] descriptor) {
            Known<Maplet> known = maplets.get(id);
            if (known != null) {
                requireSame("maplet " + id, known.descriptor, descriptor);
                return known.object;
            }
            Maplet maplet = null;
            try {
                maplet = Maplet.decode(ByteBuffer.wrap(descriptor), storage.device().name(), page, extents -> () -> {});
                requireId("maplet", id, maplet.id());
                visitor.maplet(maplet);
            } catch (StoreException e) {
                damage(page, span, e);
            }
            maplets.put(id, new Known<>(descriptor, maplet));
            return maplet;
        }

        private void requireSame(String what, byte[] first, byte[] second) {
            if (!Arrays.equals(first, second)) {
                visitor.damage(page, span, what + " is described differently than in another node");
            }
        }

        private void requireId(String what, long expected, long actual) {
            if (expected != actual) {
                visitor.damage(page, span, what + " " + actual + " under the id of " + expected);
            }
        }
    }
}
