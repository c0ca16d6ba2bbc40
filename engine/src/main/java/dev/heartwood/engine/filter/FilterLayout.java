package dev.heartwood.engine.filter;

import dev.heartwood.engine.page.PageLayout;

/**
 * The body of a filter page: blocks of 64 slots, and at the very end a trailer that says how they are to be read.
 *
 * <pre>
 *  32                            4088                                       4096
 *  +---------+---------+--   --+--------------------------------------------+
 *  | block 0 | block 1 |  ...  | fingerprint | remainder | value | 0 | count |
 *  +---------+---------+--   --+--------------------------------------------+
 *                                bits (1)      bits (1)    bits(1) (1) (4)
 *  block:
 *  0           8          16       17
 *  +-----------+----------+--------+-----------------------------------------+
 *  | occupieds | run ends | offset | 64 slots of remainder and value, packed |
 *  +-----------+----------+--------+-----------------------------------------+
 * </pre>
 *
 * <p>Bit q of {@code occupieds}: quotient q of the block has entries. Bit s of {@code run ends}: slot s holds the last entry of
 * its quotient. {@code offset}: how many slots from the block's first on belong to quotients of earlier blocks. A slot is the
 * remainder in the high bits and the value in the low bits; slot s begins at bit s * entryBits, low bits first. What is left of
 * the page after the last whole block is a block with fewer slots. Blocks behind {@link #quotientBlocks} have no quotients of
 * their own and take what earlier ones spill.
 *
 * <p>The trailer also lets a slot be read with one 8-byte load that stays inside the page.
 */
final class FilterLayout {
    static final int OCCUPIEDS = 0;
    static final int RUN_ENDS = OCCUPIEDS + 8;
    static final int OFFSET = RUN_ENDS + 8;
    static final int SLOTS = OFFSET + 1;

    static final int BLOCKS = PageLayout.BODY;
    static final int TRAILER = PageLayout.PAGE_BYTES - 8;
    static final int FINGERPRINT_BITS = TRAILER;
    static final int REMAINDER_BITS = FINGERPRINT_BITS + 1;
    static final int VALUE_BITS = REMAINDER_BITS + 1;
    static final int UNUSED = VALUE_BITS + 1;
    static final int COUNT = UNUSED + 1;

    static final int BLOCK_SLOTS = 64;
    static final int BLOCK_SHIFT = 6;
    static final int OFFSET_MAX = 255;
    static final int VALUE_BITS_MAX = 6;
    static final int FINGERPRINT_BITS_MAX = 40;
    static final int FINGERPRINT_BITS_MIN = 8;

    /** A slot is read by one load of 64 bits that begins at most 7 bits before it. */
    static final int ENTRY_BITS_MAX = 48;

    /** Slots that a page has for spilling beyond those of its quotients. */
    private static final int SPILL_SLOTS_MIN = 40;

    static {
        if (COUNT + 4 != PageLayout.PAGE_BYTES || BLOCK_SLOTS != 1 << BLOCK_SHIFT || ENTRY_BITS_MAX > 64 - 7) {
            throw new AssertionError("filter layout");
        }
    }

    private FilterLayout() {}

    static int blockBytes(int entryBits) {
        return SLOTS + entryBits * (BLOCK_SLOTS / 8);
    }

    /** All slots of a page, those of the last, partial block included. */
    static int slots(int entryBits) {
        int whole = (TRAILER - BLOCKS) / blockBytes(entryBits);
        int restBytes = TRAILER - BLOCKS - whole * blockBytes(entryBits);
        return whole * BLOCK_SLOTS + Math.max(0, restBytes - SLOTS) * 8 / entryBits;
    }

    /** The blocks whose quotients a page covers. */
    static int quotientBlocks(int entryBits) {
        return (slots(entryBits) - SPILL_SLOTS_MIN) >>> BLOCK_SHIFT;
    }
}
