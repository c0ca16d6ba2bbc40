package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;

/** Gathers the entries of one page of sorted keys and lays them out. Belongs to one thread. */
final class PageBuilder {
    /*
     * How long the common prefix is, and from where sequences are counted, is known only when the page is full. So entries are
     * staged: of each key the bytes after the prefix as it was when the key came, then what follows the key in the entry. The
     * bytes between a later, shorter prefix and that one are the same in all those keys; they are in the first one, which is kept
     * whole. What is staged is thus never more than the finished page holds.
     *
     * contentBytes is exact for the present prefix; when an entry would change that, the sum is made anew. So it is with what the sequences
     * take and their base, but only where an upper bound does not fit: where sequences fall as keys rise, as of keys written in descending order while
     * an older view is open, each entry changes the base.
     *
     * An entry whose value goes on in the next page is staged whole and can be taken out again. The rest of its value moves to where it
     * waits for the next page when this one is laid out.
     */
    private static final int STAGING_BYTES = 2 * PageLayout.PAGE_BYTES;

    /** The native memory that a builder needs. */
    static final int MEMORY_BYTES = STAGING_BYTES + PageLayout.PAGE_BYTES;

    static {
        if (2 * KEY_INLINE_BYTES_MAX + VALUE_INLINE_BYTES_MAX > PageLayout.PAGE_BYTES) {
            throw new AssertionError("memory of a page builder");
        }
    }

    private final boolean countsSequencesFromBase;
    private long staging;
    private long first;
    private long scratch;
    private long carried;
    private final int[] stagedAt = new int[ENTRIES_MAX];
    private final int[] keyLengths = new int[ENTRIES_MAX];
    private final int[] stagedPrefixes = new int[ENTRIES_MAX];
    private final int[] tailLengths = new int[ENTRIES_MAX];
    private final int[] metas = new int[ENTRIES_MAX];
    private final long[] sequences = new long[ENTRIES_MAX];
    private int count;
    private int stagedBytes;
    private int prefixLength;
    /** Of all entries without their sequences. */
    private int contentBytes;

    private long base;
    /** Of the sequences; more if it is a bound. */
    private int sequenceBytes;

    private boolean isBound;
    /** How many entries have a sequence, and the greatest of them. */
    private int sequenced;

    private long sequenceMax;
    /** How much of the last entry's value goes on in the next page, and of the page before's in this one. */
    private int continuationBytes;

    private int carriedBytes;
    /** What the page becomes with the entry that {@link #room} was asked for. */
    private int nextPrefixLength;

    private int nextContentBytes;
    private long nextBase;
    private int nextSequenceBytes;
    private boolean nextIsBound;

    private PageBuilder(boolean countsSequencesFromBase) {
        this.countsSequencesFromBase = countsSequencesFromBase;
        clear();
    }

    /** A builder of leaves, once it has memory. */
    static PageBuilder ofLeaves() {
        return new PageBuilder(true);
    }

    /** A builder of index pages, once it has memory. */
    static PageBuilder ofIndexPages() {
        return new PageBuilder(false);
    }

    /** Has it use {@link #MEMORY_BYTES} bytes, which stay the caller's. */
    void use(long memory) {
        staging = memory;
        first = memory + STAGING_BYTES;
        scratch = first + KEY_INLINE_BYTES_MAX;
        carried = memory + MEMORY_BYTES - VALUE_INLINE_BYTES_MAX;
    }

    int count() {
        return count;
    }

    private void clear() {
        count = 0;
        stagedBytes = 0;
        prefixLength = 0;
        contentBytes = 0;
        base = countsSequencesFromBase ? Long.MAX_VALUE : 0;
        sequenceBytes = 0;
        isBound = false;
        sequenced = 0;
        sequenceMax = 0;
        carriedBytes = continuationBytes;
        continuationBytes = 0;
    }

    /**
     * Adds an entry after all others when it fits; an empty page takes any.
     *
     * @param meta kind and overflow bits
     * @param a what follows the key in the entry: {@code aLength} bytes here, then {@code bLength} at {@code b}
     */
    boolean add(long key, int keyLength, long sequence, int meta, long a, int aLength, long b, int bLength) {
        int tailLength = aLength + bLength;
        if (room(key, keyLength, sequence, meta, tailLength) < tailLength) {
            return false;
        }
        stage(key, keyLength, sequence, meta, tailLength);
        if (aLength > 0) {
            Memory.copy(a, staging + stagedBytes, aLength);
        }
        if (bLength > 0) {
            Memory.copy(b, staging + stagedBytes + aLength, bLength);
        }
        stagedBytes += tailLength;
        count++;
        return true;
    }

