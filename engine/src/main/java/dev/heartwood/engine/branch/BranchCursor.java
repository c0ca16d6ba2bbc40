package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.cache.ExtentReader;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Walks the entries of a branch in one or several ranges of keys, both ways; all versions. Holds a reference to the branch until it
 * is closed. Belongs to one thread at a time.
 */
public final class BranchCursor implements LargeValueCursor {
    /*
     * Which leaves a range lies in is looked up in the index when the cursor leaves its first one. Once it is known, bounds are
     * searched for in the first and last leaf only; between them nothing is compared. [begin, limit) are the entries of the open leaf
     * within the range.
     *
     * The key is put together in keyBuffer: the prefix when the leaf is opened, head and rest for each entry. A long key is
     * gathered in a buffer of its own, which the next short one gives back: of many open cursors few stand on one. The value stays
     * in the leaf, unless it goes on in the next one.
     */
    private static final int MEMORY_BYTES = PageLayout.PAGE_BYTES;
    /** Of the memory, what an inline key and one value in two pieces take; the rest is for the bounds of the ranges. */
    private static final int KEY_BYTES = KEY_INLINE_BYTES_MAX + HEAD_BYTES;

    private static final int BOUNDS_AT = KEY_BYTES + VALUE_INLINE_BYTES_MAX;

    /** The memory that a scan lends to each of its cursors: enough for usual keys. */
    public static final int LENT_BYTES = 512;

    private static final int LENT_KEY_BYTES = 256;

    private static final int UNKNOWN = -1;

    /** In place of how much is read at once: nothing is, pages are those of the cache. */
    private static final int FROM_CACHE = 0;

    private final Branch branch;
    private final BranchStorage storage;
    private final CursorMemory pools;
    private final LeafRanges ranges;
    private final LeafSource source;
    /** Of this cursor's own; 0 while it makes do with what it was lent. */
    private long memory;
    private long keyBuffer;
    /** The longest key that fits; its head, which is always written whole, may end beyond. */
    private int keyRoom;
    private long longKeyBuffer;
    private long longKeyBufferBytes;
    private long valueBuffer;
    private long valueBufferBytes;

    private int range;
    private int leaf;
    private long page;
    private int count;
    private int prefixLength;
    private long sequenceBase;
    private int begin;
    private int limit;
    private int index;
    /** The entry of the open leaf whose value goes on in the next one, if any. */
    private int continued = UNKNOWN;

    private long keyAddress;
    private int keyLength;
    private long sequence;
    private int meta;
    private long valueAddress;
    private int valueLength;
    private OverflowGroup largeGroup;
    private long largePosition;
    /** Made when the first large value is read. */
    private LargeValuesAhead largeAhead;
    /** Where the seek that was announced will begin. */
    private int leafAhead = UNKNOWN;
    private boolean closed;

    private BranchCursor(
            Branch branch, CursorMemory pools, LeafRanges ranges, LeafSource source, long memory, long lent) {
        this.branch = branch;
        this.storage = branch.storage;
        this.pools = pools;
        this.ranges = ranges;
        this.source = source;
        this.memory = memory;
        this.keyBuffer = memory != 0 ? memory : lent;
        this.keyRoom = (memory != 0 ? KEY_BYTES : LENT_KEY_BYTES) - HEAD_BYTES;
    }

    /** A cursor over the pages in the cache: it locks the leaf it stands on and reads ahead when it goes on. */
    public static BranchCursor cached(Branch branch, Span range) {
        return cached(branch, List.of(range));
    }

    /** As {@link #cached(Branch, Span)} over several ranges, disjoint and ascending. */
    public static BranchCursor cached(Branch branch, List<Span> ranges) {
        return open(branch, ranges, true, 0, ofCalls(branch), FROM_CACHE, null);
    }

