package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a branch from entries that come in order: by key, and the versions of a key from newest to oldest. Belongs to one
 * thread. Ends with {@link #finish} or {@link #abort}; after an exception only {@code abort} may follow.
 */
public final class BranchWriter {
    /*
     * The last key is kept whole: the separator before a new leaf is the shortest prefix of its first key that is above the key
     * before. When both are versions of one key, the separator is that key with the sequence number of the entry before: what is
     * below it lies to the right, so that a search never has to look into a second leaf.
     *
     * Where an entry does not fit into a leaf, its value goes on in the next one if that fills the leaf much better: of records of 1 KiB
     * a page would hold three, and nearly four so.
     */
    private static final int LAST_KEY_BYTES_MIN = PageLayout.PAGE_BYTES;

    /** With the branch's own group, which other values are copied to, one less than references can tell apart: so many were refused once. */
    private static final int SHARED_GROUPS_MAX = GROUPS_MAX - 2;

    /** Most branches refer to fewer. */
    private static final int GROUPS_EXPECTED = 4;

    private final BranchStorage storage;
    private final long id;
    private final WriteMode mode;
    private final PageStream leaves;
    private final IndexBuilder index;
    private final PageBuilder leaf;
    private final long memory;
    private final long keyReference;
    private final long valueReference;
    private final long valueCopy;
    private final List<OverflowGroup> groups = new ArrayList<>();
    private final List<long[]> groupBytes = new ArrayList<>();
    /** Where in those lists groups are, but for the branch's own. */
    private final Map<OverflowGroup, Integer> ordinals = new IdentityHashMap<>(GROUPS_EXPECTED);
    private OverflowWriter overflow;
    private int ownGroup = -1;
    private long lastKey;
    private int lastKeyCapacity = LAST_KEY_BYTES_MIN;
    private int lastKeyLength;
    private long lastSequence;
    /** Of the last entry, if its value goes on in the next leaf. */
    private int continuedMeta;

    private int continuedLength;
    private byte[] firstKey;
    private int leafPages;
    private long entries;
    private long tombstones;
    private long dataBytes;
    private long sequenceMax;
    private boolean gathers;
    private boolean ended;

    private static final int MEMORY_BYTES = 8 * PageLayout.PAGE_BYTES;
    /** Streams of pages beside that of the leaves: of index pages and of large values. Hardly any fills more than one buffer of two. */
    private static final int OTHER_STREAMS = 2;

    static {
        if (PageBuilder.MEMORY_BYTES + 2 * REFERENCE_BYTES + VALUE_INLINE_BYTES_MAX + LAST_KEY_BYTES_MIN > MEMORY_BYTES) {
            throw new AssertionError("writer memory");
        }
    }

    /**
     * Begins a branch.
     *
     * @param id the number that no other branch of the store ever had; its pages carry it as their generation
     */
    public BranchWriter(BranchStorage storage, long id, WriteMode mode) {
        this.storage = storage;
        this.id = id;
        this.mode = mode;
        this.leaf = PageBuilder.ofLeaves();
        this.leaves = new PageStream(storage, id, mode);
        this.index = new IndexBuilder(storage, id, mode);
        // Last: on a full Java heap nobody would give it back.
        this.memory = PageStream.allocate(storage.mergePool(), MEMORY_BYTES);
        this.keyReference = memory + PageBuilder.MEMORY_BYTES;
        this.valueReference = keyReference + REFERENCE_BYTES;
        this.valueCopy = valueReference + REFERENCE_BYTES;
        leaf.use(memory);
        this.lastKey = memory + MEMORY_BYTES - LAST_KEY_BYTES_MIN;
    }

    /** The memory of a pool that writing a branch past the cache takes, about, in bytes. */
    public static long memoryBytes(MemoryPool mergePool) {
        return (1L + PageStream.depth(mergePool) + 2 * OTHER_STREAMS) * PageLayout.EXTENT_BYTES;
    }

    /** From now on leaves of mode {@link WriteMode#KEPT} take the places in the cache of what was found there of these inputs. */
    public void takePlacesOf(MergeInputs inputs) {
        leaves.takePlaces(inputs::cachedPages);
    }

    /** Adds an entry whose value lies in one piece in memory; at or after the one before. */
    public void add(long key, int keyLength, long sequence, byte kind, long value, int valueLength) {
        if (valueLength <= VALUE_INLINE_BYTES_MAX) {
            append(key, keyLength, sequence, kind, value, valueLength);
            dataBytes += valueLength;
        } else {
            OverflowWriter writer = overflow();
            long at = writer.begin(valueLength);
            writer.append(value, valueLength);
            appendReference(key, keyLength, sequence, kind, ownGroup, at, valueLength);
        }
    }

    /** As {@link #add(long, int, long, byte, long, int)} with a value of any length on the Java heap, for which no memory of the pool is needed. */
    public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
        if (value.length <= VALUE_INLINE_BYTES_MAX) {
            Memory.copyFrom(value, 0, valueCopy, value.length);
            add(key, keyLength, sequence, kind, valueCopy, value.length);
            return;
        }
        OverflowWriter writer = overflow();
        long at = writer.begin(value.length);
        writer.append(value);
        appendReference(key, keyLength, sequence, kind, ownGroup, at, value.length);
    }

    /**
     * Adds an entry whose value lies in an overflow group, which the new branch will share; a value of a group that is mostly
     * dead is copied instead, see {@link #copies}. The caller holds a branch that refers to the group.
     */
    public void addLarge(
            long key, int keyLength, long sequence, byte kind, OverflowGroup group, long position, int valueLength) {
        OverflowGroup target = group;
        long at = position;
        if (copies(group)) {
            OverflowWriter writer = overflow();
            at = writer.begin(valueLength);
            writer.append(group, position, valueLength);
            target = null;
        }
        appendReference(key, keyLength, sequence, kind, target == null ? ownGroup : ordinalOf(target), at, valueLength);
    }

    /** Adds an entry whose value lies in one of the groups. */
    private void appendReference(long key, int keyLength, long sequence, byte kind, int ordinal, long at, int valueLength) {
        groupBytes.get(ordinal)[0] += valueLength;
        putReference(valueReference, ordinal, at, valueLength);
        append(key, keyLength, sequence, kind | VALUE_OVERFLOWS, valueReference, REFERENCE_BYTES);
        dataBytes += valueLength;
    }

    /** From now on {@link #addLarge} copies every value, so that those of the new branch lie in the order of its keys. */
    public void gatherLargeValues() {
        gathers = true;
    }

    /** Whether {@link #addLarge} copies a value of {@code group}, instead of sharing it. */
    public boolean copies(OverflowGroup group) {
        return gathers || group.referencedBytes() * 2 < group.bytes() || sharedGroups() >= SHARED_GROUPS_MAX;
    }

    /** Groups referred to but for the branch's own. */
    private int sharedGroups() {
        return ownGroup < 0 ? groups.size() : groups.size() - 1;
    }

    /** Adds the entry that {@code cursor} stands on. */
    public void add(LargeValueCursor cursor) {
        OverflowGroup group = cursor.largeGroup();
        if (group == null) {
            add(
                    cursor.keyAddress(),
                    cursor.keyLength(),
                    cursor.sequence(),
                    cursor.kind(),
                    cursor.valueAddress(),
                    cursor.valueLength());
        } else {
            addLarge(
                    cursor.keyAddress(),
                    cursor.keyLength(),
                    cursor.sequence(),
                    cursor.kind(),
                    group,
                    cursor.largePosition(),
                    cursor.valueLength());
        }
    }

    private void append(long key, int keyLength, long sequence, int meta, long tail, int tailLength) {
        assert !ended;
        assert Entries.isKind(meta & KIND_MASK) && sequence >= 0 : "entry of kind " + (meta & KIND_MASK);
        assert entries == 0 || isInOrder(key, keyLength, sequence) : "entries out of order";
        int inline = keyLength;
        int bits = meta;
        int keyReferenceLength = 0;
        if (keyLength > KEY_INLINE_BYTES_MAX) {
            inline = LONG_KEY_INLINE_BYTES;
            bits |= KEY_OVERFLOWS;
            keyReferenceLength = REFERENCE_BYTES;
            appendLongKey(key, keyLength);
        }
        if (!leaf.add(key, inline, sequence, bits, keyReference, keyReferenceLength, tail, tailLength)
                && !addContinued(key, keyLength, sequence, bits, tail, tailLength)) {
            boolean continued = leaf.lastContinues();
            closeLeaf();
            separate(key, keyLength, continued);
            if (!leaf.add(key, inline, sequence, bits, keyReference, keyReferenceLength, tail, tailLength)) {
                throw new AssertionError("an entry that an empty page has no room for");
            }
        }
        remember(key, keyLength, sequence);
        entries++;
        tombstones += (meta & KIND_MASK) == Entries.DELETE ? 1 : 0;
        dataBytes += keyLength;
        sequenceMax = Math.max(sequenceMax, sequence);
    }

    /**
     * Adds an entry that goes on in the next leaf if it may. Versions of one key do not: if the entry has to move ({@link #moveContinued}), its
     * key alone separates it from those before.
     */
    private boolean addContinued(long key, int keyLength, long sequence, int meta, long value, int valueLength) {
        boolean mayContinue = (meta & (KEY_OVERFLOWS | VALUE_OVERFLOWS)) == 0
                && (leafPages + 1 & CONTINUED_GROUP_PAGES - 1) != 0
                && Memory.compare(lastKey, lastKeyLength, key, keyLength) != 0;
        if (mayContinue && leaf.addContinued(key, keyLength, sequence, meta, value, valueLength)) {
            continuedMeta = meta;
            continuedLength = valueLength;
            return true;
        }
        return false;
    }

    /** Moves the very last entry to a leaf of its own when its value goes on, since there is no next leaf for that. */
    private void moveContinued() {
        long value = leaf.removeContinued();
        closeLeaf();
        index.add(1, leafPages, lastKey, lastKeyLength, 0, SEPARATOR, 0, 0);
        if (!leaf.add(lastKey, lastKeyLength, lastSequence, continuedMeta, value, continuedLength, 0, 0)) {
            throw new AssertionError("an entry that an empty page has no room for");
        }
    }

    private boolean isInOrder(long key, int keyLength, long sequence) {
        int order = Memory.compare(lastKey, lastKeyLength, key, keyLength);
        return order < 0 || order == 0 && sequence <= lastSequence;
    }

    private void appendLongKey(long key, int keyLength) {
        if (keyLength > Branch.KEY_BYTES_MAX) {
            throw new IllegalArgumentException("a key of " + keyLength + " bytes");
        }
        OverflowWriter writer = overflow();
        putReference(keyReference, ownGroup, writer.begin(keyLength - LONG_KEY_INLINE_BYTES), keyLength);
        writer.append(key + LONG_KEY_INLINE_BYTES, keyLength - LONG_KEY_INLINE_BYTES);
        groupBytes.get(ownGroup)[0] += keyLength - LONG_KEY_INLINE_BYTES;
    }

    private void closeLeaf() {
        leaf.build(leaves.append(PageType.BRANCH_LEAF), 0, 0);
        leafPages++;
        if (leafPages == 1) {
            index.add(1, 0, 0, 0, 0, 0, 0, 0);
        }
    }

    /**
     * Adds the leaf that begins with {@code key} to the index; {@code keyReference} is that of the key when it is long. What goes on there
     * separates itself, so that who looks for it knows that it takes two leaves.
     */
    private void separate(long key, int keyLength, boolean continued) {
        int shared = Memory.commonPrefix(lastKey, key, Math.min(lastKeyLength, keyLength));
        boolean sameKey = shared == lastKeyLength && shared == keyLength;
        if (continued && !sameKey) {
            index.add(1, leafPages, lastKey, lastKeyLength, 0, SEPARATOR_CONTINUED, 0, 0);
            return;
        }
        int length = sameKey ? keyLength : shared + 1;
        int meta = sameKey ? SEPARATOR_VERSIONED : SEPARATOR;
        long sequence = sameKey ? lastSequence : 0;
        boolean overflows = keyLength > KEY_INLINE_BYTES_MAX && length > LONG_KEY_INLINE_BYTES;
        if (!overflows) {
            index.add(1, leafPages, key, length, sequence, meta, 0, 0);
            return;
        }
        Memory.putInt(keyReference + REFERENCE_LENGTH, length);
        index.add(
                1, leafPages, key, LONG_KEY_INLINE_BYTES, sequence, meta | KEY_OVERFLOWS, keyReference, REFERENCE_BYTES);
        Memory.putInt(keyReference + REFERENCE_LENGTH, keyLength);
    }

    private void remember(long key, int keyLength, long sequence) {
        if (keyLength > lastKeyCapacity) {
            long larger = PageStream.allocate(storage.mergePool(), Branch.KEY_BYTES_MAX);
            lastKey = larger;
            lastKeyCapacity = Branch.KEY_BYTES_MAX;
        }
        Memory.copy(key, lastKey, keyLength);
        lastKeyLength = keyLength;
        lastSequence = sequence;
        if (firstKey == null) {
            firstKey = Memory.bytes(key, keyLength);
        }
    }

    private OverflowWriter overflow() {
        if (overflow == null) {
            groups.add(null);
            groupBytes.add(new long[1]);
            ownGroup = groups.size() - 1;
            overflow = new OverflowWriter(storage, id, mode);
        }
        return overflow;
    }

    /** Of the group among those that the branch refers to, of which there may be tens of thousands. */
    private int ordinalOf(OverflowGroup group) {
        Integer known = ordinals.get(group);
        if (known != null) {
            return known;
        }
        int ordinal = groups.size();
        groups.add(null);
        groupBytes.add(new long[1]);
        ordinals.put(group, ordinal);
        group.retain(0);
        groups.set(ordinal, group); // which had a place before: on a full Java heap the reference would be lost
        return ordinal;
    }

    private static void putReference(long reference, int group, long position, int length) {
        Memory.putShort(reference + REFERENCE_GROUP, group);
        Memory.putShort(reference + REFERENCE_POSITION, (int) position);
        Memory.putInt(reference + REFERENCE_POSITION + 2, (int) (position >>> 16));
        Memory.putInt(reference + REFERENCE_LENGTH, length);
    }

    /** Bytes of the file that the branch takes so far, its overflow group included. */
    public long bytes() {
        long pages = leaves.pageCount() + 1L + index.pageCount() + index.height();
        return (pages << PageLayout.PAGE_SHIFT) + (overflow == null ? 0 : overflow.fileBytes());
    }

    /** Entries added so far. */
    public long entries() {
        return entries;
    }

    /**
     * Completes the branch, which the caller holds one reference to.
     *
     * @return null when there was no entry; nothing is left behind then
     */
    public Branch finish() {
        if (entries == 0) {
            abort();
            return null;
        }
        if (leaf.lastContinues()) {
            moveContinued();
        }
        leaf.build(leaves.append(PageType.BRANCH_LEAF), 0, 0);
        leafPages++;
        Extents extents = new Extents();
        int firstIndexPage = index.finish(leaves, extents);
        if (overflow != null) {
            groups.set(ownGroup, overflow.finish());
        }
        BranchStats stats = new BranchStats(entries, tombstones, dataBytes, sequenceMax);
        BranchShape shape =
                new BranchShape(leafPages, firstIndexPage, firstIndexPage + index.pageCount(), index.height());
        Branch branch = new Branch(
                storage,
                id,
                extents.toArray(),
                shape,
                stats,
                firstKey,
                Memory.bytes(lastKey, lastKeyLength),
                groups.toArray(OverflowGroup[]::new),
                groupBytes.stream().mapToLong(bytes -> bytes[0]).toArray());
        releaseGroups(-1);
        close();
        return branch;
    }

    /** Gives back everything written. Idempotent, and does nothing after {@link #finish}. Takes nothing of the Java heap, which may be full. */
    public void abort() {
        if (ended) {
            return;
        }
        close();
        releaseGroups(ownGroup);
        if (overflow != null) {
            overflow.abort(); // nobody else has its group, if that was made
        }
        leaves.abort();
        index.abort();
    }

    /** Gives back the references to all groups but one. */
    private void releaseGroups(int except) {
        for (int i = 0; i < groups.size(); i++) {
            if (i != except && groups.get(i) != null) {
                groups.get(i).release(0);
            }
        }
    }

    /** Ends what is under way, and gives the memory back. */
    private void close() {
        ended = true;
        leaves.close();
        index.close();
        if (overflow != null) {
            overflow.close();
        }
        if (lastKeyCapacity > LAST_KEY_BYTES_MIN) {
            storage.mergePool().free(lastKey, lastKeyCapacity);
        }
        storage.mergePool().free(memory, MEMORY_BYTES);
    }
}
