package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.FIRST_CHILD;
import static dev.heartwood.engine.branch.KeyedPageLayout.LEVELS_MAX;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Builds the index pages of a branch while its leaves are written. Belongs to one thread. */
final class IndexBuilder {
    /*
     * Level 1 refers to leaves, whose numbers are known, so its pages go out in a stream of their own as soon as they fill an
     * extent. The pages of the levels above refer to pages whose numbers depend on how many leaves there will be; they are few
     * (one in some 50,000 leaves), wait in memory with children counted from 0, and are finished at the end.
     */
    private final BranchStorage storage;
    private final PageStream levelOne;
    private final Level[] levels = new Level[LEVELS_MAX + 1];
    private int height;

    private final class Level {
        final int number;
        final PageBuilder builder = PageBuilder.ofIndexPages();
        final long memory;
        final int memoryBytes = 4 * PageLayout.PAGE_BYTES;
        long[] waiting = new long[4];
        int pages;
        int children;
        int firstChild;

        Level(int number) {
            this.number = number;
            this.memory = PageStream.allocate(storage.mergePool(), memoryBytes);
            builder.use(memory);
        }

        void close() {
            long page;
            if (number == 1) {
                page = levelOne.append(PageType.BRANCH_INDEX);
            } else {
                if (pages == waiting.length) {
                    waiting = java.util.Arrays.copyOf(waiting, pages * 2);
                }
                page = PageStream.allocate(storage.mergePool(), PageLayout.PAGE_BYTES);
                waiting[pages] = page;
            }
            builder.build(page, number, firstChild);
            pages++;
            children = 0;
        }

        void release() {
            storage.mergePool().free(memory, memoryBytes);
            for (int i = 0; number > 1 && i < pages; i++) {
                storage.mergePool().free(waiting[i], PageLayout.PAGE_BYTES);
            }
        }
    }

    IndexBuilder(BranchStorage storage, long generation, WriteMode mode) {
        this.storage = storage;
        this.levelOne = new PageStream(storage, generation, mode);
    }

    /**
     * Adds child {@code child} of the given level, the next one.
     *
     * @param key the inline part of its separator, which the child 0 of a level has not
     * @param meta kind and overflow bits of the separator
     * @param reference its key reference when it has one
     */
    void add(int level, int child, long key, int keyLength, long sequence, int meta, long reference, int referenceLength) {
        Level here = levels[level];
        if (here == null) {
            here = new Level(level);
            levels[level] = here;
            height = level;
        }
        if (here.children > 0) {
            if (here.builder.add(key, keyLength, sequence, meta, reference, referenceLength, 0, 0)) {
                here.children++;
                return;
            }
            here.close();
            if (here.pages == 1) {
                add(level + 1, 0, 0, 0, 0, 0, 0, 0);
            }
            add(level + 1, here.pages, key, keyLength, sequence, meta, reference, referenceLength);
        }
        here.firstChild = child;
        here.children = 1;
    }

    /** The levels so far. */
    int height() {
        return height;
    }

    /**
     * Writes what is left behind the leaves, whose stream is otherwise complete, and finishes both streams.
     *
     * @return the number within the branch of the first index page
     */
    int finish(PageStream leaves, Extents extents) {
        for (int level = 1; level <= height; level++) {
            levels[level].close();
        }
        PageStream last = leaves;
        int firstPage;
        if (levelOne.hasExtents()) {
            leaves.writeBuffered();
            firstPage = leaves.extents().length * PageLayout.EXTENT_PAGES;
            last = levelOne;
        } else {
            firstPage = leaves.pageCount();
            leaves.appendAll(levelOne);
        }
        int base = firstPage;
        for (int level = 2; level <= height; level++) {
            for (int i = 0; i < levels[level].pages; i++) {
                long page = levels[level].waiting[i];
                Memory.putLong(page + FIRST_CHILD, Memory.getLong(page + FIRST_CHILD) + base);
                Memory.copy(page, last.append(PageType.BRANCH_INDEX), PageLayout.PAGE_BYTES);
            }
            base += levels[level - 1].pages;
        }
        last.writeBuffered();
        leaves.awaitWritten();
        levelOne.awaitWritten();
        for (int extent : leaves.extents()) {
            extents.add(extent);
        }
        for (int extent : levelOne.extents()) {
            extents.add(extent);
        }
        return firstPage;
    }

    /** Pages so far. */
    int pageCount() {
        int pages = 0;
        for (int level = 1; level <= height; level++) {
            pages += levels[level].pages;
        }
        return pages;
    }

    /** Gives back the memory. */
    void close() {
        levelOne.close();
        for (int level = 1; level <= height; level++) {
            if (levels[level] != null) {
                levels[level].release();
                levels[level] = null;
            }
        }
    }

    /** Gives back the memory and everything written. */
    void abort() {
        levelOne.abort();
        close();
    }
}