    /**
     * As {@link #cached(Branch, Span)} for one of several cursors that are read together.
     *
     * @param exact whether entries outside of the range must not be shown; else the caller passes over them, and the range says
     *     only how far it is worth reading ahead
     * @param lent {@value #LENT_BYTES} bytes of memory that stay the caller's
     */
    public static BranchCursor scanning(Branch branch, Span range, boolean exact, long lent) {
        return open(branch, List.of(range), exact, lent, ofCalls(branch), FROM_CACHE, null);
    }

    /**
     * A cursor for merges: it reads extents into buffers of its own, ahead of where it stands, past the cache, and skips what lies
     * outside of the ranges, which are disjoint and ascending. Meant to go forward; it can go back, slowly.
     */
    public static BranchCursor streaming(Branch branch, List<Span> ranges) {
        return streaming(branch, ranges, PageLayout.EXTENT_PAGES, null);
    }

    /**
     * As {@link #streaming(Branch, List)}, with the memory that it takes and a reader that the cursors of one merge share.
     *
     * @param chunkPages how much is read at once, a power of two up to an extent; the cursor takes two buffers of that
     * @param reader of one thread, outlives the cursor; null for one of its own, made when there is something to read ahead
     */
    public static BranchCursor streaming(Branch branch, List<Span> ranges, int chunkPages, ExtentReader reader) {
        return open(branch, ranges, true, 0, ofMerges(branch), chunkPages, reader);
    }

    /** The memory of its merge's pool that a streaming cursor takes beside its buffers, at most but for very long bounds. */
    public static long memoryBytes(Branch branch) {
        return MEMORY_BYTES + (branch.groups.length == 0 ? 0 : Branch.KEY_BYTES_MAX);
    }

    private static CursorMemory ofCalls(Branch branch) {
        return new CursorMemory(branch.storage.pool(), null);
    }

    private static CursorMemory ofMerges(Branch branch) {
        return new CursorMemory(branch.storage.mergePool(), branch.storage.pool());
    }

    private static BranchCursor open(
            Branch branch,
            List<Span> ranges,
            boolean exact,
            long lent,
            CursorMemory pools,
            int chunkPages,
            ExtentReader reader) {
        branch.retain();
        long memory = 0;
        LeafRanges located = null;
        LeafSource source = null;
        try {
            if (lent == 0) {
                memory = pools.allocate(MEMORY_BYTES);
                located = new LeafRanges(branch, ranges, exact, pools, memory + BOUNDS_AT, MEMORY_BYTES - BOUNDS_AT);
            } else {
                located = new LeafRanges(branch, ranges, exact, pools, lent + LENT_KEY_BYTES, LENT_BYTES - LENT_KEY_BYTES);
            }
            source = chunkPages == FROM_CACHE
                    ? new CachedLeaves(branch)
                    : new StreamedLeaves(branch, located, chunkPages, reader);
            return new BranchCursor(branch, pools, located, source, memory, lent);
        } catch (RuntimeException | Error e) {
            if (source != null) {
                source.close();
            }
            if (located != null) {
                located.close();
            }
            if (memory != 0) {
                pools.free(memory, MEMORY_BYTES);
            }
            branch.release();
            throw e;
        }
    }

    @Override
    public boolean valid() {
        return page != 0;
    }

    @Override
    public void seekFirst() {
        if (ranges.count() == 0) {
            leave();
            return;
        }
        openFirst(0);
        settleForward();
    }

    /** Starts reading what {@link #seekFirst} will need, so that the cursors of a merge do not wait for it one after the other. */
    void readFirstAhead() {
        if (ranges.count() > 0) {
            source.readAhead(ranges.firstLeaf(0), ranges.lastLeaf(0));
        }
    }

    @Override
    public void seekLast() {
        if (ranges.count() == 0) {
            leave();
            return;
        }
        openLast(ranges.count() - 1);
        settleBackward();
    }

    @Override
    public void seek(long key, int length) {
        int announced = leafAhead;
        leafAhead = UNKNOWN;
        int target = ranges.endingAfter(key, length);
        if (target == ranges.count()) {
            leave();
        } else if (ranges.beginsAfter(target, key, length)) {
            openFirst(target);
            settleForward();
        } else {
            openLeaf(target, announced != UNKNOWN ? announced : LeafRanges.leafFor(branch, key, length));
            index = Math.max(begin, LeafRanges.lowerBound(page, branch, key, length));
            settleForward();
        }
    }

