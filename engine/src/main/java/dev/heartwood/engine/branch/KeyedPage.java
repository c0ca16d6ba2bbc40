package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/**
 * Reads the page of sorted keys at an address, in place. Nothing outside of the page is ever read through a length or an offset
 * found in it: a page that contradicts itself is a {@link CorruptionException}.
 */
final class KeyedPage {
    /*
     * The search counts the heads below the wanted one without a branch, two at a time, after halving a crowded page down to
     * COUNTED_MAX heads (also without a branch). Only entries whose head equals the wanted one are looked at.
     *
     * An entry is before the target (key, snapshot) when its key is smaller, or equal with a sequence above the snapshot. For
     * separators that reads: the child to the right begins at or before the target.
     */
    private static final int COUNTED_MAX = 48;
    private static final int LINEAR_TIES_MAX = 4;

    private KeyedPage() {}

    /** The number of entries, known to fit into the page. */
    static int count(long page) {
        int count = Memory.getUnsignedShort(page + COUNT);
        if (count > ENTRIES_MAX) {
            throw corrupt(page, "at most " + ENTRIES_MAX + " entries", "a count of " + count);
        }
        return count;
    }

    static int level(long page) {
        return Memory.getUnsignedByte(page + LEVEL);
    }

    /** The length of the prefix, known to lie within the page. */
    static int prefixLength(long page, int count) {
        int length = Memory.getUnsignedShort(page + PREFIX_LENGTH);
        if (prefixOffset(count) + length > PageLayout.PAGE_BYTES) {
            throw corrupt(page, "a prefix within the page", "one of " + length + " bytes");
        }
        return length;
    }

    static int prefixOffset(int count) {
        return HEADS + count * (HEAD_BYTES + SLOT_BYTES);
    }

    /** Where entry {@code index} begins and ends: offsets in the page as {@code start << 16 | end}, known to be sound. */
    static int bounds(long page, int count, int index) {
        long slot = page + HEADS + HEAD_BYTES * (long) count + SLOT_BYTES * (long) index;
        int start = Memory.getUnsignedShort(slot);
        int end = index + 1 < count ? Memory.getUnsignedShort(slot + SLOT_BYTES) : Memory.getUnsignedShort(page + END);
        if (start < HEADS || end > PageLayout.PAGE_BYTES || start + ENTRY_BYTES_MIN > end) {
            throw corrupt(page, "entry " + index + " within the page", "offsets " + start + " to " + end);
        }
        return start << 16 | end;
    }

    static int head(long page, int index) {
        return Memory.getInt(page + HEADS + HEAD_BYTES * (long) index);
    }

    /**
     * Where the rest of an entry's key lies: {@code offset << 16 | remainder length}, the rest being known to end within the
     * entry.
     */
    static int keyField(long page, int bounds) {
        int start = bounds >>> 16;
        int end = bounds & 0xffff;
        int code = sequenceCode(Memory.getUnsignedByte(page + start));
        int at = start + META_BYTES + Math.max(code - 1, 0);
        if (code > SEQUENCE_CODE_MAX || at >= end) {
            throw corrupt(page, "an entry with its sequence", "sequence code " + code + " at " + start);
        }
        int remainder = Memory.getUnsignedByte(page + at++);
        if (remainder >= 0x80) {
            if (at >= end) {
                throw corrupt(page, "an entry with its key length", "its end at " + end);
            }
            remainder = remainder & 0x7f | Memory.getUnsignedByte(page + at++) << 7;
        }
        if (at + restLength(remainder) > end) {
            throw corrupt(page, "an entry with its key", "a remainder of " + remainder + " bytes at " + at);
        }
        return at << 16 | remainder;
    }

    static int restLength(int remainder) {
        return Math.max(remainder - HEAD_BYTES, 0);
    }

    static int sequenceCode(int meta) {
        return meta >>> SEQUENCE_CODE_SHIFT & SEQUENCE_CODE_MASK;
    }

    static int meta(long page, int bounds) {
        return Memory.getUnsignedByte(page + (bounds >>> 16));
    }

    /** The sequence number of an entry whose key field was read, counted from {@code base}. */
    static long sequence(long page, int bounds, long base) {
        int start = bounds >>> 16;
        int code = sequenceCode(Memory.getUnsignedByte(page + start));
        int bits = 8 * Math.max(code - 1, 0);
        // The eight bytes that end with the sequence lie within the page, since the header comes before. Shifted in two steps,
        // because a shift by 64 does nothing.
        long word = Memory.getLong(page + start + META_BYTES + (bits >>> 3) - 8);
        long delta = word >>> (32 - bits / 2) >>> (32 - bits / 2);
        return base + delta & -(long) Math.min(code, 1);
    }

