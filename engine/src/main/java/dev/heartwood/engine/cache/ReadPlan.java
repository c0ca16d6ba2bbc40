package dev.heartwood.engine.cache;

/** Which pages of a run must be read: two bit sets over at most 32 pages, packed in a long. */
final class ReadPlan {
    private ReadPlan() {}

    static long of(int absent, int dirty) {
        return (long) dirty << 32 | absent & 0xFFFFFFFFL;
    }

    /** The pages that are not in the cache. */
    static int absent(long plan) {
        return (int) plan;
    }

    /** The pages that the device may not have yet. */
    static int dirty(long plan) {
        return (int) (plan >>> 32);
    }

    /** The length of the one read that begins with absent page {@code first} and ends with the last absent page before a dirty one. */
    static int stretch(int absent, int dirty, int first) {
        int end = Integer.numberOfTrailingZeros(dirty >>> first);
        int upToDirty = end == 32 ? absent >>> first : absent >>> first & (1 << end) - 1;
        return 32 - Integer.numberOfLeadingZeros(upToDirty);
    }
}