    @Override
    public boolean seekAhead(long key, int length) {
        if (storage.pool().isMostlyAllocated()) {
            // Many cursors are open. Reading at once, without waiting, gets them closed sooner.
            return false;
        }
        int target = ranges.endingAfter(key, length);
        if (target == ranges.count()) {
            return false;
        }
        boolean atBegin = ranges.beginsAfter(target, key, length);
        leafAhead = atBegin ? ranges.firstLeaf(target) : LeafRanges.leafFor(branch, key, length);
        if (!source.isAbsent(leafAhead)) {
            return false;
        }
        source.readAhead(leafAhead, ranges.lastLeaf(target));
        return true;
    }

    @Override
    public boolean seekBeforeAhead(long key, int length) {
        if (storage.pool().isMostlyAllocated()) {
            return false;
        }
        int target = ranges.beginningBefore(key, length);
        if (target < 0) {
            return false;
        }
        leafAhead = ranges.endsAtOrBefore(target, key, length) ? lastLeaf(target) : LeafRanges.leafBelow(branch, key, length);
        if (!source.isAbsent(leafAhead)) {
            return false;
        }
        source.readAheadBack(leafAhead);
        return true;
    }

    @Override
    public void forgetAhead() {
        leafAhead = UNKNOWN;
    }

    @Override
    public void seekBefore(long key, int length) {
        int announced = leafAhead;
        leafAhead = UNKNOWN;
        int target = ranges.beginningBefore(key, length);
        if (target < 0) {
            leave();
        } else if (ranges.endsAtOrBefore(target, key, length)) {
            openLast(target);
            settleBackward();
        } else {
            openLeaf(target, announced != UNKNOWN ? announced : LeafRanges.leafBelow(branch, key, length));
            index = Math.min(limit, LeafRanges.lowerBound(page, branch, key, length)) - 1;
            settleBackward();
        }
    }

    @Override
    public void next() {
        index++;
        if (index < limit) {
            load();
        } else {
            settleForward();
        }
    }

    @Override
    public void previous() {
        index--;
        if (index >= begin) {
            load();
        } else {
            settleBackward();
        }
    }

    /** Stands on the entry at {@code index}, or on the first one in the leaves and ranges behind. */
    private void settleForward() {
        while (index >= limit) {
            if (leaf < ranges.lastLeaf(range)) {
                openLeaf(range, leaf + 1);
            } else if (range + 1 < ranges.count()) {
                openFirst(range + 1);
            } else {
                leave();
                return;
            }
            index = begin;
        }
        load();
    }

    private void settleBackward() {
        while (index < begin) {
            if (leaf > ranges.firstLeaf(range)) {
                openLeaf(range, leaf - 1);
            } else if (range > 0) {
                openLast(range - 1);
            } else {
                leave();
                return;
            }
            index = limit - 1;
        }
        load();
    }

    private void openFirst(int target) {
        openLeaf(target, ranges.firstLeaf(target));
        index = begin;
    }

    private void openLast(int target) {
        openLeaf(target, lastLeaf(target));
        index = limit - 1;
    }

    private int lastLeaf(int target) {
        return Math.max(ranges.lastLeaf(target), ranges.firstLeaf(target));
    }

