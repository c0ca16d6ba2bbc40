package dev.heartwood.engine.filter;

import java.util.function.IntFunction;

/** Finds the shape for a set of sorted entries in which no page overflows. For one thread. */
final class MapletFit {
    /*
     * Counts before it chooses: walks the entries as FilterPageWriter will, without writing. When a page overflows, the number of
     * pages grows by as much as the worst page lacks. Hashes that crowd together, which no honest set of keys has, end that
     * growth; from then on fingerprints get shorter, so that crowded ones become one. At the shortest, a page has room for every
     * value of every fingerprint. That costs false positives and nothing else.
     */
    private final IntFunction<EntryMerge> entries;
    private final MapletPlan plan;
    /** The slots that the fullest page would need. */
    private int slotsNeeded;
    /** The longest way of an entry from its home slot. */
    private int spillMost;

    /** @param entries opens the entries with fingerprints of so many bits */
    MapletFit(IntFunction<EntryMerge> entries, MapletPlan plan) {
        this.entries = entries;
        this.plan = plan;
    }

    MapletShape shape() {
        MapletPlan limited = plan;
        while (true) {
            MapletShape first = limited.shape(1);
            long pagesMax = first.pages * 2L + FilterLayout.FINGERPRINT_BITS_MIN;
            MapletShape shape = first;
            while (shape.pages <= pagesMax) {
                measure(shape);
                if (slotsNeeded <= shape.slots && spillMost <= FilterLayout.OFFSET_MAX) {
                    return shape;
                }
                shape = limited.shape(morePages(shape));
            }
            if (first.fingerprintBits == FilterLayout.FINGERPRINT_BITS_MIN) {
                throw new AssertionError("entries do not fit " + shape.pages + " pages");
            }
            limited = plan.limitedTo(first.fingerprintBits - 1);
        }
    }

    private int morePages(MapletShape shape) {
        long needed = (long) shape.pages * slotsNeeded / shape.slots + 1;
        return (int) Math.min(Math.max(needed, shape.pages + 1L + (shape.pages >> 7)), Integer.MAX_VALUE);
    }

    private void measure(MapletShape shape) {
        try (EntryMerge cursor = entries.apply(shape.fingerprintBits)) {
            measure(shape, cursor);
        }
    }

    private void measure(MapletShape shape, EntryMerge cursor) {
        slotsNeeded = 0;
        spillMost = 0;
        int page = 0;
        int next = 0;
        while (cursor.next()) {
            long fingerprint = cursor.fingerprint();
            if (shape.page(fingerprint) != page) {
                slotsNeeded = Math.max(slotsNeeded, next);
                page = shape.page(fingerprint);
                next = 0;
            }
            long place = shape.place(fingerprint);
            int home = (shape.block(place) << FilterLayout.BLOCK_SHIFT) + shape.quotient(place);
            next = Math.max(next, home) + Long.bitCount(cursor.values());
            spillMost = Math.max(spillMost, next - home);
        }
        slotsNeeded = Math.max(slotsNeeded, next);
    }
}