    /**
     * Adds an entry that has no room, as the last one, if enough of its value has: the rest goes on in the next page. Not for long keys.
     */
    boolean addContinued(long key, int keyLength, long sequence, int meta, long value, int valueLength) {
        int room = room(key, keyLength, sequence, meta, PageLayout.PAGE_BYTES) - CONTINUATION_LENGTH_BYTES;
        if (room < CONTINUED_BYTES_MIN) {
            return false;
        }
        stage(key, keyLength, sequence, meta, valueLength);
        Memory.copy(value, staging + stagedBytes, valueLength);
        stagedBytes += valueLength;
        count++;
        continuationBytes = valueLength - room;
        return true;
    }

    /** Whether the last entry was added by {@link #addContinued}; no other fits then. */
    boolean lastContinues() {
        return continuationBytes > 0;
    }

    /** Takes out what {@link #addContinued} added; returns where the value lies, also after {@link #build}, until the next entry is added. */
    long removeContinued() {
        count--;
        continuationBytes = 0;
        contentBytes = contentBytes(prefixLength);
        sequenceBytes = sequenceBytes(base);
        isBound = false;
        sequenced -= sequences[count] != 0 ? 1 : 0;
        return staging + stagedBytes - tailLengths[count];
    }

    /**
     * How many bytes after the key the next entry has room for, below 0 when it has not for the key; maybe fewer than it has if that are as many
     * as are wanted.
     */
    private int room(long key, int keyLength, long sequence, int meta, int wanted) {
        if (count == ENTRIES_MAX || continuationBytes > 0) {
            return -1;
        }
        // The head of a long key has to be its own bytes, not padding for what the entry has not.
        int prefixMax = (meta & KEY_OVERFLOWS) == 0 ? keyLength : keyLength - HEAD_BYTES;
        nextPrefixLength = count == 0 ? prefixMax : Memory.commonPrefix(first, key, Math.min(prefixLength, prefixMax));
        nextBase = countsSequencesFromBase && sequence != 0 ? Math.min(base, sequence) : base;
        int content = nextPrefixLength == prefixLength ? contentBytes : contentBytes(nextPrefixLength);
        nextContentBytes = content + entryBytes(keyLength - nextPrefixLength, 0);
        int room = PageLayout.PAGE_BYTES - carriedBytes - prefixOffset(count + 1) - nextPrefixLength - nextContentBytes;
        boundSequences(sequence);
        if (nextIsBound && room - nextSequenceBytes < wanted) {
            nextSequenceBytes = sequenceBytes(nextBase) + sequenceBytes(sequence, nextBase);
            nextIsBound = false;
        }
        return room - nextSequenceBytes;
    }

    private void boundSequences(long sequence) {
        if (nextBase == base) {
            nextSequenceBytes = sequenceBytes;
            nextIsBound = isBound;
        } else {
            nextSequenceBytes = sequenced == 0 ? 0 : sequenced * sequenceBytes(sequenceMax, nextBase);
            nextIsBound = sequenced > 0;
        }
        nextSequenceBytes += sequenceBytes(sequence, nextBase);
    }

    /** Takes what {@link #room} said, and the key. */
    private void stage(long key, int keyLength, long sequence, int meta, int tailLength) {
        prefixLength = nextPrefixLength;
        base = nextBase;
        contentBytes = nextContentBytes + tailLength;
        sequenceBytes = nextSequenceBytes;
        isBound = nextIsBound;
        sequenced += sequence != 0 ? 1 : 0;
        sequenceMax = Math.max(sequenceMax, sequence);
        stagedAt[count] = stagedBytes;
        keyLengths[count] = keyLength;
        stagedPrefixes[count] = count == 0 ? keyLength : prefixLength;
        tailLengths[count] = tailLength;
        metas[count] = meta;
        sequences[count] = sequence;
        int length = keyLength - prefixLength;
        if (count == 0) {
            Memory.copy(key, first, keyLength);
        } else if (length > 0) {
            KeyCopy.copy(key + prefixLength, staging + stagedBytes, length);
            stagedBytes += length;
        }
    }

