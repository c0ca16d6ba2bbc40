package dev.heartwood.engine.branch;

import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Leaves in the page cache, locked while the cursor stands on them; for scans of users. */
final class CachedLeaves implements LeafSource {
    /*
     * A seek asks for as many leaves as scans of the branch took lately. A scan that goes on asks for as many again when it comes to
     * the last of them, or for as many as it has taken, so that it reads about twice what it needs at most. Reads of half an extent
     * and more take a while, so the next is begun half way through; those of an extent and more end with one. Scans that go back do
     * likewise, but that nobody tells where their range begins.
     */
    private static final int LONG_READ_PAGES = PageLayout.EXTENT_PAGES / 2;
    private static final int READ_PAGES_MAX = 2 * PageLayout.EXTENT_PAGES;
    private static final int NONE = -2;

    private final Branch branch;
    private long locked;
    private int current = NONE;
    /** The last leaf of the range that the current one lies in. */
    private int lastLeaf = NONE;
    /** Where the scan began that has come to the current leaf. */
    private int first = NONE;
    /** Up to which leaf was asked, and how many at a time. */
    private int askedTo;

    private int asked;
    /** Where the scan began that goes back and has come to the current leaf. */
    private int turned = NONE;
    /** The first leaf that was asked for on the way back, and how many at a time. */
    private int askedFrom;

    private int askedBack;
    /** For which leaf a seek has asked, up to {@link #askedTo}. */
    private int announced = NONE;
    /** As {@link #announced}, from {@link #askedFrom} on. */
    private int announcedBack = NONE;

    CachedLeaves(Branch branch) {
        this.branch = branch;
    }

    @Override
    public long open(int leaf, int lastInRange) {
        leave();
        lastLeaf = lastInRange;
        if (leaf == current + 1) {
            turned = NONE;
            goOn(leaf, lastLeaf);
        } else {
            if (leaf == current - 1) {
                goBack(leaf);
            } else {
                endScan();
                turned = leaf == announcedBack ? leaf : NONE;
            }
            first = leaf;
            if (leaf != announced) {
                askedTo = leaf + 1;
                asked = 0;
            }
        }
        announced = NONE;
        announcedBack = NONE;
        current = leaf;
        locked = branch.storage.file().lockSharedPatiently(branch.devicePage(leaf), PageType.BRANCH_LEAF, branch.id);
        return locked;
    }

    @Override
    public boolean isAbsent(int leaf) {
        return (leaf != current || locked == 0) && !branch.storage.file().isCached(branch.devicePage(leaf));
    }

    @Override
    public void readAhead(int leaf, int lastInRange) {
        announced = leaf;
        ask(leaf, leaf + branch.scanLength.pages(), Math.max(leaf, lastInRange));
    }

    @Override
    public void readAheadBack(int leaf) {
        announcedBack = leaf;
        askBack(Math.max(0, leaf + 1 - branch.scanLength.pages()), leaf + 1);
    }

    @Override
    public long openContinuation(int leaf) {
        if (isAbsent(leaf)) {
            goOn(leaf, Math.max(leaf, lastLeaf));
        }
        return branch.storage.file().lockSharedPatiently(branch.devicePage(leaf), PageType.BRANCH_LEAF, branch.id);
    }

    @Override
    public void closeContinuation(long page) {
        branch.storage.file().unlockShared(page);
    }

    private void goOn(int leaf, int lastInRange) {
        int askAgainAt = askedTo - (asked < LONG_READ_PAGES ? 1 : asked / 2);
        if (leaf >= askAgainAt) {
            int taken = leaf - first;
            int from = Math.max(askedTo, leaf);
            int to = from + Math.clamp(taken, branch.scanLength.pages(), READ_PAGES_MAX);
            ask(from, taken < PageLayout.EXTENT_PAGES ? to : to & -PageLayout.EXTENT_PAGES, lastInRange);
        }
    }

    /** Has leaves up to {@code to} read, with a request for each extent that they lie in. */
    private void ask(int from, int to, int lastInRange) {
        int end = Math.min(to, lastInRange + 1);
        int begun = from;
        boolean isBusy = false;
        while (begun < end && !isBusy) {
            int extentEnd = (begun | PageLayout.EXTENT_PAGES - 1) + 1;
            int wanted = Math.min(end, extentEnd) - begun;
            int pages = branch.storage.file().prefetch(branch.devicePage(begun), wanted, PageType.BRANCH_LEAF, branch.id);
            begun += pages;
            isBusy = pages < wanted;
        }
        askedTo = begun;
        asked = begun - from;
    }

    private void goBack(int leaf) {
        if (turned == NONE) {
            turned = current;
            askedFrom = current;
            askedBack = 0;
        }
        int askAgainAt = askedFrom - (askedBack < LONG_READ_PAGES ? 1 : -askedBack / 2);
        if (leaf <= askAgainAt) {
            int taken = turned - leaf;
            int end = Math.min(askedFrom, leaf + 1);
            int begin = Math.max(0, end - Math.clamp(taken, branch.scanLength.pages(), READ_PAGES_MAX));
            askBack(taken < PageLayout.EXTENT_PAGES ? begin : begin + PageLayout.EXTENT_PAGES - 1 & -PageLayout.EXTENT_PAGES, end);
        }
    }

    /** As {@link #ask}, of what is needed first before the rest. */
    private void askBack(int from, int to) {
        int begun = to;
        boolean isBusy = false;
        while (begun > from && !isBusy) {
            int begin = Math.max(from, begun - 1 & -PageLayout.EXTENT_PAGES);
            int wanted = begun - begin;
            isBusy = branch.storage.file().prefetch(branch.devicePage(begin), wanted, PageType.BRANCH_LEAF, branch.id) < wanted;
            begun = isBusy ? begun : begin;
        }
        askedFrom = begun;
        askedBack = to - begun;
    }

    private void endScan() {
        if (first >= 0) {
            branch.scanLength.add(turned == NONE ? current - first + 1 : turned - current + 1);
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
        endScan();
        first = NONE;
        turned = NONE;
    }
}
