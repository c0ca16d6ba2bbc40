package dev.heartwood.engine.verify;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The tree of a checkpoint as its node images tell it, with the extents that it uses. */
public final class Tree implements TreeWalk.Visitor {
    /** Where the image of a node is, readable or not. */
    record Image(long[] pages, long generation) {}

    private final ExtentUse extents;
    private final Consumer<String> problems;
    private final Consumer<CorruptionException> damagedPages;
    private final List<TreeWalk.Node> nodes = new ArrayList<>();
    private final List<Image> images = new ArrayList<>();
    private final List<Branch> branches = new ArrayList<>();
    private final List<Maplet> maplets = new ArrayList<>();
    private final List<OverflowGroup> groups = new ArrayList<>();
    private final long generationMax;
    private boolean isIncomplete;

    private Tree(ExtentUse extents, long generationMax, Consumer<String> problems, Consumer<CorruptionException> damagedPages) {
        this.extents = extents;
        this.generationMax = generationMax;
        this.problems = problems;
        this.damagedPages = damagedPages;
    }

    /** Reads the tree of a superblock; what is wrong with it goes to {@code problems}. */
    public static Tree read(TreeStorage storage, Superblock superblock, Consumer<String> problems) {
        return read(storage, superblock, problems, page -> {});
    }

    /** Reads the tree of the checkpoint that a view shows, which is told of the damaged pages; what is wrong with it goes to {@code problems}. */
    public static Tree read(StoreView view, Consumer<String> problems) {
        return read(view.tree(), view.newest(), problems, view::met);
    }

    private static Tree read(
            TreeStorage storage, Superblock superblock, Consumer<String> problems, Consumer<CorruptionException> damagedPages) {
        long fileExtents = storage.device().size() / PageLayout.EXTENT_BYTES;
        Tree tree = new Tree(new ExtentUse(fileExtents, problems), generationMax(superblock), problems, damagedPages);
        TreeWalk.walk(storage, superblock.rootPages(), superblock.rootGeneration(), tree);
        return tree;
    }

    /** No node that the superblock's checkpoint reaches has a greater one: they are ids, and were numbers of checkpoints in stores of older versions. */
    private static long generationMax(Superblock superblock) {
        return Math.max(superblock.number(), superblock.nextId() - 1);
    }

    public List<TreeWalk.Node> nodes() {
        return nodes;
    }

    List<Image> images() {
        return images;
    }

    public List<Branch> branches() {
        return branches;
    }

    public List<Maplet> maplets() {
        return maplets;
    }

    public List<OverflowGroup> groups() {
        return groups;
    }

    /** Whether some node could not be read, so that what is below it is not here. */
    public boolean isIncomplete() {
        return isIncomplete;
    }

    public ExtentUse extents() {
        return extents;
    }

    @Override
    public void node(TreeWalk.Node node) {
        nodes.add(node);
    }

    @Override
    public void branch(Branch branch) {
        branches.add(branch);
        for (int extent : branch.extents()) {
            extents.use(extent, "branch " + branch.id());
        }
    }

    @Override
    public void maplet(Maplet maplet) {
        maplets.add(maplet);
        for (int i = 0; i < maplet.extentCount(); i++) {
            extents.use(maplet.extent(i), "maplet " + maplet.id());
        }
    }

    @Override
    public void group(OverflowGroup group) {
        groups.add(group);
        for (int extent : group.extents()) {
            extents.use(extent, "overflow group " + group.id());
        }
    }

    @Override
    public void place(long[] pages, long generation) {
        if (generation > generationMax) {
            problems.accept("trunk node on page " + pages[0] + ": of generation " + generation + ", greater than any that its checkpoint has, "
                    + generationMax);
        }
        images.add(new Image(pages, generation));
        for (long page : pages) {
            extents.useByNode(page, page >>> PageLayout.EXTENT_SHIFT);
        }
    }

    @Override
    public void damage(long page, Span span, String text) {
        isIncomplete = true;
        problems.accept("trunk node on page " + page + ", " + span.words() + ": " + text);
    }

    @Override
    public void damagedPage(CorruptionException e) {
        damagedPages.accept(e);
    }
}