    /** Where what follows the key begins, known to lie within the entry; a key reference is part of it. */
    static int tail(int keyField) {
        return (keyField >>> 16) + restLength(keyField & 0xffff);
    }

    /** The offset of an entry's value or value reference. */
    static int valueOffset(long page, int bounds, int keyField) {
        int at = tail(keyField);
        if ((meta(page, bounds) & KEY_OVERFLOWS) != 0) {
            at += REFERENCE_BYTES;
            requireWithin(page, at, bounds & 0xffff);
        }
        return at;
    }

    /** Whether the value of the last entry of a leaf goes on in the next leaf. */
    static boolean lastContinues(long page) {
        int more = Memory.getUnsignedByte(page + MORE);
        if (more > 1) {
            throw corrupt(page, "a last value that goes on or does not", "the number " + more);
        }
        return more != 0;
    }

    /** How many bytes of a value come in the next leaf, of an entry that ends at {@code end}; its own end before that. */
    static int continuationLength(long page, int valueOffset, int end) {
        requireWithin(page, valueOffset + CONTINUATION_LENGTH_BYTES, end);
        int length = Memory.getUnsignedShort(page + end - CONTINUATION_LENGTH_BYTES);
        if (length == 0 || length + end - CONTINUATION_LENGTH_BYTES - valueOffset > VALUE_INLINE_BYTES_MAX) {
            throw corrupt(page, "the rest of a value of at most " + VALUE_INLINE_BYTES_MAX + " bytes", length + " bytes");
        }
        return length;
    }

    /** The number of the leaf in which the last value of leaf {@code number} goes on. */
    static int nextLeaf(long page, Branch branch, int number) {
        int next = number + 1;
        if (next >= branch.leafPages() || (next & CONTINUED_GROUP_PAGES - 1) == 0) {
            throw corrupt(page, "a leaf whose last value ends there", "one that goes on in leaf " + next);
        }
        return next;
    }

    /** Where in a leaf the last {@code length} bytes of the value begin that goes on there. */
    static long continuation(long page, int length) {
        int end = Memory.getUnsignedShort(page + END);
        if (end > PageLayout.PAGE_BYTES - length) {
            throw corrupt(page, "entries that leave " + length + " bytes to the value before", "their end at " + end);
        }
        return page + PageLayout.PAGE_BYTES - length;
    }

    /** The group that a reference names, which holds what it refers to. */
    static OverflowGroup group(long page, int offset, int end, Branch branch) {
        requireWithin(page, offset + REFERENCE_BYTES, end);
        long reference = page + offset;
        int group = Memory.getUnsignedShort(reference + REFERENCE_GROUP);
        if (group >= branch.groups.length) {
            throw corrupt(page, "one of " + branch.groups.length + " overflow groups", "group " + group);
        }
        return branch.groups[group];
    }

    static long referencePosition(long reference) {
        return Memory.getUnsignedShort(reference + REFERENCE_POSITION)
                | (Memory.getInt(reference + REFERENCE_POSITION + 2) & 0xffffffffL) << 16;
    }

    static int referenceLength(long reference) {
        return Memory.getInt(reference + REFERENCE_LENGTH);
    }

    /** The value's length by its reference, with the whole of it, and a byte at least, known to lie within the group. */
    static int valueReferenceLength(long page, int offset, OverflowGroup group) {
        int length = referenceLength(page + offset);
        if (length == 0) {
            throw corrupt(page, "a value in overflow group " + group.id(), "one without a byte");
        }
        requireInGroup(page, group, referencePosition(page + offset), length);
        return length;
    }

    /** The length of a whole overflowing key by its reference; the inline part is {@code inline} bytes. */
    static int keyReferenceLength(long page, int offset, OverflowGroup group, int inline) {
        int length = referenceLength(page + offset);
        if (length <= inline || length > Branch.KEY_BYTES_MAX) {
            throw corrupt(page, "a key longer than " + inline + " bytes", "one of " + length);
        }
        requireInGroup(page, group, referencePosition(page + offset), length - inline);
        return length;
    }

    /** The first entry that is not before the target, {@code 0..count}. */
    static int lowerBound(long page, Branch branch, long key, int keyLength, long snapshot) {
        return search(page, branch, key, keyLength, snapshot, true);
    }

