package dev.heartwood.engine.filter;

/** A fingerprint and a value in one positive number, which orders as both do. */
final class Entry {
    static final int BYTES = Long.BYTES;
    static final int VALUE_BITS = FilterLayout.VALUE_BITS_MAX;
    static final int VALUE_MASK = (1 << VALUE_BITS) - 1;

    private Entry() {}

    static long of(long fingerprint, long value) {
        return fingerprint << VALUE_BITS | value;
    }

    static long fingerprint(long entry) {
        return entry >>> VALUE_BITS;
    }

    static int value(long entry) {
        return (int) entry & VALUE_MASK;
    }
}
