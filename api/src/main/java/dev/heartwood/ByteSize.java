package dev.heartwood;

import java.util.Locale;

/**
 * A number of bytes, 0 or more. Prints and parses without loss.
 *
 * @param bytes the number of bytes
 */
public record ByteSize(long bytes) implements Comparable<ByteSize> {
    private static final String UNITS = "kmgt";

    /** Refuses negative sizes. */
    public ByteSize {
        if (bytes < 0) {
            throw new IllegalArgumentException("a size cannot be negative: " + bytes);
        }
    }

    /** {@code count} × 1024 bytes. */
    public static ByteSize kib(long count) {
        return new ByteSize(Math.multiplyExact(count, 1L << 10));
    }

    /** {@code count} × 1024² bytes. */
    public static ByteSize mib(long count) {
        return new ByteSize(Math.multiplyExact(count, 1L << 20));
    }

    /** {@code count} × 1024³ bytes. */
    public static ByteSize gib(long count) {
        return new ByteSize(Math.multiplyExact(count, 1L << 30));
    }

    /**
     * Reads what {@link #toString} prints, and its usual variants: {@code 4096}, {@code 64k}, {@code 256MiB}, {@code 4g}. Units
     * are powers of 1024.
     *
     * @throws IllegalArgumentException when the text is not a size
     */
    public static ByteSize parse(String text) {
        String s = text.strip().toLowerCase(Locale.ROOT);
        String digits = s.replaceFirst("\\s*(([kmgt])(i?b)?|b)$", "");
        String unit = s.substring(digits.length()).strip();
        int shift = unit.isEmpty() ? 0 : 10 * (UNITS.indexOf(unit.charAt(0)) + 1);
        try {
            return new ByteSize(Math.multiplyExact(Long.parseLong(digits), 1L << shift));
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("not a size: '" + text + "' (examples: 4096, 64k, 256m, 4g)", e);
        }
    }

    @Override
    public int compareTo(ByteSize other) {
        return Long.compare(bytes, other.bytes);
    }

    @Override
    public String toString() {
        for (int i = UNITS.length(); i > 0; i--) {
            if (bytes != 0 && bytes % (1L << 10 * i) == 0) {
                return (bytes >> 10 * i) + "" + UNITS.charAt(i - 1);
            }
        }
        return Long.toString(bytes);
    }
}
