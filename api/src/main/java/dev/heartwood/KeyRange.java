package dev.heartwood;

import java.util.Arrays;

/**
 * A range of keys: from a lower bound, inclusive, to an upper bound, exclusive; either may be absent. Immutable. Make one with
 * the factories, which copy the arrays.
 */
public final class KeyRange {
    private static final KeyRange ALL = new KeyRange(null, null);

    /** Of a longer bound the rest is left out of its text. */
    private static final int PRINTED_BYTES_MAX = 32;

    private final byte[] from;
    private final byte[] to;

    private KeyRange(byte[] from, byte[] to) {
        this.from = from;
        this.to = to;
    }

    /** Every key. */
    public static KeyRange all() {
        return ALL;
    }

    /** Keys at or after {@code from}. */
    public static KeyRange from(byte[] from) {
        return new KeyRange(from.clone(), null);
    }

    /** Keys before {@code to}. */
    public static KeyRange before(byte[] to) {
        return new KeyRange(null, to.clone());
    }

    /** Keys at or after {@code from} and before {@code to}; empty when {@code from} is not before {@code to}. */
    public static KeyRange between(byte[] from, byte[] to) {
        return new KeyRange(from.clone(), to.clone());
    }

    /** Keys that begin with {@code prefix}. */
    public static KeyRange prefix(byte[] prefix) {
        byte[] from = prefix.clone();
        int last = from.length - 1;
        while (last >= 0 && from[last] == (byte) 0xff) {
            last--;
        }
        if (last < 0) {
            return new KeyRange(from, null);
        }
        byte[] to = Arrays.copyOf(from, last + 1);
        to[last]++;
        return new KeyRange(from, to);
    }

    /** A copy of the inclusive lower bound, or null when there is none. */
    public byte[] from() {
        return from == null ? null : from.clone();
    }

    /** A copy of the exclusive upper bound, or null when there is none. */
    public byte[] to() {
        return to == null ? null : to.clone();
    }

    /** Whether {@code key} lies in this range. */
    public boolean contains(byte[] key) {
        return (from == null || Arrays.compareUnsigned(from, key) <= 0)
                && (to == null || Arrays.compareUnsigned(key, to) < 0);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyRange r && Arrays.equals(from, r.from) && Arrays.equals(to, r.to);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(from) + Arrays.hashCode(to);
    }

    /** The bounds, of longer ones the beginning and the length. */
    @Override
    public String toString() {
        return "[" + text(from, "-∞") + ", " + text(to, "∞") + ")";
    }

    private static String text(byte[] bound, String none) {
        if (bound == null || bound.length <= PRINTED_BYTES_MAX) {
            return bound == null ? none : Arrays.toString(bound);
        }
        String beginning = Arrays.toString(Arrays.copyOf(bound, PRINTED_BYTES_MAX));
        return beginning.substring(0, beginning.length() - 1) + ", … of " + bound.length + " bytes]";
    }
}
