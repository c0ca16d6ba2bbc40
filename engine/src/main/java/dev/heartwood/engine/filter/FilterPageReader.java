package dev.heartwood.engine.filter;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;

/** Walks the entries of one page after the other in order and checks everything about them. For one thread. */
final class FilterPageReader {
    private final MapletShape shape;
    private final CachedFile file;
    private long page;
    private int pageOfMaplet;
    private int block;
    /** The quotients of the block that come after the current one. */
    private long occupiedsLeft;

    private int quotient;
    /** The next slot to read. */
    private int slot;

    private boolean inRun;
    private int count;
    private long fingerprint;
    private int value;

    FilterPageReader(MapletShape shape, CachedFile file) {
        this.shape = shape;
        this.file = file;
    }

    /** Begins the page at {@code address}, the maplet's {@code pageOfMaplet}th. */
    void begin(long address, int pageOfMaplet) {
        page = address;
        this.pageOfMaplet = pageOfMaplet;
        requireTrailer(FilterLayout.FINGERPRINT_BITS, shape.fingerprintBits, "fingerprint bits");
        requireTrailer(FilterLayout.REMAINDER_BITS, shape.remainderBits, "remainder bits");
        requireTrailer(FilterLayout.VALUE_BITS, shape.valueBits, "value bits");
        slot = 0;
        inRun = false;
        count = 0;
        fingerprint = -1;
        beginBlock(0);
    }

    /** Goes to the next entry; false at the end of the page. */
    boolean next() {
        if (!inRun) {
            while (occupiedsLeft == 0) {
                if (block + 1 == shape.blocks) {
                    requireCount();
                    return false;
                }
                beginBlock(block + 1);
            }
            quotient = Long.numberOfTrailingZeros(occupiedsLeft);
            occupiedsLeft &= occupiedsLeft - 1;
            slot = Math.max(slot, (block << FilterLayout.BLOCK_SHIFT) + quotient);
            inRun = true;
        }
        long ends = FilterPage.runEnds(page, shape, file, slot & -FilterLayout.BLOCK_SLOTS);
        if (slot >= shape.slots) {
            throw FilterPage.damaged(page, file, "entries within " + shape.slots + " slots", "more");
        }
        take(FilterPage.entry(page, shape, slot));
        inRun = (ends >>> slot & 1) == 0;
        slot++;
        count++;
        return true;
    }

    long fingerprint() {
        return fingerprint;
    }

    int value() {
        return value;
    }

    private void take(long entry) {
        long remainder = entry >>> shape.valueBits;
        int entryValue = (int) entry & shape.valueMask;
        long found = shape.fingerprintOf(pageOfMaplet, block, quotient, remainder);
        long place = shape.place(found);
        boolean atHome = found <= shape.fingerprintMask
                && shape.page(found) == pageOfMaplet
                && shape.block(place) == block
                && shape.quotient(place) == quotient
                && shape.remainder(place) == remainder;
        if (!atHome || found < fingerprint || found == fingerprint && entryValue <= value) {
            throw FilterPage.damaged(page, file, "ascending entries", "entry " + entry + " in slot " + slot);
        }
        fingerprint = found;
        value = entryValue;
    }

    private void beginBlock(int number) {
        block = number;
        long address = FilterPage.blockAddress(page, shape, number);
        occupiedsLeft = Memory.getLong(address + FilterLayout.OCCUPIEDS);
        int offset = Memory.getUnsignedByte(address + FilterLayout.OFFSET);
        int spilled = Math.max(0, slot - (number << FilterLayout.BLOCK_SHIFT));
        if (offset != spilled) {
            throw FilterPage.damaged(page, file, "offset " + spilled + " of block " + number, "offset " + offset);
        }
    }

    private void requireTrailer(int field, int expected, String name) {
        int found = Memory.getUnsignedByte(page + field);
        if (found != expected) {
            throw FilterPage.damaged(page, file, expected + " " + name, found + " " + name);
        }
    }

    private void requireCount() {
        int recorded = Memory.getInt(page + FilterLayout.COUNT);
        if (recorded != count) {
            throw FilterPage.damaged(page, file, recorded + " entries", count + " entries");
        }
    }
}
