package dev.heartwood.engine.verify;

import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** All pages of a tree, as runs of neighbours of one owner within one extent, in the order of the file. */
public final class PageRuns {
    /**
     * Neighbouring pages of one owner.
     *
     * @param first the number of the first page in the file
     * @param count how many, at most an extent
     * @param type what they are
     * @param generation what their owner knows them by
     */
    public record Run(long first, int count, PageType type, long generation) {
        public long position() {
            return first << PageLayout.PAGE_SHIFT;
        }

        public int bytes() {
            return count << PageLayout.PAGE_SHIFT;
        }

        /**
         * Returns when the bytes at {@code address} are these pages.
         *
         * @throws dev.heartwood.CorruptionException for the first that is not
         */
        public void verify(long address, long storeId, String file) {
            for (int i = 0; i < count; i++) {
                long page = address + ((long) i << PageLayout.PAGE_SHIFT);
                PageSeal.verify(page, type, storeId, first + i, generation, file);
            }
        }
    }

    private final List<Run> runs = new ArrayList<>();

    private PageRuns() {}

    /** The runs of a tree that was read without damage. */
    public static List<Run> of(Tree tree) {
        PageRuns of = new PageRuns();
        for (Tree.Image image : tree.images()) {
            for (long page : image.pages()) {
                of.runs.add(new Run(page, 1, PageType.TRUNK, image.generation()));
            }
        }
        for (Branch branch : tree.branches()) {
            int[] extents = branch.extents();
            of.add(extent -> extents[extent], 0, branch.leafPages(), PageType.BRANCH_LEAF, branch.id());
            int firstIndex = branch.shape().firstIndexPage();
            if (branch.levels() > 0) {
                of.add(extent -> extents[extent], firstIndex, branch.pageCount(), PageType.BRANCH_INDEX, branch.id());
            }
        }
        for (OverflowGroup group : tree.groups()) {
            of.add(extent -> group.extents()[extent], 0, group.pageCount(), PageType.OVERFLOW, group.id());
        }
        for (Maplet maplet : tree.maplets()) {
            of.add(maplet::extent, 0, maplet.pages(), PageType.FILTER, maplet.id());
        }
        of.runs.sort(Comparator.comparingLong(Run::first));
        return of.runs;
    }

    private void add(IntUnaryOperator extents, int from, int to, PageType type, long generation) {
        for (int page = from; page < to; ) {
            int end = Math.min(to, (page | PageLayout.EXTENT_PAGES - 1) + 1);
            long extent = extents.applyAsInt(page >>> PageLayout.EXTENT_SHIFT);
            long first = (extent << PageLayout.EXTENT_SHIFT) + (page & PageLayout.EXTENT_PAGES - 1);
            runs.add(new Run(first, end - page, type, generation));
            page = end;
        }
    }
}
