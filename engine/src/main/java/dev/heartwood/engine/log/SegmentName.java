package dev.heartwood.engine.log;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of segment files: {@code log-000001.seg}. */
public final class SegmentName {
    private static final Pattern PATTERN = Pattern.compile("log-([0-9]{6,15})\\.seg");

    private SegmentName() {}

    static String of(long number) {
        return String.format(Locale.ROOT, "log-%06d.seg", number);
    }

    /** Whether a file of a directory is one of a log. */
    public static boolean isOfSegment(String file) {
        return number(file) >= 0;
    }

    /** The number in a name, or -1 when it does not name a segment. */
    static long number(String name) {
        Matcher matcher = PATTERN.matcher(name);
        if (!matcher.matches()) {
            return -1;
        }
        long number = Long.parseLong(matcher.group(1));
        return of(number).equals(name) ? number : -1;
    }
}
