package dev.heartwood.engine.write;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Ranges of keys in which cursors found nothing but deleted keys, so that later ones pass over them at once: what is taken from a queue leaves
 * a tombstone for each entry, all of which lie before its first one. Of one store. Thread-safe.
 */
public final class DeadRanges {
    /*
     * A range is watched first: from the moment it is published, every write of a value or operand into it cuts it, before the writer gives
     * its lane back. A view that was opened later, and so waited for all lanes (SnapshotState.open), sees every write that did not see the watched
     * range; what it does not see will cut. So if its cursor walks the range and finds no value, the range is dead, for this view and all
     * later ones, until it is cut. Deletes change nothing.
     *
     * What a view sees changes without a write where a range is discarded: views of one number then see what was there, or not. So a view
     * is of one generation, odd while something is discarded; ranges and views of different ones know nothing of each other. A compaction
     * filter drops keys at any time: in a store that has one nothing is watched.
     *
     * A write cuts a range before any view sees it. So a cursor that finds its key within a range that is dead for its view may pass over
     * it, whatever is cut meanwhile: it does not see that.
     *
     * Shared field   read       written    guarded by
     * ranges         volatile   volatile   this monitor, for writing; the array never changes, its ranges are disjoint and ascending
     * generation     volatile   volatile   this monitor, for writing, with which the ranges go
     * Range.isUsed   plain      plain      nothing: a hint
     * discards,
     * lastFull       plain      plain      this monitor
     */
    /** Beyond these nothing more is watched. A write looks through them by halves. */
    static final int RANGES_MAX = 1024;

    /** Ranges with longer bounds are not kept. */
    public static final int KEY_BYTES_MAX = 1024;

    /** In place of the end of a range that has none. */
    public static final byte[] NO_END = new byte[0];

    /** The sequence number of a range that no view may take for watched yet. */
    private static final long NOT_YET = Long.MAX_VALUE;

    private static final Range[] NONE = {};

    /** Keys from {@code from} to before {@code to}; null is no end. */
    private static final class Range {
        private final byte[] from;
        private final byte[] to;
        /** If it is dead, for whom: views of this sequence number on; else the first that may find that it is. */
        private final long since;

        private final boolean isDead;
        /** Whether it was good for anything since {@link #dropUnused}. */
        private boolean isUsed = true;

        Range(byte[] from, byte[] to, long since, boolean isDead) {
            this.from = from;
            this.to = to;
            this.since = since;
            this.isDead = isDead;
        }

        /** A part of it. */
        Range within(byte[] partFrom, byte[] partTo) {
            Range part = new Range(partFrom, partTo, since, isDead);
            part.isUsed = isUsed;
            return part;
        }

        boolean isEmpty() {
            return Keys.isEmpty(from, to);
        }

        /** Whether {@code next} goes on where this one ends, both being dead. */
        boolean goesOnIn(Range next) {
            return to != null && isDead && next.isDead && Arrays.equals(to, next.from);
        }
    }

    /**
     * Who sees what.
     *
     * @param sequence the last sequence number that is seen
     * @param generation {@link #generation} before what is seen was looked up
     */
    public record View(long sequence, long generation) {}

    private final boolean isEnabled;
    private final LongSupplier lastSequence;
    private volatile Range[] ranges = NONE;
    private volatile long generation;
    private int discards;
    /** The memtable of which {@link #memtableFull} was told last. */
    private long lastFull;

    /**
     * @param isEnabled whether keys are deleted by writes alone
     * @param lastSequence the last sequence number that a write has drawn
     */
    public DeadRanges(boolean isEnabled, LongSupplier lastSequence) {
        this.isEnabled = isEnabled;
        this.lastSequence = lastSequence;
    }

    /** Part of a {@link View}, to be asked for before the tree is that it reads. */
    public long generation() {
        return generation;
    }

    /** Notes a write of a value or operand, between drawing its sequence number and giving its lane back. */
    void written(long keyAddress, int keyLength) {
        Range[] now = ranges;
        if (now.length != 0 && find(now, keyAddress, keyLength) >= 0) {
            cut(keyAddress, keyLength);
        }
    }

    private synchronized void cut(long keyAddress, int keyLength) {
        int at = find(ranges, keyAddress, keyLength);
        if (at >= 0) {
            try {
                cut(at, keyAddress, keyLength);
            } catch (Throwable e) {
                ranges = NONE; // no write may fail for this, whatever it is; as a rule a full Java heap
            }
        }
    }

