package dev.heartwood.engine.filter;

/**
 * How a maplet cuts fingerprints into page, block, quotient and remainder. Immutable.
 */
final class MapletShape {
    /*
     * A fingerprint f is the top F bits of a key's hash, so that a shorter fingerprint is the beginning of a longer one and
     * maplets of different sizes can be merged. The number of pages P need not be a power of two: with B blocks a page,
     *
     *     page  = f * P >>> F                 page number in the maplet
     *     rest  = (f * P mod 2^F) * B
     *     block = rest >>> F                  in the page
     *     y     = rest mod 2^F = f * (P * B) mod 2^F
     *
     * y grows by P * B from one fingerprint to the next. With 2^shift <= P * B the number y >>> shift is therefore different for
     * different fingerprints of a block: its top 6 bits are the quotient, the others the remainder. The map is injective and
     * monotone: nothing is lost but what the fingerprint does not hold, a false positive has the probability entries / 2^F, and
     * fingerprintOf() turns an entry back into its fingerprint.
     */
    private static final int PRODUCT_BITS_MAX = 63;

    final int fingerprintBits;
    final int remainderBits;
    final int valueBits;
    final int pages;

    final int entryBits;
    final int blocks;
    final int blockBytes;
    final int slots;
    final int remainderShift;
    final int quotientShift;
    final int hashShift;
    final long fingerprintMask;
    final long remainderMask;
    final long entryMask;
    final int valueMask;
    private final long blocksTotal;
    /** 2^64 / blocksTotal. */
    private final long reciprocal;

    /** A shape for which {@link #problem} finds nothing. */
    MapletShape(int fingerprintBits, int remainderBits, int valueBits, int pages) {
        assert problem(fingerprintBits, remainderBits, valueBits, pages) == null;
        this.fingerprintBits = fingerprintBits;
        this.remainderBits = remainderBits;
        this.valueBits = valueBits;
        this.pages = pages;
        entryBits = remainderBits + valueBits;
        blocks = FilterLayout.quotientBlocks(entryBits);
        blockBytes = FilterLayout.blockBytes(entryBits);
        slots = FilterLayout.slots(entryBits);
        quotientShift = fingerprintBits - FilterLayout.BLOCK_SHIFT;
        remainderShift = quotientShift - remainderBits;
        hashShift = Long.SIZE - fingerprintBits;
        fingerprintMask = (1L << fingerprintBits) - 1;
        remainderMask = (1L << remainderBits) - 1;
        entryMask = (1L << entryBits) - 1;
        valueMask = (1 << valueBits) - 1;
        blocksTotal = (long) pages * blocks;
        reciprocal = Long.divideUnsigned(-1, blocksTotal);
    }

    /** What is wrong with these numbers, or null. */
    static String problem(int fingerprintBits, int remainderBits, int valueBits, int pages) {
        if (fingerprintBits < FilterLayout.FINGERPRINT_BITS_MIN || fingerprintBits > FilterLayout.FINGERPRINT_BITS_MAX) {
            return "fingerprints of " + fingerprintBits + " bits";
        }
        if (valueBits < 0 || valueBits > FilterLayout.VALUE_BITS_MAX) {
            return "values of " + valueBits + " bits";
        }
        if (remainderBits < 1
                || remainderBits > fingerprintBits - FilterLayout.BLOCK_SHIFT
                || remainderBits + valueBits > FilterLayout.ENTRY_BITS_MAX) {
            return "remainders of " + remainderBits + " bits";
        }
        int blocks = FilterLayout.quotientBlocks(remainderBits + valueBits);
        long blocksTotal = (long) pages * blocks;
        int shift = fingerprintBits - FilterLayout.BLOCK_SHIFT - remainderBits;
        if (pages < 1 || fingerprintBits > fingerprintBitsMax(blocksTotal) || 1L << shift > blocksTotal) {
            return pages + " pages";
        }
        return null;
    }

    /** The longest fingerprints of so many blocks, whose product with them has to fit into a number. */
    static int fingerprintBitsMax(long blocksTotal) {
        return PRODUCT_BITS_MAX - bits(blocksTotal);
    }

    long fingerprint(long hash) {
        return hash >>> hashShift;
    }

    int page(long fingerprint) {
        return (int) (fingerprint * pages >>> fingerprintBits);
    }

    /** The block in its page above, what {@link #quotient} and {@link #remainder} take below. */
    long place(long fingerprint) {
        return (fingerprint * pages & fingerprintMask) * blocks;
    }

    int block(long place) {
        return (int) (place >>> fingerprintBits);
    }

    int quotient(long place) {
        return (int) ((place & fingerprintMask) >>> quotientShift);
    }

    long remainder(long place) {
        return place >>> remainderShift & remainderMask;
    }

    /** Page, block, quotient and remainder of a fingerprint in one number, the former above the latter. */
    long number(long fingerprint) {
        return fingerprint * blocksTotal >>> remainderShift;
    }

    /** What the numbers of a block begin with, above quotient and remainder. */
    long firstOf(int page, int block) {
        return ((long) page * blocks + block) << FilterLayout.BLOCK_SHIFT;
    }

    /** Block and quotient within its page of a number, as the slot that is its home. */
    int homeOf(long number, int page) {
        return (int) ((number >>> remainderBits) - firstOf(page, 0));
    }

    /** The remainder of a number. */
    long remainderOf(long number) {
        return number & remainderMask;
    }

    /** The fingerprint with a number; one with another number, or none, when no fingerprint has it. */
    long fingerprintOf(long number) {
        // The number is divided, rounding up, by way of its product with the reciprocal, which is at most one too little.
        long dividend = (number << remainderShift) + blocksTotal - 1;
        long quotient = Math.unsignedMultiplyHigh(dividend, reciprocal);
        long missing = blocksTotal - 1 - (dividend - quotient * blocksTotal) >>> Long.SIZE - 1;
        return quotient + missing;
    }

    private static int bits(long number) {
        return Long.SIZE - Long.numberOfLeadingZeros(number);
    }
}
