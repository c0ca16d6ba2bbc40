package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.HeapArrays;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Walks the entries of a branch that can be read, in order, past those that cannot. Needs no index page: leaves lie in the order of
 * their keys. Belongs to one thread.
 */
public final class BranchSalvage implements AutoCloseable {
    private final Branch branch;
    private final BiConsumer<Gap, String> lost;
    private int leaf = -1;
    private boolean isAtLeaf;
    private long page;
    private int count;
    private int index;
    /** Whether {@link #next} had no memory for what it came to, which it tries again: a leaf, or an entry of one. */
    private boolean isToBeTriedAgain;

    private byte[] key;
    private byte[] lastKey;
    private byte[] gapFrom;
    private String reason;
    private int bounds;
    private byte kind;
    private final List<Gap> gaps = new ArrayList<>();
    private Gap gap;

    /**
     * Keys of which entries may be lost.
     *
     * @param after the last key that could be read before them, of which versions may be lost too; null when they begin with the
     *     branch's first
     * @param before the first that could be read behind them, of which versions may be lost too; null when they end with the
     *     branch's last
     * @param branch the branch
     */
    public record Gap(byte[] after, byte[] before, Branch branch) {
        /** Whether entries of a key may be among those lost. */
        public boolean contains(byte[] key) {
            return Keys.compare(first(), key) <= 0
                    && Keys.compare(key, before == null ? branch.lastKey() : before) <= 0;
        }

        private byte[] first() {
            return after == null ? branch.firstKey() : after;
        }

        @Override
        public String toString() {
            return "keys " + (after == null ? "from " + Keys.text(branch.firstKey()) : "after " + Keys.text(after))
                    + (before == null ? " up to " + Keys.text(branch.lastKey()) : " and before " + Keys.text(before));
        }
    }

    /** Stands before the first entry; {@code lost} is given each stretch that cannot be read, and why. */
    public BranchSalvage(Branch branch, BiConsumer<Gap, String> lost) {
        this.branch = branch;
        this.lost = lost;
    }

    /**
     * Moves to the next entry that can be read; false at the end.
     *
     * @throws InsufficientMemoryException when there is no memory to read it, which says nothing of it: it still is the next one
     */
    public boolean next() {
        if (!isToBeTriedAgain) {
            lastKey = key;
            gap = null;
            index = isAtLeaf ? index + 1 : 0;
            leaf = isAtLeaf ? leaf : leaf + 1;
        }
        isToBeTriedAgain = true;
        boolean found = false;
        try {
            while (!found && leaf < branch.leafPages()) {
                found = open() && read();
                if (!found) {
                    isAtLeaf = false;
                    leaf++;
                    index = 0;
                }
            }
        } finally {
            leave();
        }
        isToBeTriedAgain = false;
        key = found ? key : null;
        if (reason != null) {
            gap = new Gap(gapFrom, key, branch);
            gaps.add(gap);
            lost.accept(gap, reason);
            reason = null;
        }
        return found;
    }

    private boolean open() {
        leave();
        try {
            enter();
            count = KeyedPage.count(page);
            isAtLeaf = true;
            return true;
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the leaf
        } catch (StoreException e) {
            lose(e);
            return false;
        }
    }

    /** Has the leaf stay in memory until {@link #leave}: not between calls, since a tree may have more branches than there are frames. */
    private void enter() {
        page = branch.storage.file().lockShared(branch.devicePage(leaf), PageType.BRANCH_LEAF, branch.id);
    }

    /** Stands on the first readable entry of the leaf from where it is on. */
    private boolean read() {
        for (; index < count; index++) {
            try {
                bounds = KeyedPage.bounds(page, count, index);
                key = readKey();
                kind = BranchReader.kind(page, KeyedPage.meta(page, bounds));
                return true;
            } catch (InsufficientMemoryException e) {
                throw e; // which says nothing of the entry
            } catch (StoreException e) {
                lose(e);
            }
        }
        return false;
    }

    private void lose(StoreException why) {
        if (reason == null) {
            gapFrom = lastKey;
            reason = why.getMessage();
        }
    }

    private byte[] readKey() {
        byte[] inline = KeyedPage.inlineKey(page, count, index);
        if ((KeyedPage.meta(page, bounds) & KEY_OVERFLOWS) == 0) {
            return inline;
        }
        int at = KeyedPage.tail(KeyedPage.keyField(page, bounds));
        OverflowGroup group = KeyedPage.group(page, at, bounds & 0xffff, branch);
        byte[] whole = Arrays.copyOf(inline, KeyedPage.keyReferenceLength(page, at, group, inline.length));
        long position = KeyedPage.referencePosition(page + at);
        group.read(position, MemorySegment.ofArray(whole), inline.length, whole.length - inline.length);
        return whole;
    }

    private void leave() {
        if (page != 0) {
            branch.storage.file().unlockShared(page);
            page = 0;
        }
    }

    /** The key of the entry; null at the end. */
    public byte[] key() {
        return key;
    }

    /** Whether entries of a key may be among those right before the current one that could not be read. */
    public boolean isInGap(byte[] other) {
        return gap != null && gap.contains(other);
    }

    /** Whether entries of a key may be among those up to the current one that could not be read. */
    public boolean isInAnyGap(byte[] other) {
        int from = 0;
        int to = gaps.size();
        while (from < to) {
            int middle = from + to >>> 1;
            if (Keys.compare(gaps.get(middle).first(), other) <= 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from > 0 && gaps.get(from - 1).contains(other);
    }

    /** What the entry is, of {@link dev.heartwood.engine.base.Entries}. */
    public byte kind() {
        return kind;
    }

    /**
     * The value.
     *
     * @throws StoreException when it lies in pages that cannot be read
     * @throws InsufficientMemoryException when the Java heap has no room for it
     */
    public byte[] value() {
        enter();
        try {
            return readValue();
        } finally {
            leave();
        }
    }

    private byte[] readValue() {
        int at = KeyedPage.valueOffset(page, bounds, KeyedPage.keyField(page, bounds));
        int end = bounds & 0xffff;
        if (index == count - 1 && KeyedPage.lastContinues(page)) {
            return continuedValue(at, end);
        }
        if ((KeyedPage.meta(page, bounds) & VALUE_OVERFLOWS) == 0) {
            return Memory.bytes(page + at, end - at);
        }
        OverflowGroup group = KeyedPage.group(page, at, end, branch);
        byte[] value = HeapArrays.make(KeyedPage.valueReferenceLength(page, at, group));
        group.read(KeyedPage.referencePosition(page + at), MemorySegment.ofArray(value), 0, value.length);
        return value;
    }

    private byte[] continuedValue(int at, int end) {
        int rest = KeyedPage.continuationLength(page, at, end);
        int here = end - CONTINUATION_LENGTH_BYTES - at;
        byte[] value = new byte[here + rest];
        Memory.copyTo(page + at, value, 0, here);
        long nextLeaf = branch.devicePage(KeyedPage.nextLeaf(page, branch, leaf));
        long next = branch.storage.file().lockShared(nextLeaf, PageType.BRANCH_LEAF, branch.id);
        try {
            Memory.copyTo(KeyedPage.continuation(next, rest), value, here, rest);
        } finally {
            branch.storage.file().unlockShared(next);
        }
        return value;
    }

    /** The branch. */
    public Branch branch() {
        return branch;
    }

    @Override
    public void close() {
        leave();
    }
}
