package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How the heads of a view's keys are made: unsigned numbers that never order against the keys, and tell most of them apart. A few
 * prefixes are known that most keys have. The leading bits of a head say which of them a key has, or between which it lies; of a
 * key that has one, the other bits are its next bytes behind that, zeros behind its end. Immutable; refers to records, whose
 * memory must stay.
 */
final class KeyHeads {
    /*
     * With n prefixes, in ascending order, there are 2n+1 places: the odd ones 2i+1 are those of the keys with prefix i and none
     * before it, the even ones 2i those of keys before it and behind the one before. The place takes as many bits as the last one
     * needs. A single empty prefix needs no place: every key has it.
     */
    static final KeyHeads WHOLE = new KeyHeads(List.of(new Prefix(0, 0)));

    /** A head always shows this many bytes behind a prefix. */
    private static final int SHOWN_BYTES_LEAST = 7;

    /** A prefix is worth a place when one in so many keys has it; so there are as many prefixes at most. */
    private static final int SHARE_LEAST = 8;

    private final Prefix[] prefixes;
    private final int placeBits;

    /** The first {@code length} bytes at an address. */
    private static final class Prefix {
        final long address;
        final int length;
        // The last eight bytes as a number; of a shorter prefix all, with zeros behind and the mask of where they are.
        final int lastOffset;
        final long lastWord;
        final long lastMask;

        Prefix(long address, int length) {
            this.address = address;
            this.length = length;
            this.lastOffset = Math.max(0, length - Long.BYTES);
            this.lastWord = length == 0 ? 0 : Records.headOfKey(address, length, lastOffset);
            this.lastMask = length == 0 ? 0 : -1L << Math.max(0, Long.SIZE - Byte.SIZE * length);
        }

        static Prefix of(long record, int length) {
            return new Prefix(record + Records.keyOffset(Records.meta(record)), length);
        }

        /** Below 0 when a key lies before all that have the prefix, above 0 when behind them, 0 when it has it. */
        int compare(long keyAddress, int keyLength) {
            // Apart from the rest, so that what packing does for most records stays small.
            return lastOffset == 0 && keyLength >= Long.BYTES
                    ? Long.compareUnsigned(Memory.getLongBigEndian(keyAddress) & lastMask, lastWord)
                    : compareLong(keyAddress, keyLength);
        }

        private int compareLong(long keyAddress, int keyLength) {
            if (keyLength < Math.max(length, Long.BYTES)) {
                return Memory.compare(keyAddress, Math.min(keyLength, length), address, length);
            }
            for (int i = 0; i < lastOffset; i += Long.BYTES) {
                int order =
                        Long.compareUnsigned(Memory.getLongBigEndian(keyAddress + i), Memory.getLongBigEndian(address + i));
                if (order != 0) {
                    return order;
                }
            }
            return Long.compareUnsigned(Memory.getLongBigEndian(keyAddress + lastOffset) & lastMask, lastWord);
        }

        boolean isSame(Prefix other) {
            return length == other.length && Memory.commonPrefix(address, other.address, length) == length;
        }
    }

    private KeyHeads(List<Prefix> prefixes) {
        this.prefixes = prefixes.toArray(Prefix[]::new);
        boolean isWhole = this.prefixes.length == 1 && this.prefixes[0].length == 0;
        this.placeBits = isWhole ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(2 * this.prefixes.length);
    }

    /** Heads behind the first {@code length} bytes of one record's key. */
    static KeyHeads behind(long record, int length) {
        return new KeyHeads(List.of(Prefix.of(record, length)));
    }

    /** Heads that suit keys of which the first {@code count} of {@code sample}, which are put in order, are some. */
    static KeyHeads choose(long[] sample, int count) {
        if (count < 2) {
            return WHOLE;
        }
        sortByKey(sample, count);
        // What each record's key shares with that of the one before.
        int[] shared = new int[count];
        for (int i = 1; i < count; i++) {
            shared[i] = RunSorter.sharedBytes(
                    sample[i - 1], sample[i], 0, Records.keyLength(Records.meta(sample[i - 1])));
        }
        List<Prefix> chosen = new ArrayList<>();
        choose(sample, shared, 0, count, Math.max(2, count / SHARE_LEAST), chosen);
        return new KeyHeads(chosen);
    }

