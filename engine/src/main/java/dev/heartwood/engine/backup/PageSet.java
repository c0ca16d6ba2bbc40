package dev.heartwood.engine.backup;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.page.PageLayout;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Pages of a data file, as runs of neighbours. For one thread. */
final class PageSet {
    /** Extents are counted in ints, pages are not. */
    static final long PAGES_MAX = (1L << Integer.SIZE - 1) << PageLayout.EXTENT_SHIFT;

    /** The first page of each run, and the one behind the last; no two runs touch. */
    private final NavigableMap<Long, Long> runs = new TreeMap<>();

    /** Adds neighbouring pages; some may be there. */
    void add(long first, long count) {
        long from = first;
        long to = first + count;
        Map.Entry<Long, Long> met = runs.floorEntry(to);
        while (met != null && met.getValue() >= from) {
            from = Math.min(from, met.getKey());
            to = Math.max(to, met.getValue());
            runs.remove(met.getKey());
            met = runs.floorEntry(to);
        }
        runs.put(from, to);
    }

    void addAll(PageSet others) {
        others.runs.forEach((from, to) -> add(from, to - from));
    }

    /** Whether all of some neighbouring pages are in the set. */
    boolean containsAll(long first, int count) {
        Map.Entry<Long, Long> run = runs.floorEntry(first);
        return run != null && run.getValue() >= first + count;
    }

    /** Whether some of them are. */
    boolean containsAny(long first, int count) {
        Map.Entry<Long, Long> run = runs.lowerEntry(first + count);
        return run != null && run.getValue() > first;
    }

    /** How many pages there are. */
    long count() {
        return runs.entrySet().stream().mapToLong(run -> run.getValue() - run.getKey()).sum();
    }

    /** Writes, for each run in the order of the file, how far it is from the one before and how long. */
    void putTo(ImageWriter image) {
        long last = 0;
        for (Map.Entry<Long, Long> run : runs.entrySet()) {
            image.putVarint(run.getKey() - last).putVarint(run.getValue() - run.getKey());
            last = run.getValue();
        }
    }

    /** Reads what {@link #putTo} has written last. */
    static PageSet readFrom(ImageReader image) {
        PageSet pages = new PageSet();
        long last = 0;
        while (image.remaining() > 0) {
            long from = last + requireUpTo(PAGES_MAX - last, image.getVarint());
            long count = 1 + requireUpTo(PAGES_MAX - from - 1, image.getVarint() - 1);
            pages.add(from, count);
            last = from + count;
        }
        return pages;
    }

    private static long requireUpTo(long max, long value) {
        if (value < 0 || value > max) {
            throw new MalformedImageException(value + " pages, and there may be " + max);
        }
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PageSet pages && runs.equals(pages.runs);
    }

    @Override
    public int hashCode() {
        return runs.hashCode();
    }

    @Override
    public String toString() {
        return runs.toString();
    }
}
