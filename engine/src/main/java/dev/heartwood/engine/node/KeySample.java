package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Keys of a run at about even distances in bytes: what the trunk knows of how a run's data spreads over the keys, without reading
 * a page. Immutable.
 *
 * @param keys sampled keys in order, each cut behind where it differs from the one before
 * @param positions bytes of entries up to and with each sampled one
 * @param first the least key
 * @param last the greatest key
 * @param bytes all bytes of the run's entries
 */
public record KeySample(List<byte[]> keys, long[] positions, byte[] first, byte[] last, long bytes) {
    /** Longer keys are cut: a cut key sorts at or before the key, and may lie in another span. */
    static final int KEY_BYTES_MIN = 48;

    /** What is kept of a key behind the prefix it shares with the sample before, so that leaves can part between the two. */
    private static final int DISTINCT_BYTES = 16;

    /** No longer prefix is looked behind; a store whose keys share one has leaves as large as it takes. */
    static final int KEY_BYTES_MAX = 1024;

    private static final int SAMPLES_MAX = 128;

    /** Whether some key of the run may lie in {@code span}. */
    public boolean touches(Span span) {
        return !span.isEmpty()
                && (span.to() == null || Keys.compare(first, span.to()) < 0)
                && (span.from() == null || Keys.compare(last, span.from()) >= 0);
    }

    /** Where keys of the run may lie in a span that it touches. */
    Span extent(Span span) {
        boolean isBefore = span.from() == null || Keys.compare(span.from(), first) <= 0;
        boolean isBehind = span.to() == null || Keys.compare(last, span.to()) < 0;
        return new Span(isBefore ? first : span.from(), isBehind ? Arrays.copyOf(last, last.length + 1) : span.to());
    }

    /** Whether every key of the run lies in {@code span}. */
    public boolean within(Span span) {
        return span.contains(first) && span.contains(last);
    }

    /** Whether some key may lie in both runs. */
    boolean overlaps(KeySample other) {
        return Keys.compare(first, other.last) <= 0 && Keys.compare(other.first, last) <= 0;
    }

    /**
     * Estimated bytes of the run's entries in {@code span}; at least 1 where some may be, 0 where none is. Spans that have all keys of the run
     * have all of its bytes together, or more, so that nothing seems to be left of what was written for them alone.
     */
    public long bytesWithin(Span span) {
        if (!touches(span)) {
            return 0;
        }
        if (within(span)) {
            return Math.max(1, bytes);
        }
        long from = span.from() == null ? 0 : positionBefore(countSurelyBefore(span.from()));
        boolean isBehind = span.to() == null || Keys.compare(span.to(), last) > 0;
        long to = isBehind ? bytes : positionBefore(countBefore(span.to()));
        return Math.max(1, to - from);
    }

    /** Bytes of entries up to and with so many sampled ones. */
    private long positionBefore(int sampled) {
        return sampled == 0 ? 0 : positions[sampled - 1];
    }

    /** How many sampled keys sort before a key, whatever was cut of them. */
    private int countSurelyBefore(byte[] key) {
        int before = countBefore(key);
        while (before > 0 && mayBeCutFrom(keys.get(before - 1), key)) {
            before--;
        }
        return before;
    }

    private static boolean mayBeCutFrom(byte[] sampled, byte[] key) {
        return sampled.length >= KEY_BYTES_MIN
                && sampled.length < key.length
                && Arrays.equals(sampled, 0, sampled.length, key, 0, sampled.length);
    }

    /** Bytes of entries from the sampled key before up to the one at {@code index}. */
    public long weight(int index) {
        return index == 0 ? positions[0] : positions[index] - positions[index - 1];
    }

    private int countBefore(byte[] key) {
        int low = 0;
        int high = keys.size();
        while (low < high) {
            int middle = low + high >>> 1;
            if (Keys.compare(keys.get(middle), key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Collects a sample while a run is written; not thread-safe. */
    public static final class Builder {
        private List<byte[]> keys = new ArrayList<>();
        private long[] positions = new long[SAMPLES_MAX];
        private long stride = 4096;
        private long bytes;
        private long next = stride / 2;
        private byte[] first;
        private byte[] last = Keys.EMPTY;
        private byte[] previous;

        /** Notes an entry, in key order. */
        public void add(long keyAddress, int keyLength, long entryBytes) {
            if (first == null) {
                first = Memory.bytes(keyAddress, keyLength);
                previous = first;
            }
            bytes += entryBytes;
            if (bytes >= next) {
                positions[keys.size()] = bytes;
                previous = cut(Memory.bytes(keyAddress, Math.min(keyLength, KEY_BYTES_MAX)));
                keys.add(previous);
                if (keys.size() == SAMPLES_MAX) {
                    thin();
                }
                next = bytes + stride;
            }
        }

        private byte[] cut(byte[] key) {
            int differs = Arrays.mismatch(previous, key);
            int length = Math.max(KEY_BYTES_MIN, (differs < 0 ? key.length : differs) + DISTINCT_BYTES);
            return length < key.length ? Arrays.copyOf(key, length) : key;
        }

        private void thin() {
            List<byte[]> half = new ArrayList<>(SAMPLES_MAX);
            for (int i = 1; i < keys.size(); i += 2) {
                positions[half.size()] = positions[i];
                half.add(keys.get(i));
            }
            keys = half;
            stride *= 2;
        }

        /** The sample of everything added, of which {@code lastKey} was the greatest. */
        public KeySample finish(byte[] lastKey) {
            last = lastKey;
            return new KeySample(
                    List.copyOf(keys),
                    Arrays.copyOf(positions, keys.size()),
                    first == null ? Keys.EMPTY : first,
                    last,
                    bytes);
        }
    }
}
