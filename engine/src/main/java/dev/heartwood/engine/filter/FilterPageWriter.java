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
    /** The home slot of the last entry, whose run has no end yet. */
    private int home;
    /** The block of the last entry's quotient, and its quotients so far. */
    private int homeBlock;

    private long occupieds;
    /** The block of the last entry's slot, where its slots are, and its run ends so far. */
    private int block;

    private long slots;
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
        homeBlock = 0;
        occupieds = 0;
        beginSlots(0);
        slotAddress = 0;
        count = 0;
        Memory.fill(address, PageLayout.PAGE_BYTES, 0);
    }

    /**
     * Adds a fingerprint with each value of a bitmap.
     *
     * @param entryHome its block in the page and its quotient, {@link MapletShape#homeOf}
     * @return false when the page has no room for that
     */
    boolean add(int entryHome, long remainder, long values) {
        int slot = Math.max(next, entryHome);
        int added = Long.bitCount(values);
        int end = slot + added;
        if (end > shape.slots || end - entryHome > FilterLayout.OFFSET_MAX) {
            return false;
        }
        if (next == 0) {
            home = entryHome;
        }
        assert entryHome >= home;
        // The run of another home ends with the last slot; a branch on that could not be predicted.
        runEnds |= (long) (home - entryHome >>> Integer.SIZE - 1) << next - 1;
        home = entryHome;
        if (entryHome >>> FilterLayout.BLOCK_SHIFT != homeBlock) {
            beginBlock(entryHome >>> FilterLayout.BLOCK_SHIFT);
        }
        occupieds |= 1L << entryHome;
        long high = remainder << shape.valueBits;
        long rest = values;
        do {
            putEntry(slot++, high | Long.numberOfTrailingZeros(rest));
            rest &= rest - 1;
        } while (rest != 0);
        next = end;
        count += added;
        return true;
    }

    /** Completes the page but for its seal. */
    void finish() {
        if (count > 0) {
            runEnds |= 1L << next - 1;
        }
        beginBlock(shape.blocks);
        storeRunEnds();
        Memory.putByte(page + FilterLayout.FINGERPRINT_BITS, shape.fingerprintBits);
        Memory.putByte(page + FilterLayout.REMAINDER_BITS, shape.remainderBits);
        Memory.putByte(page + FilterLayout.VALUE_BITS, shape.valueBits);
        Memory.putByte(page + FilterLayout.UNUSED, 0);
        Memory.putInt(page + FilterLayout.COUNT, count);
    }

    private void storeRunEnds() {
        Memory.putLong(FilterPage.blockAddress(page, shape, block) + FilterLayout.RUN_ENDS, runEnds);
    }

    /** Leaves the current quotients' block for a later one, and says in those between how far entries have come. */
    private void beginBlock(int later) {
        Memory.putLong(FilterPage.blockAddress(page, shape, homeBlock) + FilterLayout.OCCUPIEDS, occupieds);
        occupieds = 0;
        while (++homeBlock <= later && homeBlock < shape.blocks) {
            int offset = Math.max(0, next - (homeBlock << FilterLayout.BLOCK_SHIFT));
            assert offset <= FilterLayout.OFFSET_MAX;
            Memory.putByte(FilterPage.blockAddress(page, shape, homeBlock) + FilterLayout.OFFSET, offset);
        }
        homeBlock = later;
    }

    private void beginSlots(int number) {
        block = number;
        slots = FilterPage.blockAddress(page, shape, number) + FilterLayout.SLOTS;
        runEnds = 0;
    }

    private void putEntry(int slot, long entry) {
        assert slot < shape.slots;
        if (slot >>> FilterLayout.BLOCK_SHIFT != block) {
            storeRunEnds();
            beginSlots(slot >>> FilterLayout.BLOCK_SHIFT);
        }
        int bit = (slot & FilterLayout.BLOCK_SLOTS - 1) * shape.entryBits;
        long address = slots + (bit >>> 3);
        long distance = address - slotAddress;
        long before = distance < Long.BYTES ? slotWord >>> (distance << 3) : 0;
        slotWord = before | entry << (bit & 7);
        slotAddress = address;
        Memory.putLong(address, slotWord);
    }
}
