package dev.heartwood.engine.filter;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;

/** Walks the entries of one page after the other in order and checks everything about them. For one thread. */
final class FilterPageReader {
    /** The entries that a block has at most: as many as it has quotients, and as they may spill. */
    static final int BLOCK_ENTRIES_MAX = FilterLayout.BLOCK_SLOTS + FilterLayout.OFFSET_MAX;

    private final MapletShape shape;
    private final CachedFile file;
    private long page;
    private int pageOfMaplet;
    /** The next block. */
    private int block;
    /** The first slot behind the entries so far. */
    private int slot;

    private int count;
    private long last;

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
        block = 0;
        slot = 0;
        count = 0;
        last = -1;
    }

    /**
     * Stores the entries of the next block at an address, in the form of {@link Entry}; {@link #BLOCK_ENTRIES_MAX} at most.
     *
     * @return how many, or -1 at the end of the page
     */
    int readBlock(long to) {
        if (block == shape.blocks) {
            requireCount();
            return -1;
        }
        requireOffset();
        long occupieds = Memory.getLong(FilterPage.blockAddress(page, shape, block) + FilterLayout.OCCUPIEDS);
        int first = block << FilterLayout.BLOCK_SHIFT;
        int behind = Math.min(first + BLOCK_ENTRIES_MAX, shape.slots);
        long numbers = shape.firstOf(pageOfMaplet, block);
        long before = last;
        int next = slot;
        int ofBlock = -1;
        long ends = 0;
        long slots = 0;
        long at = to;
        while (occupieds != 0) {
            // An entry that does not end its run leaves its quotient's bit for the next one: no branch on the length of a run.
            int quotient = Long.numberOfTrailingZeros(occupieds);
            next = Math.max(next, first + quotient);
            if (next >= behind) {
                throw FilterPage.damaged(page, file, "entries within " + behind + " slots", "more");
            }
            if (next >>> FilterLayout.BLOCK_SHIFT != ofBlock) {
                ofBlock = next >>> FilterLayout.BLOCK_SHIFT;
                long address = FilterPage.blockAddress(page, shape, ofBlock);
                ends = Memory.getLong(address + FilterLayout.RUN_ENDS);
                slots = address + FilterLayout.SLOTS;
            }
            int bit = (next & FilterLayout.BLOCK_SLOTS - 1) * shape.entryBits;
            long stored = Memory.getLong(slots + (bit >>> 3)) >>> (bit & 7) & shape.entryMask;
            long number = (numbers | quotient) << shape.remainderBits | stored >>> shape.valueBits;
            long fingerprint = shape.fingerprintOf(number);
            long entry = Entry.of(fingerprint, stored & shape.valueMask);
            if (entry <= before || fingerprint > shape.fingerprintMask || shape.number(fingerprint) != number) {
                throw FilterPage.damaged(page, file, "ascending entries", "entry " + stored + " in slot " + next);
            }
            before = entry;
            Memory.putLong(at, entry);
            at += Entry.BYTES;
            occupieds &= occupieds - (ends >>> next & 1);
            next++;
        }
        int found = (int) (at - to) / Entry.BYTES;
        block++;
        slot = next;
        last = before;
        count += found;
        return found;
    }

    private void requireOffset() {
        int spilled = Math.max(0, slot - (block << FilterLayout.BLOCK_SHIFT));
        int offset = Memory.getUnsignedByte(FilterPage.blockAddress(page, shape, block) + FilterLayout.OFFSET);
        if (offset != spilled) {
            throw FilterPage.damaged(page, file, "offset " + spilled + " of block " + block, "offset " + offset);
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
