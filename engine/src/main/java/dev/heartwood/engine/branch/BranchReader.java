package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.FoundEntry.Waits;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageType;

/** Point search in a branch. Thread-safe; allocates nothing. */
public final class BranchReader {
    /** Beside the number of a leaf, which is never negative. */
    private static final int CONTINUES = 1 << 31;

    private static final int LEAF_MASK = ~CONTINUES;

    private BranchReader() {}

    /** What {@link #findCached} came to. */
    public enum Answer {
        FOUND,
        ABSENT,
        /** The leaf would have to be read. */
        UNKNOWN
    }

    /**
     * Finds the newest entry of a key that a snapshot sees; inside an epoch, which keeps the value readable. A large value is not
     * read, unless it lies on one page: the result says where it is.
     *
     * @return whether there is one, or a read was begun instead ({@link FoundEntry#hasBegun}); {@code result} is untouched otherwise
     */
    public static boolean find(
            CachedFile file, Branch branch, long key, int keyLength, long snapshot, FoundEntry result) {
        int number = leafFor(file, branch, key, keyLength, snapshot);
        long leaf = branch.devicePage(number & LEAF_MASK);
        if (result.waits == Waits.FOR_NOTHING && begins(file, branch, leaf, number < 0 ? 2 : 1)) {
            result.hasBegun = true;
            return true;
        }
        boolean isCached = file.isCached(leaf);
        if (number < 0 && !isCached) {
            file.bring(leaf, 2, PageType.BRANCH_LEAF, branch.id, false);
        }
        return findInLeaf(file, branch, number & LEAF_MASK, isCached, key, keyLength, snapshot, result);
    }

    /** As {@link #find}, if the leaf where the key would be is cached. */
    public static Answer findCached(
            CachedFile file, Branch branch, long key, int keyLength, long snapshot, FoundEntry result) {
        int number = leafFor(file, branch, key, keyLength, snapshot) & LEAF_MASK;
        long leaf = branch.devicePage(number);
        if (!(result.waits == Waits.FOR_NOTHING ? file.isReady(leaf) : file.isCached(leaf))) {
            return Answer.UNKNOWN;
        }
        return findInLeaf(file, branch, number, true, key, keyLength, snapshot, result) ? Answer.FOUND : Answer.ABSENT;
    }

    /** Begins to read some neighbouring leaves, unless the first is there. */
    private static boolean begins(CachedFile file, Branch branch, long leaf, int count) {
        if (file.isReady(leaf)) {
            return false;
        }
        file.begin(leaf, count, PageType.BRANCH_LEAF, branch.id);
        return true;
    }

    /** The leaf where a key's newest entry would be, with {@link #CONTINUES} if the index knows that it goes on in the next. */
    private static int leafFor(CachedFile file, Branch branch, long key, int keyLength, long snapshot) {
        int number = branch.root();
        int continues = 0;
        for (int level = branch.shape.levels(); level > 0; level--) {
            long page = file.page(branch.devicePage(number), PageType.BRANCH_INDEX, branch.id);
            int child = KeyedPage.childFor(page, branch, key, keyLength, snapshot);
            number = child(page, branch, level, child);
            if (level == 1 && KeyedPage.isContinued(page, branch, child, key, keyLength)) {
                continues = CONTINUES;
            }
        }
        return number | continues;
    }

    private static boolean findInLeaf(
            CachedFile file,
            Branch branch,
            int number,
            boolean isCached,
            long key,
            int keyLength,
            long snapshot,
            FoundEntry result) {
        long page = file.page(branch.devicePage(number), PageType.BRANCH_LEAF, branch.id);
        int count = KeyedPage.count(page);
        int index = KeyedPage.lowerBound(page, branch, key, keyLength, snapshot);
        if (index == count) {
            return false;
        }
        int prefixLength = KeyedPage.prefixLength(page, count);
        if (!KeyedPage.hasPrefixAndHead(page, count, index, prefixLength, key, keyLength)) {
            return false;
        }
        int bounds = KeyedPage.bounds(page, count, index);
        int keyField = KeyedPage.keyField(page, bounds);
        if (KeyedPage.compareTies(page, branch, bounds, keyField, prefixLength, key, keyLength) != 0) {
            return false;
        }
        boolean isValueCached = index == count - 1 && KeyedPage.lastContinues(page)
                ? gather(file, branch, number, page, bounds, keyField, result)
                : fill(page, branch, bounds, keyField, result);
        result.isFromDevice = result.wasBegun || !(isCached && isValueCached);
        return true;
    }

