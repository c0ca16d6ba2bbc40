package dev.heartwood.engine.base;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Order and bounds of keys on the heap: unsigned bytes, an absent bound being null. */
public final class Keys {
    /** The least key. */
    public static final byte[] EMPTY = new byte[0];

    private static final int TEXT_BYTES_MAX = 40;

    private Keys() {}

    /** A key for people to read: printable ASCII as it is, in quotes, anything else in hexadecimal; long keys are cut. */
    public static String text(byte[] key) {
        int shown = Math.min(key.length, TEXT_BYTES_MAX);
        boolean printable = true;
        for (int i = 0; i < shown; i++) {
            printable &= key[i] >= ' ' && key[i] <= '~' && key[i] != '"';
        }
        String rest = shown < key.length ? "... (" + key.length + " bytes)" : "";
        return printable
                ? '"' + new String(key, 0, shown, StandardCharsets.US_ASCII) + '"' + rest
                : "0x" + HexFormat.of().formatHex(key, 0, shown) + rest;
    }

    /** Compares as unsigned bytes; a prefix of the other comes first. */
    public static int compare(byte[] a, byte[] b) {
        return Arrays.compareUnsigned(a, b);
    }

    /** Whether {@code key} is before the upper bound {@code to}, null being no bound. */
    public static boolean isBefore(byte[] key, byte[] to) {
        return to == null || compare(key, to) < 0;
    }

    /** The later of two lower bounds; null is the least. */
    public static byte[] laterFrom(byte[] a, byte[] b) {
        return a == null ? b : b == null ? a : compare(a, b) >= 0 ? a : b;
    }

    /** The earlier of two upper bounds; null is none. */
    public static byte[] earlierTo(byte[] a, byte[] b) {
        return a == null ? b : b == null ? a : compare(a, b) <= 0 ? a : b;
    }

    /** Whether nothing can lie at or after {@code from} and before {@code to}. */
    public static boolean isEmpty(byte[] from, byte[] to) {
        return to != null && compare(from == null ? EMPTY : from, to) >= 0;
    }
}
