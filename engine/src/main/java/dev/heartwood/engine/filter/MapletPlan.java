package dev.heartwood.engine.filter;

/**
 * Chooses the shape of a maplet from the number of its entries: as long a fingerprint as fits an entry's share of the space.
 *
 * @param entries how many entries the maplet will have
 * @param valueBits the bits of its largest value
 * @param fingerprintBitsMin what the maplet that it is a piece of will have, or 0
 * @param fingerprintBitsMax what the sources have
 * @param crowding entries that an entry meets at its own fingerprint on average, itself included: how much more uneven pages are than
 *     if each entry had a fingerprint of its own
 */
record MapletPlan(long entries, int valueBits, int fingerprintBitsMin, int fingerprintBitsMax, double crowding) {
    /*
     * An entry has 12 bits of remainder and value in a large maplet, and at least 8 of them are remainder. Where a page or two
     * is the whole maplet, longer fingerprints cost little and spare reading keys again when it is merged into a large one.
     *
     * Hashes fill pages unevenly: of P pages with m entries on average, the fullest has about m + z * sqrt(m), z = sqrt(2 ln P).
     * A key that several runs have brings an entry for each of them to one place. Entries that find their place taken queue up, and how far the
     * longest queue reaches grows with c / (q / m - 1), where q are the quotients of a page and c is the crowding: so q / m - 1 grows
     * with c, and a tenth more, as counted. The first guess at P has room for the fullest page of four such maplets, unless there are
     * very many pages.
     */
    private static final int ENTRY_BITS = 12;
    private static final int ENTRY_BITS_SMALL = 16;
    private static final int ENTRY_BITS_ONE_PAGE = 24;
    private static final int REMAINDER_BITS_MIN = 8;
    private static final long SMALL_ENTRIES_MAX = 1 << 16;
    private static final int SPILL_SLOTS = 24;
    private static final int MAPLETS_LOG2 = 2;
    private static final int MAPLETS_PAGES_LOG2_MAX = 17;
    private static final int MORE_PAGES_SHIFT = 6;
    private static final double CROWDING_WEIGHT = 1.1;
    private static final double TWICE_NATURAL_LOG_OF_2 = 1.3863;

    /** Entries per false positive, at least, in a maplet that keeps the promise: 2^7, that is 0.8 %. */
    static final int FALSE_POSITIVE_SHIFT = 7;

    /** The fingerprint bits without which a maplet of {@code entries} has too many false positives. */
    static int fingerprintBitsNeeded(long entries) {
        return Math.clamp(
                ceilingLog2(entries) + FALSE_POSITIVE_SHIFT,
                FilterLayout.FINGERPRINT_BITS_MIN,
                FilterLayout.FINGERPRINT_BITS_MAX);
    }

    /** Those that will do for entries that are taken over: twice the false positives are cheaper than to read the keys again. */
    static int fingerprintBitsKept(long entries) {
        return Math.max(fingerprintBitsNeeded(entries) - 1, FilterLayout.FINGERPRINT_BITS_MIN);
    }

    /** A plan for entries that have fingerprints of their own. */
    MapletPlan(long entries, int valueBits, int fingerprintBitsMin, int fingerprintBitsMax) {
        this(entries, valueBits, fingerprintBitsMin, fingerprintBitsMax, 1);
    }

    /** The same for entries that share fingerprints. */
    MapletPlan crowded(double entriesMet) {
        return new MapletPlan(entries, valueBits, fingerprintBitsMin, fingerprintBitsMax, entriesMet);
    }

    /** The same with fingerprints of no more than so many bits, whatever it is a piece of. */
    MapletPlan limitedTo(int fingerprintBits) {
        return new MapletPlan(entries, valueBits, 0, fingerprintBits, crowding);
    }

    /** The shapes to try, one after the other, before the entries of pages are counted ({@link MapletFit}). */
    MapletShape[] guesses() {
        MapletShape first = shape(1);
        return new MapletShape[] {first, shape(first.pages + (int) (crowding * (first.pages >> MORE_PAGES_SHIFT)) + 1)};
    }