    private void cut(int at, long keyAddress, int keyLength) {
        List<Range> parts = new ArrayList<>(2);
        if (keyLength < KEY_BYTES_MAX && ranges.length < RANGES_MAX) {
            Range range = ranges[at];
            byte[] key = Memory.bytes(keyAddress, keyLength);
            addTo(parts, range.within(range.from, key));
            addTo(parts, range.within(after(key, keyLength), range.to));
        }
        replace(at, at + 1, parts);
    }

    /** Whether there is any range at all; if not, {@link #endOf} and {@link #beginOf} find none. */
    public boolean isEmpty() {
        return ranges.length == 0;
    }

    /** How many there are. */
    public int count() {
        return ranges.length;
    }

    /** Where the dead range ends in which a view has this key; {@link #NO_END} where nothing comes after it, null when there is none. */
    public byte[] endOf(byte[] key, int keyLength, View view) {
        Range range = dead(key, keyLength, view);
        return range == null ? null : range.to == null ? NO_END : range.to;
    }

    /** Where the dead range begins in which a view has this key; null when there is none. */
    public byte[] beginOf(byte[] key, int keyLength, View view) {
        Range range = dead(key, keyLength, view);
        return range == null ? null : range.from;
    }

    private Range dead(byte[] key, int keyLength, View view) {
        Range[] now = ranges;
        int at = find(now, key, keyLength);
        // In this order: ranges of another generation come with it.
        if (at < 0 || !now[at].isDead || now[at].since > view.sequence || generation != view.generation) {
            return null;
        }
        if (!now[at].isUsed) {
            now[at].isUsed = true;
        }
        return now[at];
    }

    /**
     * Notes that a view has no key with a value from {@code from} on to before {@code to}, null being no end. The arrays are the ranges' from
     * now on.
     *
     * @param isWorthIt whether what is not watched is to be from now on
     */
    public void walked(byte[] from, byte[] to, View view, boolean isWorthIt) {
        boolean isKept = from.length <= KEY_BYTES_MAX && (to == null || to.length <= KEY_BYTES_MAX) && !Keys.isEmpty(from, to);
        if (isEnabled && isKept && (isWorthIt || isAnyWatched(ranges, from, to, view.sequence))) {
            add(from, to, view, isWorthIt);
        }
    }

    /** Whether some of the keys are watched, for a view that can tell that they are dead. */
    private static boolean isAnyWatched(Range[] ranges, byte[] from, byte[] to, long view) {
        for (int i = firstBehind(ranges, from); i < ranges.length && Keys.isBefore(ranges[i].from, to); i++) {
            if (!ranges[i].isDead && ranges[i].since <= view) {
                return true;
            }
        }
        return false;
    }

    private synchronized void add(byte[] from, byte[] to, View view, boolean isWorthIt) {
        if (view.generation != generation || generation % 2 != 0) {
            return;
        }
        List<Range> known = new ArrayList<>();
        List<Range> watched = new ArrayList<>();
        Range[] before = ranges;
        int first = firstBehind(before, from);
        int last = first;
        byte[] at = from;
        for (; last < before.length && Keys.isBefore(before[last].from, to); last++) {
            Range range = before[last];
            byte[] begin = Keys.laterFrom(range.from, from);
            byte[] end = Keys.earlierTo(range.to, to);
            addTo(watched, new Range(at, begin, NOT_YET, false));
            at = end;
            if (range.isDead || range.since > view.sequence) {
                known.add(range);
            } else {
                addTo(known, range.within(range.from, begin));
                known.add(new Range(begin, end, view.sequence, true));
                if (end != null) {
                    addTo(known, range.within(end, range.to));
                }
            }
        }
        if (at != null && Keys.isBefore(at, to)) {
            watched.add(new Range(at, to, NOT_YET, false));
        }
        replaceJoined(first, last, known);
        if (ranges.length > RANGES_MAX) {
            dropUnused();
            if (ranges.length > RANGES_MAX) {
                ranges = NONE;
            }
        }
        if (isWorthIt && !watched.isEmpty()) {
            watch(watched);
        }
    }