    private void openLeaf(int inRange, int number) {
        range = inRange;
        if (page == 0 || leaf != number) {
            page = 0;
            long opened = source.open(number, ranges.lastLeafKnown(inRange, number));
            count = KeyedPage.count(opened);
            prefixLength = KeyedPage.prefixLength(opened, count);
            if (prefixLength > KEY_INLINE_BYTES_MAX) {
                throw KeyedPage.corrupt(opened, "a prefix within a key", "one of " + prefixLength + " bytes");
            }
            if (prefixLength > keyRoom) {
                ownKeyBuffer(0);
            }
            continued = KeyedPage.lastContinues(opened) ? count - 1 : UNKNOWN;
            sequenceBase = Memory.getLong(opened + SEQUENCE_BASE);
            Memory.copy(opened + KeyedPage.prefixOffset(count), keyBuffer, prefixLength);
            page = opened;
            leaf = number;
        }
        begin = ranges.begin(range, number, page);
        limit = number > ranges.lastLeafKnown(range, number) ? begin : ranges.end(range, number, page);
    }

    /** Takes memory for keys longer than what was lent has room for, and brings {@code bytes} of the key along. */
    private void ownKeyBuffer(int bytes) {
        memory = pools.allocate(MEMORY_BYTES);
        Memory.copy(keyBuffer, memory, bytes);
        keyBuffer = memory;
        keyRoom = KEY_BYTES - HEAD_BYTES;
    }

    private void load() {
        int bounds = KeyedPage.bounds(page, count, index);
        int keyField = KeyedPage.keyField(page, bounds);
        meta = KeyedPage.meta(page, bounds);
        sequence = KeyedPage.sequence(page, bounds, sequenceBase);
        int remainder = keyField & 0xffff;
        keyLength = prefixLength + remainder;
        if (keyLength > keyRoom) {
            if (keyLength > KEY_INLINE_BYTES_MAX) {
                throw KeyedPage.corrupt(page, "a key within its bounds", "one of " + keyLength + " bytes");
            }
            ownKeyBuffer(prefixLength);
        }
        keyAddress = keyBuffer;
        Memory.putIntBigEndian(keyBuffer + prefixLength, KeyedPage.head(page, index));
        if (remainder > HEAD_BYTES) {
            KeyCopy.copy(page + (keyField >>> 16), keyBuffer + prefixLength + HEAD_BYTES, remainder - HEAD_BYTES);
        }
        int value = KeyedPage.tail(keyField);
        int end = bounds & 0xffff;
        if ((meta & (KEY_OVERFLOWS | VALUE_OVERFLOWS)) != 0) {
            loadOverflow(bounds, keyField, value, end);
            return;
        }
        largeGroup = null;
        forgetKey();
        if (index == continued) {
            valueAddress = 0;
            valueLength = end - CONTINUATION_LENGTH_BYTES - value + KeyedPage.continuationLength(page, value, end);
            return;
        }
        valueAddress = page + value;
        valueLength = end - value;
    }

    private void loadOverflow(int bounds, int keyField, int tail, int end) {
        if ((meta & KEY_OVERFLOWS) != 0) {
            gatherKey(tail, end);
        } else {
            forgetKey();
        }
        int value = KeyedPage.valueOffset(page, bounds, keyField);
        largeGroup = null;
        valueAddress = page + value;
        valueLength = end - value;
        if ((meta & VALUE_OVERFLOWS) != 0) {
            OverflowGroup group = KeyedPage.group(page, value, end, branch);
            valueLength = KeyedPage.valueReferenceLength(page, value, group);
            valueAddress = 0;
            largePosition = KeyedPage.referencePosition(page + value);
            largeGroup = group;
        }
    }

    private void gatherKey(int reference, int end) {
        OverflowGroup group = KeyedPage.group(page, reference, end, branch);
        int length = KeyedPage.keyReferenceLength(page, reference, group, keyLength);
        if (longKeyBufferBytes < length) {
            forgetKey();
            longKeyBuffer = pools.allocate(length);
            longKeyBufferBytes = MemoryPool.blockBytes(length);
        }
        Memory.copy(keyBuffer, longKeyBuffer, keyLength);
        group.read(KeyedPage.referencePosition(page + reference), longKeyBuffer + keyLength, length - keyLength);
        keyAddress = longKeyBuffer;
        keyLength = length;
    }

    private void leave() {
        page = 0;
        valueLength = 0;
    }

    @Override
    public long keyAddress() {
        return keyAddress;
    }

