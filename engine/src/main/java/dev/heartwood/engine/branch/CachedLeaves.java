package dev.heartwood.engine.branch;

import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Leaves in the page cache, locked while the cursor stands on them; for scans of users. */
final class CachedLeaves implements LeafSource {
    /*
     * A scan that moves on to the next leaf is taken to go on: it asks for the leaves ahead, twice as many each time it has used
     * half of them up, and never across the end of an extent in one request. Going back works likewise.
     *
     * What is read ahead of a seek is two leaves at once: a short scan often ends in the second, and one read of two pages takes a
     * device hardly longer than one of a single page.
     */
    private static final int SEEK_PAGES = 2;

    private final Branch branch;
    private long locked;
    private int current = -2;
    private int direction;
    private int windowPages;
    private int askedTo;

    CachedLeaves(Branch branch) {
        this.branch = branch;
    }

    @Override
    public long open(int leaf, int lastLeaf) {
        leave();
        int step = leaf - current;
        if (step == 1 && direction == 1) {
            prefetch(leaf, lastLeaf);
        } else {
            direction = step == 1 ? 1 : 0;
            windowPages = 2;
            askedTo = leaf + 1;
        }
        current = leaf;
        locked = branch.storage.file().lockSharedPatiently(branch.devicePage(leaf), PageType.BRANCH_LEAF, branch.id);
        return locked;
    }

    @Override
    public boolean isAbsent(int leaf) {
        return (leaf != current || locked == 0) && !branch.storage.file().isCached(branch.devicePage(leaf));
    }

    @Override
    public void readAhead(int leaf, int lastLeaf) {
        int extentEnd = (leaf | PageLayout.EXTENT_PAGES - 1) + 1;
        int end = Math.min(Math.min(leaf + SEEK_PAGES, extentEnd), Math.max(leaf, lastLeaf) + 1);
        branch.storage.file().prefetch(branch.devicePage(leaf), end - leaf, PageType.BRANCH_LEAF, branch.id);
    }

    private void prefetch(int leaf, int lastLeaf) {
        if (leaf + windowPages / 2 < askedTo) {
            return;
        }
        int from = Math.max(askedTo, leaf + 1);
        int extentEnd = (from | PageLayout.EXTENT_PAGES - 1) + 1;
        int to = Math.min(Math.min(from + windowPages, extentEnd), lastLeaf + 1);
        if (to > from) {
            askedTo = from
                    + branch.storage.file().prefetch(branch.devicePage(from), to - from, PageType.BRANCH_LEAF, branch.id);
            windowPages = Math.min(windowPages * 2, PageLayout.EXTENT_PAGES);
        }
    }

    private void leave() {
        if (locked != 0) {
            branch.storage.file().unlockShared(locked);
            locked = 0;
        }
    }

    @Override
    public void close() {
        leave();
    }
}