    private int contentBytes(int prefix) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += entryBytes(keyLengths[i] - prefix, tailLengths[i]);
        }
        return sum;
    }

    private int sequenceBytes(long fromBase) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += sequenceBytes(sequences[i], fromBase);
        }
        return sum;
    }

    private static int entryBytes(int remainder, int tailLength) {
        return META_BYTES + (remainder < 0x80 ? 1 : 2) + Math.max(remainder - HEAD_BYTES, 0) + tailLength;
    }

    private static int sequenceBytes(long sequence, long fromBase) {
        return Math.max(sequenceCode(sequence, fromBase) - 1, 0);
    }

    private static int sequenceCode(long sequence, long fromBase) {
        if (sequence == 0) {
            return 0;
        }
        return 1 + (71 - Long.numberOfLeadingZeros(sequence - fromBase) >>> 3);
    }

    private static int prefixOffset(int entries) {
        return KeyedPage.prefixOffset(entries);
    }

    /** Lays out the page at {@code page}, unsealed, and begins the next one. */
    void build(long page, int level, long firstChild) {
        Memory.putShort(page + COUNT, count);
        Memory.putShort(page + PREFIX_LENGTH, prefixLength);
        Memory.putByte(page + LEVEL, level);
        Memory.putByte(page + MORE, continuationBytes > 0 ? 1 : 0);
        Memory.putLong(page + SEQUENCE_BASE, level == 0 ? (base == Long.MAX_VALUE ? 0 : base) : firstChild);
        long heads = page + HEADS;
        long slots = heads + HEAD_BYTES * (long) count;
        int at = prefixOffset(count);
        Memory.copy(first, page + at, prefixLength);
        at += prefixLength;
        for (int i = 0; i < count; i++) {
            Memory.putShort(slots + SLOT_BYTES * (long) i, at);
            at = buildEntry(page, heads, i, at);
        }
        Memory.putShort(page + END, at);
        int rest = PageLayout.PAGE_BYTES - carriedBytes;
        Memory.fill(page + at, rest - at, 0);
        if (carriedBytes > 0) {
            Memory.copy(carried, page + rest, carriedBytes);
        }
        if (continuationBytes > 0) {
            Memory.copy(staging + stagedBytes - continuationBytes, carried, continuationBytes);
        }
        clear();
    }

    private int buildEntry(long page, long heads, int i, int start) {
        int at = start;
        int code = sequenceCode(sequences[i], base);
        Memory.putByte(page + at++, metas[i] | code << SEQUENCE_CODE_SHIFT);
        if (code > 1) {
            for (long delta = sequences[i] - base, n = code - 1; n > 0; n--, delta >>>= 8) {
                Memory.putByte(page + at++, (int) delta);
            }
        }
        int remainder = keyLengths[i] - prefixLength;
        if (remainder < 0x80) {
            Memory.putByte(page + at++, remainder);
        } else {
            Memory.putByte(page + at++, 0x80 | remainder & 0x7f);
            Memory.putByte(page + at++, remainder >>> 7);
        }
        int stagedKeyLength = i == 0 ? 0 : keyLengths[i] - stagedPrefixes[i];
        long key = staging + stagedAt[i];
        if (stagedPrefixes[i] != prefixLength) {
            int missing = stagedPrefixes[i] - prefixLength;
            Memory.copy(first + prefixLength, scratch, missing);
            if (stagedKeyLength > 0) {
                Memory.copy(key, scratch + missing, stagedKeyLength);
            }
            key = scratch;
        }
        Memory.putInt(heads + HEAD_BYTES * (long) i, KeyedPage.headOf(key, remainder));
        int rest = remainder - HEAD_BYTES;
        if (rest > 0) {
            KeyCopy.copy(key + HEAD_BYTES, page + at, rest);
            at += rest;
        }
        boolean continues = continuationBytes > 0 && i == count - 1;
        int tailLength = tailLengths[i] - (continues ? continuationBytes : 0);
        if (tailLength > 0) {
            Memory.copy(staging + stagedAt[i] + stagedKeyLength, page + at, tailLength);
            at += tailLength;
        }
        if (continues) {
            Memory.putShort(page + at, continuationBytes);
            at += CONTINUATION_LENGTH_BYTES;
        }
        return at;
    }
}