    /**
     * Chooses prefixes for a part of a sorted sample: what all have in common, or, when heads behind that tie for one pair in four,
     * those of the parts that differ right behind it. Parts of fewer than {@code countLeast} get none.
     */
    private static void choose(long[] sample, int[] shared, int from, int to, int countLeast, List<Prefix> chosen) {
        int common = Integer.MAX_VALUE;
        for (int i = from + 1; i < to; i++) {
            common = Math.min(common, shared[i]);
        }
        int ties = 0;
        for (int i = from + 1; i < to; i++) {
            ties += shared[i] >= common + SHOWN_BYTES_LEAST ? 1 : 0;
        }
        if (4 * ties > to - from - 1) {
            int chosenBefore = chosen.size();
            int covered = 0;
            for (int begin = from, end; begin < to; begin = end) {
                end = begin + 1;
                while (end < to && shared[end] > common) {
                    end++;
                }
                if (end - begin >= countLeast) {
                    choose(sample, shared, begin, end, countLeast, chosen);
                    covered += end - begin;
                }
            }
            if (2 * covered > to - from) {
                return;
            }
            chosen.subList(chosenBefore, chosen.size()).clear();
        }
        chosen.add(Prefix.of(sample[from], common));
    }

    private static void sortByKey(long[] records, int count) {
        for (int i = 1; i < count; i++) {
            long record = records[i];
            int j = i;
            while (j > 0 && Records.compareKeys(records[j - 1], record, 0) > 0) {
                records[j] = records[j - 1];
                j--;
            }
            records[j] = record;
        }
    }

    boolean isSame(KeyHeads other) {
        if (prefixes.length != other.prefixes.length) {
            return false;
        }
        for (int i = 0; i < prefixes.length; i++) {
            if (!prefixes[i].isSame(other.prefixes[i])) {
                return false;
            }
        }
        return true;
    }

    /** The lengths of the prefixes, in their order. */
    int[] prefixLengths() {
        return Arrays.stream(prefixes).mapToInt(prefix -> prefix.length).toArray();
    }

    /** The head of a record's key. */
    long head(long record) {
        long meta = Records.meta(record);
        int place = place(record + Records.keyOffset(meta), Records.keyLength(meta));
        long bytes = hasPrefix(place) ? Records.head(record, prefixes[place >>> 1].length) : 0;
        return headOf(place, bytes);
    }

    /** As {@link #head} of a key that need not be part of a record. */
    long headOfKey(long keyAddress, int keyLength) {
        int place = place(keyAddress, keyLength);
        long bytes = hasPrefix(place) ? Records.headOfKey(keyAddress, keyLength, prefixes[place >>> 1].length) : 0;
        return headOf(place, bytes);
    }

    private long headOf(int place, long bytes) {
        return placeBits == 0 ? bytes : (long) place << Long.SIZE - placeBits | bytes >>> placeBits;
    }

    private int place(long keyAddress, int keyLength) {
        for (int i = 0; i < prefixes.length; i++) {
            int order = prefixes[i].compare(keyAddress, keyLength);
            if (order <= 0) {
                return order == 0 ? 2 * i + 1 : 2 * i;
            }
        }
        return 2 * prefixes.length;
    }

    private static boolean hasPrefix(int place) {
        return (place & 1) != 0;
    }

    /** How many leading bytes keys with this head are sure to share. */
    int sharedBytes(long head) {
        if (placeBits == 0) {
            return 0;
        }
        int place = (int) (head >>> Long.SIZE - placeBits);
        return hasPrefix(place) ? prefixes[place >>> 1].length : 0;
    }

    /** How many prefixes there are that heads may lie behind. */
    int prefixCount() {
        return prefixes.length;
    }

    /** The least head of a key that has a prefix. */
    long firstHead(int prefix) {
        return headOf(2 * prefix + 1, 0);
    }

    /** The greatest head of a key that has a prefix. */
    long lastHead(int prefix) {
        return headOf(2 * prefix + 1, -1L);
    }
}