    /** Puts a value together that goes on in the next leaf; returns whether that was cached. */
    private static boolean gather(
            CachedFile file, Branch branch, int leaf, long page, int bounds, int keyField, FoundEntry result) {
        byte kind = kind(page, KeyedPage.meta(page, bounds));
        long sequence = KeyedPage.sequence(page, bounds, Memory.getLong(page + SEQUENCE_BASE));
        int value = KeyedPage.valueOffset(page, bounds, keyField);
        int rest = KeyedPage.continuationLength(page, value, bounds & 0xffff);
        int here = (bounds & 0xffff) - CONTINUATION_LENGTH_BYTES - value;
        if (result.room == 0) {
            throw new IllegalStateException("no room for a value in two pieces");
        }
        long nextLeaf = branch.devicePage(KeyedPage.nextLeaf(page, branch, leaf));
        if (result.waits == Waits.FOR_NOTHING && begins(file, branch, nextLeaf, 1)) {
            result.hasBegun = true;
            return false;
        }
        boolean isCached = file.isCached(nextLeaf);
        long next = file.page(nextLeaf, PageType.BRANCH_LEAF, branch.id);
        Memory.copy(page + value, result.room, here);
        Memory.copy(KeyedPage.continuation(next, rest), result.room + here, rest);
        result.set(kind, sequence, result.room, here + rest);
        return isCached;
    }

    /** Returns whether nothing of the value was read from the device. */
    private static boolean fill(long page, Branch branch, int bounds, int keyField, FoundEntry result) {
        int meta = KeyedPage.meta(page, bounds);
        byte kind = kind(page, meta);
        long sequence = KeyedPage.sequence(page, bounds, Memory.getLong(page + SEQUENCE_BASE));
        int value = KeyedPage.valueOffset(page, bounds, keyField);
        int end = bounds & 0xffff;
        if ((meta & VALUE_OVERFLOWS) == 0) {
            result.set(kind, sequence, page + value, end - value);
            return true;
        }
        OverflowGroup group = KeyedPage.group(page, value, end, branch);
        int length = KeyedPage.valueReferenceLength(page, value, group);
        long position = KeyedPage.referencePosition(page + value);
        if (result.waits != Waits.FOR_ALL && group.begins(position, length)) {
            result.hasBegun = true;
            return false;
        }
        if (!OverflowGroup.isOnOnePage(position, length)) {
            result.setLarge(kind, sequence, group, position, length);
            return true;
        }
        boolean isCached = group.isCached(OverflowGroup.pageOf(position));
        result.set(kind, sequence, group.address(position), length);
        return isCached;
    }

    /** The kind in a leaf entry's meta byte, known to be one. */
    static byte kind(long page, int meta) {
        int kind = meta & KIND_MASK;
        if (!Entries.isKind(kind)) {
            throw KeyedPage.corrupt(page, "a kind of entry", "kind " + kind);
        }
        return (byte) kind;
    }

    /** The number within the branch of a child of an index page of {@code level}, known to be a page of the level below. */
    static int child(long page, Branch branch, int level, int index) {
        long child = Memory.getLong(page + FIRST_CHILD) + index;
        BranchShape shape = branch.shape;
        long low = level == 1 ? 0 : shape.firstIndexPage();
        long high = level == 1 ? shape.leafPages() : shape.pageCount() - 1;
        if (KeyedPage.level(page) != level || child < low || child >= high) {
            throw badChild(page, level, child);
        }
        return (int) child;
    }

    private static CorruptionException badChild(long page, int level, long child) {
        return KeyedPage.corrupt(
                page, "a page of level " + level + " and its child", "level " + KeyedPage.level(page) + ", child " + child);
    }
}