    /** The shape with at least {@code pagesMin} pages. */
    MapletShape shape(int pagesMin) {
        int entryBits = preferredEntryBits();
        int fingerprintBits = Math.min(fingerprintBits(entryBits, pagesMin), fingerprintBitsMax);
        while (fingerprintBits < Math.min(fingerprintBitsMin, fingerprintBitsMax)
                && entryBits < FilterLayout.ENTRY_BITS_MAX) {
            entryBits++;
            fingerprintBits = Math.min(fingerprintBits(entryBits, pagesMin), fingerprintBitsMax);
        }
        fingerprintBits = Math.min(fingerprintBits, fingerprintBitsCut(entryBits, pagesMin));
        // Shorter entries when the fingerprints are shorter than the entries could tell apart.
        while (entryBits > valueBits + 1
                && fingerprintBits(entryBits - 1, pagesMin) >= fingerprintBits
                && fingerprintBitsCut(entryBits - 1, pagesMin) >= fingerprintBits) {
            entryBits--;
        }
        int remainderBits = Math.min(entryBits - valueBits, fingerprintBits - FilterLayout.BLOCK_SHIFT);
        // Of shorter entries a page has more blocks.
        while (fingerprintBits > fingerprintBitsCut(remainderBits + valueBits, pagesMin)) {
            fingerprintBits--;
            remainderBits = Math.min(remainderBits, fingerprintBits - FilterLayout.BLOCK_SHIFT);
        }
        return new MapletShape(
                fingerprintBits, remainderBits, valueBits, pages(remainderBits + valueBits, pagesMin));
    }

    private int preferredEntryBits() {
        int least = valueBits + REMAINDER_BITS_MIN;
        if (entries >= SMALL_ENTRIES_MAX) {
            return Math.max(ENTRY_BITS, least);
        }
        return entries < pageEntries(ENTRY_BITS_ONE_PAGE, 0) ? ENTRY_BITS_ONE_PAGE : ENTRY_BITS_SMALL;
    }

    /** The longest fingerprint that entries of this width tell apart. */
    private int fingerprintBits(int entryBits, int pagesMin) {
        return FilterLayout.BLOCK_SHIFT + entryBits - valueBits + floorLog2(blocksTotal(entryBits, pagesMin));
    }

    /** The longest fingerprint that a shape with entries of this width can cut. */
    private int fingerprintBitsCut(int entryBits, int pagesMin) {
        return MapletShape.fingerprintBitsMax(blocksTotal(entryBits, pagesMin));
    }

    private long blocksTotal(int entryBits, int pagesMin) {
        return (long) pages(entryBits, pagesMin) * FilterLayout.quotientBlocks(entryBits);
    }

    private int pages(int entryBits, int pagesMin) {
        int pages = 1;
        if (entries > pageEntries(entryBits, 0)) {
            int few = (int) (entries / FilterLayout.slots(entryBits)) + 1;
            int log2 = floorLog2(few) + 1;
            int severalLog2 = Math.max(log2, Math.min(log2 + MAPLETS_LOG2, MAPLETS_PAGES_LOG2_MAX));
            pages = (int) (entries / pageEntries(entryBits, severalLog2)) + 1;
        }
        return Math.max(pages, pagesMin);
    }

    /** The entries of an average page when the fullest of 2^pagesLog2 has as many as fit. */
    private int pageEntries(int entryBits, int pagesLog2) {
        double half = Math.sqrt(TWICE_NATURAL_LOG_OF_2 * pagesLog2) / 2;
        double root = Math.sqrt(half * half + FilterLayout.slots(entryBits) - SPILL_SLOTS) - half;
        double even = root * root;
        double quotients = (double) FilterLayout.quotientBlocks(entryBits) * FilterLayout.BLOCK_SLOTS;
        double queues = 1 + (crowding - 1) * CROWDING_WEIGHT;
        return (int) (even < quotients ? quotients / (1 + (quotients / even - 1) * queues) : even);
    }

    private static int floorLog2(long number) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(number);
    }

    private static int ceilingLog2(long number) {
        return number <= 1 ? 0 : floorLog2(number - 1) + 1;
    }
}
