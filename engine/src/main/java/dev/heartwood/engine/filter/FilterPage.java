package dev.heartwood.engine.filter;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Looks a fingerprint up in a filter page. Thread-safe: pages do not change. */
final class FilterPage {
    /*
     * A rank-select quotient filter (Pandey et al., "A General-Purpose Counting Filter", SIGMOD 2017) within each page. The
     * entries of quotient q begin at slot q or, when the slots up to there are taken, behind those of the quotient before. The
     * quotient's rank among the occupied ones of its block says which run end to look for, starting at the block's offset.
     *
     * Whatever the page holds, slots stay below shape.slots and so inside the page. A page whose run ends do not match its
     * occupied quotients is reported; it is never taken for "absent".
     */
    private FilterPage() {}

    /** The values recorded for the fingerprint at {@code place}, as a bitmap. */
    static long lookup(long page, MapletShape shape, CachedFile file, long place) {
        int block = shape.block(place);
        long blockAddress = blockAddress(page, shape, block);
        long occupieds = Memory.getLong(blockAddress + FilterLayout.OCCUPIEDS);
        int quotient = shape.quotient(place);
        long bit = 1L << quotient;
        if ((occupieds & bit) == 0) {
            return 0;
        }
        int blockFirst = block << FilterLayout.BLOCK_SHIFT;
        int first = blockFirst + Memory.getUnsignedByte(blockAddress + FilterLayout.OFFSET);
        int home = blockFirst + quotient;

        int rank = Long.bitCount(occupieds & bit - 1);
        int wordFirst = first & -FilterLayout.BLOCK_SLOTS;
        long word = runEnds(page, shape, file, wordFirst) & -1L << first;
        int ends = Long.bitCount(word);
        while (rank >= ends) {
            rank -= ends;
            wordFirst += FilterLayout.BLOCK_SLOTS;
            word = runEnds(page, shape, file, wordFirst);
            ends = Long.bitCount(word);
        }
        long end = Long.expand(1L << rank, word);
        long earlier = word & end - 1;
        int start = earlier != 0
                ? wordFirst + FilterLayout.BLOCK_SLOTS - Long.numberOfLeadingZeros(earlier)
                : behindEarlierWords(page, shape, file, first, wordFirst);
        int last = wordFirst + Long.numberOfTrailingZeros(end);
        return collect(page, shape, file, Math.max(start, home), last, shape.remainder(place));
    }

    private static long collect(long page, MapletShape shape, CachedFile file, int start, int last, long remainder) {
        if (start > last || last >= shape.slots) {
            throw damaged(page, file, "a run within " + shape.slots + " slots", "one from " + start + " to " + last);
        }
        // Most runs have one entry or two. Those are read without a branch on the length, which could not be predicted.
        long values = value(page, shape, start, remainder) | value(page, shape, Math.min(start + 1, last), remainder);
        for (int slot = start + 2; slot <= last; slot++) {
            values |= value(page, shape, slot, remainder);
        }
        return values;
    }

    /** The value in {@code slot} as a bitmap, or 0 when the slot has another remainder. */
    private static long value(long page, MapletShape shape, int slot, long remainder) {
        long entry = entry(page, shape, slot);
        // All ones when the remainders are equal.
        long equal = (entry >>> shape.valueBits ^ remainder) - 1 >> 63;
        return 1L << (entry & shape.valueMask) & equal;
    }

    /** The slot behind the last run end in [first, wordFirst), or first. */
    private static int behindEarlierWords(long page, MapletShape shape, CachedFile file, int first, int wordFirst) {
        for (int earlier = wordFirst - FilterLayout.BLOCK_SLOTS; earlier + FilterLayout.BLOCK_SLOTS > first; ) {
            long word = runEnds(page, shape, file, earlier);
            if (earlier <= first) {
                word &= -1L << first;
            }
            if (word != 0) {
                return earlier + FilterLayout.BLOCK_SLOTS - Long.numberOfLeadingZeros(word);
            }
            earlier -= FilterLayout.BLOCK_SLOTS;
        }
        return first;
    }

    /** The run ends of the block whose first slot is {@code slot}. */
    static long runEnds(long page, MapletShape shape, CachedFile file, int slot) {
        if (slot >= shape.slots) {
            throw damaged(page, file, "run ends within " + shape.slots + " slots", "fewer than occupied quotients");
        }
        return Memory.getLong(
                blockAddress(page, shape, slot >>> FilterLayout.BLOCK_SHIFT) + FilterLayout.RUN_ENDS);
    }

    static long blockAddress(long page, MapletShape shape, int block) {
        return page + FilterLayout.BLOCKS + (long) block * shape.blockBytes;
    }

    /** Remainder and value in {@code slot}. */
    static long entry(long page, MapletShape shape, int slot) {
        int bit = (slot & FilterLayout.BLOCK_SLOTS - 1) * shape.entryBits;
        long slots = blockAddress(page, shape, slot >>> FilterLayout.BLOCK_SHIFT) + FilterLayout.SLOTS;
        return Memory.getLong(slots + (bit >>> 3)) >>> (bit & 7) & shape.entryMask;
    }

    static CorruptionException damaged(long page, CachedFile file, String expected, String found) {
        long number = Memory.getLong(page + PageLayout.ADDRESS);
        return new CorruptionException(file.device().name(), number, PageType.FILTER.name(), expected, found);
    }
}
