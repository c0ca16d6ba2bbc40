package dev.heartwood.engine.filter;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;

/** Fills one page after the other with entries in ascending order. For one thread. */
final class FilterPageWriter {
    /*
     * Slots are written in ascending order, so nothing is read back: a slot is stored as 8 bytes that begin with what the slot
     * before left in its first byte and are zero behind it. What they overwrite has not been written yet, or is a gap. In
     * particular the words of a block's header are collected in fields and stored when an entry of a later block comes, which
     * is after the last slot of the block before.
     */
    private final MapletShape shape;
    private long page;
    /** The first slot behind the last entry. */
    private int next;
    /** The home slot of the last entry; -1 before the first. */
    private int home;
    /** The block of the last entry's quotient, and its quotients so far. */
    private int homeBlock;

    private long occupieds;
    /** The block of the last run's last slot, and its run ends so far. */
    private int endBlock;

    private long runEnds;
    /** Where the last slot was stored, and what. */
    private long slotAddress;

    private long slotWord;
    private int count;

    FilterPageWriter(MapletShape shape) {
        this.shape = shape;
    }

    /** Begins the page at {@code address}. */
    void begin(long address) {
        page = address;
        next = 0;
        home = -1;
        homeBlock = 0;
        occupieds = 0;
        endBlock = 0;
        runEnds = 0;
        slotAddress = 0;
        count = 0;
        Memory.fill(address, PageLayout.PAGE_BYTES, 0);
    }

    /** Adds the fingerprint at {@code place} with each value of the bitmap; returns false when the page has no room for that. */
    boolean add(long place, long values) {
        int block = shape.block(place);
        int quotient = shape.quotient(place);
        int entryHome = (block << FilterLayout.BLOCK_SHIFT) + quotient;
        int end = Math.max(next, entryHome) + Long.bitCount(values);
        if (end > shape.slots || end - entryHome > FilterLayout.OFFSET_MAX) {
            return false;
        }
        if (entryHome != home) {
            assert entryHome > home;
            endRun();
            if (block != homeBlock) {
                beginBlock(block);
            }
            occupieds |= 1L << quotient;
            home = entryHome;
            next = Math.max(next, entryHome);
        }
        long high = shape.remainder(place) << shape.valueBits;
        long rest = values;
        do {
            putEntry(next++, high | Long.numberOfTrailingZeros(rest));
            rest &= rest - 1;
        } while (rest != 0);
        count += Long.bitCount(values);
        return true;
    }

    /** Completes the page but for its seal. */
    void finish() {
        endRun();
        beginBlock(shape.blocks);
        storeRunEnds();
        Memory.putByte(page + FilterLayout.FINGERPRINT_BITS, shape.fingerprintBits);
        Memory.putByte(page + FilterLayout.REMAINDER_BITS, shape.remainderBits);
        Memory.putByte(page + FilterLayout.VALUE_BITS, shape.valueBits);
        Memory.putByte(page + FilterLayout.UNUSED, 0);
        Memory.putInt(page + FilterLayout.COUNT, count);
    }

    private void endRun() {
        if (home >= 0) {
            int last = next - 1;
            if (last >>> FilterLayout.BLOCK_SHIFT != endBlock) {
                storeRunEnds();
                endBlock = last >>> FilterLayout.BLOCK_SHIFT;
                runEnds = 0;
            }
            runEnds |= 1L << last;
        }
    }

    private void storeRunEnds() {
        Memory.putLong(FilterPage.blockAddress(page, shape, endBlock) + FilterLayout.RUN_ENDS, runEnds);
    }

    /** Leaves the current quotients' block for a later one, and says in those between how far entries have come. */
    private void beginBlock(int block) {
        Memory.putLong(FilterPage.blockAddress(page, shape, homeBlock) + FilterLayout.OCCUPIEDS, occupieds);
        occupieds = 0;
        while (++homeBlock <= block && homeBlock < shape.blocks) {
            int offset = Math.max(0, next - (homeBlock << FilterLayout.BLOCK_SHIFT));
            assert offset <= FilterLayout.OFFSET_MAX;
            Memory.putByte(FilterPage.blockAddress(page, shape, homeBlock) + FilterLayout.OFFSET, offset);
        }
        homeBlock = block;
    }

    private void putEntry(int slot, long entry) {
        assert slot < shape.slots;
        int bit = (slot & FilterLayout.BLOCK_SLOTS - 1) * shape.entryBits;
        long slots = FilterPage.blockAddress(page, shape, slot >>> FilterLayout.BLOCK_SHIFT) + FilterLayout.SLOTS;
        long address = slots + (bit >>> 3);
        long distance = address - slotAddress;
        long before = distance < Long.BYTES ? slotWord >>> (distance << 3) : 0;
        slotWord = before | entry << (bit & 7);
        slotAddress = address;
        Memory.putLong(address, slotWord);
    }
}