    /** What a view sees that is opened from now on, and what it does not see, is told apart by the number of the last write. */
    private void watch(List<Range> watched) {
        if (ranges.length + watched.size() > RANGES_MAX) {
            dropUnused();
            return;
        }
        for (Range range : watched) {
            int at = firstBehind(ranges, range.from);
            replace(at, at, List.of(range));
        }
        long since = lastSequence.getAsLong();
        Range[] all = ranges.clone();
        for (int i = 0; i < all.length; i++) {
            if (all[i].since == NOT_YET) {
                all[i] = new Range(all[i].from, all[i].to, since, false);
            }
        }
        ranges = all;
    }

    /** Puts others in place of some ranges, and makes one of neighbours that are dead. */
    private void replaceJoined(int first, int last, List<Range> by) {
        Range[] before = ranges;
        int from = Math.max(0, first - 1);
        int to = Math.min(before.length, last + 1);
        List<Range> joined = new ArrayList<>(by.size() + 2);
        join(joined, before, from, first);
        by.forEach(range -> join(joined, range));
        join(joined, before, last, to);
        replace(from, to, joined);
    }

    private static void join(List<Range> joined, Range[] ranges, int from, int to) {
        for (int i = from; i < to; i++) {
            join(joined, ranges[i]);
        }
    }

    private static void join(List<Range> joined, Range range) {
        Range before = joined.isEmpty() ? null : joined.getLast();
        if (before == null || !before.goesOnIn(range)) {
            joined.add(range);
            return;
        }
        joined.removeLast();
        joined.add(new Range(before.from, range.to, Math.max(before.since, range.since), true));
    }

    private void replace(int first, int last, List<Range> by) {
        Range[] before = ranges;
        Range[] after = new Range[before.length - (last - first) + by.size()];
        System.arraycopy(before, 0, after, 0, first);
        for (int i = 0; i < by.size(); i++) {
            after[first + i] = by.get(i);
        }
        System.arraycopy(before, last, after, first + by.size(), before.length - last);
        ranges = after;
    }

    /**
     * Forgets what has been good for nothing since the memtable before this one was full, so that writes need not look through it. Of one
     * memtable any number of writers may tell.
     */
    synchronized void memtableFull(long number) {
        if (number > lastFull) {
            lastFull = number;
            dropUnused();
        }
    }

    private void dropUnused() {
        List<Range> left = new ArrayList<>();
        for (Range range : ranges) {
            if (range.isUsed) {
                range.isUsed = false;
                left.add(range);
            }
        }
        ranges = left.toArray(NONE);
    }

    /** What views see is about to change without a write; {@link #endDiscard} must follow. */
    public synchronized void beginDiscard() {
        nextGeneration(discards++ == 0);
    }

    /** It has changed, for those who look it up from now on. */
    public synchronized void endDiscard() {
        nextGeneration(--discards == 0);
    }

    private void nextGeneration(boolean isOtherParity) {
        ranges = NONE;
        generation += isOtherParity ? 1 : 2;
    }

    private static void addTo(List<Range> list, Range range) {
        if (!range.isEmpty()) {
            list.add(range);
        }
    }

    /** The least key after another, whatever its array has behind it. */
    public static byte[] after(byte[] key, int keyLength) {
        byte[] after = new byte[keyLength + 1];
        System.arraycopy(key, 0, after, 0, keyLength);
        return after;
    }

    /** The range that a key lies in; less than 0 when there is none. */
    private static int find(Range[] ranges, long keyAddress, int keyLength) {
        int low = 0;
        int high = ranges.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (Memory.compare(keyAddress, keyLength, ranges[middle].from) < 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        byte[] to = low == 0 ? Keys.EMPTY : ranges[low - 1].to;
        return to == null || Memory.compare(keyAddress, keyLength, to) < 0 ? low - 1 : -1;
    }

    private static int find(Range[] ranges, byte[] key, int keyLength) {
        int low = 0;
        int high = ranges.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (compare(key, keyLength, ranges[middle].from) < 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        byte[] to = low == 0 ? Keys.EMPTY : ranges[low - 1].to;
        return to == null || compare(key, keyLength, to) < 0 ? low - 1 : -1;
    }

    /** The first range that ends after a key. */
    private static int firstBehind(Range[] ranges, byte[] key) {
        int low = 0;
        int high = ranges.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (Keys.isBefore(key, ranges[middle].to)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private static int compare(byte[] key, int keyLength, byte[] bound) {
        return Arrays.compareUnsigned(key, 0, keyLength, bound, 0, bound.length);
    }
}
