package dev.heartwood.bench.report;

import java.util.Locale;

/** Prints numbers for people, always in the same way. Stateless. */
public final class Numbers {
    private static final String[] DECIMAL = {"", "k", "M", "G", "T"};
    private static final String[] SIZES = {"B", "kB", "MB", "GB", "TB"};

    private Numbers() {}

    /** A count with three significant digits and a decimal unit: {@code 1.23M}. */
    public static String count(double value) {
        return scaled(value, DECIMAL);
    }

    /** A size with three significant digits and a decimal unit: {@code 248 MB}. */
    public static String bytes(double value) {
        int unit = unitOf(value);
        return digits(value / Math.pow(1000, unit)) + " " + SIZES[unit];
    }

    /** Microseconds with three significant digits; from ten thousand on in milliseconds: {@code 12.3ms}. */
    public static String micros(double micros) {
        return micros < 10_000 ? digits(micros) : digits(micros / 1000) + "ms";
    }

    /** As {@link #micros}, always with its unit: {@code 1.23 µs}. */
    public static String latency(double micros) {
        return micros < 10_000 ? digits(micros) + " µs" : digits(micros / 1000) + " ms";
    }

    /** A latency in the largest unit that keeps it at 1 or above, with as few digits as it needs: {@code 10 ms}. */
    public static String roundLatency(double micros) {
        if (micros >= 1e6) {
            return plain(micros / 1e6) + " s";
        }
        return micros >= 1000 ? plain(micros / 1000) + " ms" : plain(micros) + " µs";
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : digits(value);
    }

    /** Two decimals, or a dash for 0. */
    public static String ratio(double value) {
        return value == 0 ? "-" : String.format(Locale.ROOT, "%.2f", value);
    }

    /** A time span as minutes and seconds. */
    public static String clock(double seconds) {
        long whole = Math.round(seconds);
        return whole >= 3600
                ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
                : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
    }

    private static String scaled(double value, String[] units) {
        int unit = unitOf(value);
        return digits(value / Math.pow(1000, unit)) + units[unit];
    }

    private static int unitOf(double value) {
        int unit = 0;
        for (double rest = value; rest >= 999.5 && unit < SIZES.length - 1; rest /= 1000) {
            unit++;
        }
        return unit;
    }

    private static String digits(double value) {
        if (value == 0) {
            return "0";
        }
        return String.format(Locale.ROOT, value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
    }
}