    @Override
    public int keyLength() {
        return keyLength;
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public byte kind() {
        return BranchReader.kind(page, meta);
    }

    @Override
    public long valueAddress() {
        if (valueAddress == 0 && valueLength > 0) {
            gatherValue();
        }
        return valueLength == 0 ? 0 : valueAddress;
    }

    @Override
    public void copyValue(byte[] to) {
        if (largeGroup != null) {
            largeGroup.readPatiently(largePosition, MemorySegment.ofArray(to), 0, valueLength);
        } else if (valueAddress != 0) {
            Memory.copyTo(valueAddress, to, 0, valueLength);
        } else if (valueLength > 0) {
            long begin = beginOfContinued();
            int rest = continuationBytes();
            Memory.copyTo(begin, to, 0, valueLength - rest);
            long next = source.openContinuation(KeyedPage.nextLeaf(page, branch, leaf));
            try {
                Memory.copyTo(KeyedPage.continuation(next, rest), to, valueLength - rest, rest);
            } finally {
                source.closeContinuation(next);
            }
        }
    }

    @Override
    public int valueLength() {
        return valueLength;
    }

    @Override
    public OverflowGroup largeGroup() {
        return largeGroup;
    }

    @Override
    public long largePosition() {
        return largePosition;
    }

    @Override
    public void readAheadLarge() {
        if (largeAhead == null) {
            largeAhead = new LargeValuesAhead(branch, source instanceof CachedLeaves);
        }
        largeAhead.take(page, leaf, index, limit, valueLength);
    }

    /** How many reads of the device {@link #readAheadLarge} has begun, about. */
    public int largeReads() {
        return largeAhead == null ? 0 : largeAhead.reads();
    }

    private void gatherValue() {
        if (largeGroup == null && memory != 0) {
            gatherContinued(memory + KEY_BYTES);
            return;
        }
        if (valueBufferBytes < valueLength) {
            freeValueBuffer();
            valueBuffer = pools.allocate(valueLength);
            valueBufferBytes = MemoryPool.blockBytes(valueLength);
        }
        if (largeGroup == null) {
            gatherContinued(valueBuffer);
        } else {
            largeGroup.read(largePosition, valueBuffer, valueLength);
            valueAddress = valueBuffer;
        }
    }

    private void gatherContinued(long to) {
        int rest = continuationBytes();
        Memory.copy(beginOfContinued(), to, valueLength - rest);
        long next = source.openContinuation(KeyedPage.nextLeaf(page, branch, leaf));
        try {
            Memory.copy(KeyedPage.continuation(next, rest), to + valueLength - rest, rest);
        } finally {
            source.closeContinuation(next);
        }
        valueAddress = to;
    }

    /** Where the value begins that goes on in the next leaf, and how much of it does; its length was verified when it was loaded. */
    private long beginOfContinued() {
        return page + KeyedPage.tail(KeyedPage.keyField(page, KeyedPage.bounds(page, count, index)));
    }

    private int continuationBytes() {
        int end = KeyedPage.bounds(page, count, index) & 0xffff;
        return Memory.getUnsignedShort(page + end - CONTINUATION_LENGTH_BYTES);
    }

    private void freeValueBuffer() {
        if (valueBuffer != 0) {
            pools.free(valueBuffer, valueBufferBytes);
            valueBuffer = 0;
            valueBufferBytes = 0;
        }
    }

    /** Gives back what memory a long key takes: the entry, which stays where it is, is not to be asked for until the next move. */
    public void forgetKey() {
        if (longKeyBuffer != 0) {
            pools.free(longKeyBuffer, longKeyBufferBytes);
            longKeyBuffer = 0;
            longKeyBufferBytes = 0;
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        page = 0;
        if (largeAhead != null) {
            largeAhead.end();
        }
        try {
            source.close();
            ranges.close();
            freeValueBuffer();
            forgetKey();
            if (memory != 0) {
                pools.free(memory, MEMORY_BYTES);
            }
        } finally {
            branch.release();
        }
    }
}