    /** The child of an index page in which the target lies: whose separator is the last one before or at it. */
    static int childFor(long page, Branch branch, long key, int keyLength, long snapshot) {
        return search(page, branch, key, keyLength, snapshot, true);
    }

    /** The last child of an index page that may hold keys below the given one. */
    static int childBelow(long page, Branch branch, long key, int keyLength) {
        return search(page, branch, key, keyLength, Long.MAX_VALUE, false);
    }

    private static int search(
            long page, Branch branch, long key, int keyLength, long snapshot, boolean equalSeparatorIsBefore) {
        int count = count(page);
        int prefixLength = prefixLength(page, count);
        int order = comparePrefix(page + prefixOffset(count), prefixLength, key, keyLength);
        if (order != 0) {
            return order > 0 ? 0 : count;
        }
        int wanted = headOf(key + prefixLength, keyLength - prefixLength);
        int low = countBelow(page, count, wanted);
        if (low == count || head(page, low) != wanted) {
            return low;
        }
        int high = low + 1;
        while (high < count && head(page, high) == wanted) {
            high++;
        }
        while (high - low > LINEAR_TIES_MAX) {
            int middle = low + high >>> 1;
            if (isBefore(page, branch, count, middle, prefixLength, key, keyLength, snapshot, equalSeparatorIsBefore)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        while (low < high
                && isBefore(page, branch, count, low, prefixLength, key, keyLength, snapshot, equalSeparatorIsBefore)) {
            low++;
        }
        return low;
    }

    /** Above 0 when the page's keys are after the given one by their prefix alone, below 0 when before, 0 when it has it. */
    private static int comparePrefix(long prefix, int prefixLength, long key, int keyLength) {
        if (keyLength >= prefixLength) {
            return prefixLength == 0 ? 0 : Memory.compare(prefix, prefixLength, key, prefixLength);
        }
        return Memory.compare(prefix, prefixLength, key, keyLength);
    }

    /** The first four of {@code length} bytes as a number, padded with zeroes. */
    static int headOf(long address, int length) {
        if (length >= HEAD_BYTES) {
            return Memory.getIntBigEndian(address);
        }
        int head = 0;
        for (int i = 0; i < length; i++) {
            head |= Memory.getUnsignedByte(address + i) << 24 - 8 * i;
        }
        return head;
    }

    private static int countBelow(long page, int count, int wanted) {
        long limit = wanted & 0xffffffffL;
        long heads = page + HEADS;
        int length = count;
        long base = 0;
        while (length > COUNTED_MAX) {
            int half = length >>> 1;
            long head = Memory.getInt(heads + HEAD_BYTES * (base + half - 1)) & 0xffffffffL;
            base += half & head - limit >> 63;
            length -= half;
        }
        long at = heads + HEAD_BYTES * base;
        int pairs = length >>> 1;
        long below = base;
        for (int i = 0; i < pairs; i++) {
            long pair = Memory.getLong(at + 2 * HEAD_BYTES * (long) i);
            below += ((pair & 0xffffffffL) - limit >>> 63) + ((pair >>> 32) - limit >>> 63);
        }
        if ((length & 1) != 0) {
            below += (Memory.getInt(at + 2 * HEAD_BYTES * (long) pairs) & 0xffffffffL) - limit >>> 63;
        }
        return (int) below;
    }

    private static boolean isBefore(
            long page,
            Branch branch,
            int count,
            int index,
            int prefixLength,
            long key,
            int keyLength,
            long snapshot,
            boolean equalSeparatorIsBefore) {
        int bounds = bounds(page, count, index);
        int keyField = keyField(page, bounds);
        int order = compareTies(page, branch, bounds, keyField, prefixLength, key, keyLength);
        if (order != 0) {
            return order < 0;
        }
        if (level(page) == 0) {
            return sequence(page, bounds, Memory.getLong(page + SEQUENCE_BASE)) > snapshot;
        }
        return switch (meta(page, bounds) & KIND_MASK) {
            case SEPARATOR -> equalSeparatorIsBefore;
            case SEPARATOR_CONTINUED -> false;
            default -> sequence(page, bounds, 0) > snapshot;
        };
    }

    /**
     * Whether an index page of level 1, where a search for a key ended at {@code child}, says that the key's entry goes on in the leaf behind that.
     * Where it does not say so, the entry may go on all the same.
     */
    static boolean isContinued(long page, Branch branch, int child, long key, int keyLength) {
        int count = count(page);
        if (child == count) {
            return false;
        }
        int prefixLength = prefixLength(page, count);
        if (!hasPrefixAndHead(page, count, child, prefixLength, key, keyLength)) {
            // Nearly always, as the search has read that head and nothing else of the entry.
            return false;
        }
        int bounds = bounds(page, count, child);
        return (meta(page, bounds) & KIND_MASK) == SEPARATOR_CONTINUED
                && compareTies(page, branch, bounds, keyField(page, bounds), prefixLength, key, keyLength) == 0;
    }

    /** Whether a key has the page's prefix and then the head of an entry, the one where the search for it ended. */
    static boolean hasPrefixAndHead(long page, int count, int index, int prefixLength, long key, int keyLength) {
        return keyLength >= prefixLength
                && headOf(key + prefixLength, keyLength - prefixLength) == head(page, index)
                && (index > 0
                        || prefixLength == 0
                        || Memory.compare(page + prefixOffset(count), prefixLength, key, prefixLength) == 0);
    }

    /** Compares the key of an entry with one that has the page's prefix and the entry's head. */
    static int compareTies(
            long page, Branch branch, int bounds, int keyField, int prefixLength, long key, int keyLength) {
        int remainder = keyField & 0xffff;
        int wanted = keyLength - prefixLength;
        int order = Math.min(remainder, wanted) <= HEAD_BYTES
                ? remainder - wanted
                : Memory.compare(
                        page + (keyField >>> 16),
                        remainder - HEAD_BYTES,
                        key + prefixLength + HEAD_BYTES,
                        wanted - HEAD_BYTES);
        return (meta(page, bounds) & KEY_OVERFLOWS) == 0
                ? order
                : compareLong(page, branch, bounds, keyField, prefixLength, key, keyLength);
    }

    private static int compareLong(
            long page, Branch branch, int bounds, int keyField, int prefixLength, long key, int keyLength) {
        int remainder = keyField & 0xffff;
        int inline = prefixLength + remainder;
        int wanted = Math.min(keyLength, inline) - prefixLength;
        if (wanted > HEAD_BYTES && remainder > HEAD_BYTES) {
            int order = Memory.compare(
                    page + (keyField >>> 16), wanted - HEAD_BYTES, key + prefixLength + HEAD_BYTES, wanted - HEAD_BYTES);
            if (order != 0) {
                return order;
            }
        }
        if (keyLength <= inline) {
            return 1;
        }
        int at = tail(keyField);
        OverflowGroup group = group(page, at, bounds & 0xffff, branch);
        int length = keyReferenceLength(page, at, group, inline);
        int order = group.compare(
                referencePosition(page + at), length - inline, key + inline, keyLength - inline);
        return order;
    }

    /** A copy of what an entry has of its key in the page; all of it unless the key overflows. */
    static byte[] inlineKey(long page, int count, int index) {
        int prefixLength = prefixLength(page, count);
        int keyField = keyField(page, bounds(page, count, index));
        int remainder = keyField & 0xffff;
        byte[] key = new byte[prefixLength + remainder];
        Memory.copyTo(page + prefixOffset(count), key, 0, prefixLength);
        int head = head(page, index);
        for (int i = 0; i < Math.min(remainder, HEAD_BYTES); i++) {
            key[prefixLength + i] = (byte) (head >>> 24 - 8 * i);
        }
        if (remainder > HEAD_BYTES) {
            Memory.copyTo(page + (keyField >>> 16), key, prefixLength + HEAD_BYTES, remainder - HEAD_BYTES);
        }
        return key;
    }

    private static void requireWithin(long page, int at, int end) {
        if (at > end) {
            throw corrupt(page, "an entry that ends at or after " + at, "its end at " + end);
        }
    }

    private static void requireInGroup(long page, OverflowGroup group, long position, int length) {
        if (length < 0 || position > group.bytes() - length) {
            throw corrupt(
                    page,
                    "a reference into the " + group.bytes() + " bytes of overflow group " + group.id(),
                    length + " bytes at " + position);
        }
    }

    /** The error for a page that has the right checksum and contradicts itself. */
    static CorruptionException corrupt(long page, String expected, String found) {
        int code = Memory.getUnsignedByte(page + PageLayout.TYPE);
        PageType type = PageType.ofCode(code);
        return new CorruptionException(
                "data of store " + Memory.getLong(page + PageLayout.STORE_ID),
                Memory.getLong(page + PageLayout.ADDRESS),
                type == null ? "code " + code : type.name(),
                expected,
                found);
    }
}
