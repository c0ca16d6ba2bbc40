package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;

/**
 * The entries of a maplet for the keys whose hash begins with some zero bits: a sample of its keys by the least hashes (k minimum
 * values). As every maplet orders its entries by hash, it stands on the first pages; and as all use one hash, slices with as many zero bits
 * are samples of the same keys. Immutable.
 */
public final class MapletSlice {
    /** Of a hash, behind the zero bits, this many are kept. */
    private static final int KEPT_BITS = Integer.SIZE;

    private static final int CHUNK_PAGES_MAX = 16;
    private static final int READ_ENTRIES = 512;
    private static final long READ_BYTES = READ_ENTRIES * Entry.BYTES;
    private static final int[] NO_HASHES = new int[0];

    /** A slice without entries, of a maplet that cannot be read. */
    public static final MapletSlice NONE = new MapletSlice(new int[0][], KEPT_BITS, 0);

    private final int[][] fingerprints;
    private final int bits;
    private final int pages;

    private MapletSlice(int[][] fingerprints, int bits, int pages) {
        this.fingerprints = fingerprints;
        this.bits = bits;
        this.pages = pages;
    }

    /**
     * Reads the slice, past the cache where it is not in it; takes a buffer of a few pages from {@code pool}. The maplet must stay
     * retained.
     *
     * @throws dev.heartwood.CorruptionException when a page is damaged
     * @throws dev.heartwood.InsufficientMemoryException when there is no buffer
     */
    public static MapletSlice read(CachedFile file, Maplet maplet, MemoryPool pool, int zeroBits) {
        if (maplet.pages() == 0) {
            return NONE;
        }
        int behind = Math.max(0, maplet.fingerprintBits() - zeroBits);
        int pages = maplet.shape().page((1L << behind) - 1) + 1;
        int[][] found = new int[maplet.valueCount()][];
        int[] counts = new int[maplet.valueCount()];
        int chunkPages = Math.min(CHUNK_PAGES_MAX, ceilingPowerOfTwo(pages));
        long buffer = pool.allocate(READ_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("the memory budget has no room for a slice of a maplet");
        }
        try (MapletCursor cursor = new MapletCursor(file, maplet, pool, pages, chunkPages)) {
            int count;
            do {
                count = cursor.read(buffer, READ_ENTRIES);
            } while (count > 0 && addAll(buffer, count, behind, found, counts));
        } finally {
            pool.free(buffer, READ_BYTES);
        }
        for (int value = 0; value < found.length; value++) {
            found[value] = found[value] == null ? new int[0] : Arrays.copyOf(found[value], counts[value]);
        }
        return new MapletSlice(found, Math.min(KEPT_BITS, behind), pages);
    }

    /** Adds entries until one has a hash that does not begin with the zero bits; whether none had. */
    private static boolean addAll(long buffer, int count, int behind, int[][] found, int[] counts) {
        for (int i = 0; i < count; i++) {
            long entry = Memory.getLong(buffer + (long) i * Entry.BYTES);
            long fingerprint = Entry.fingerprint(entry);
            if (fingerprint >>> behind != 0) {
                return false;
            }
            // Others have no run; lookups leave them out too.
            if (Entry.value(entry) < found.length) {
                add(Entry.value(entry), keptBits(fingerprint, behind), found, counts);
            }
        }
        return true;
    }

    private static void add(int value, int hash, int[][] found, int[] counts) {
        int[] entries = found[value];
        if (entries == null || counts[value] == entries.length) {
            entries = entries == null ? new int[16] : Arrays.copyOf(entries, 2 * entries.length);
            found[value] = entries;
        }
        entries[counts[value]++] = hash;
    }

    private static int ceilingPowerOfTwo(int number) {
        return number == 1 ? 1 : Integer.highestOneBit(number - 1) << 1;
    }

    /** The first of {@code length} bits, at the top. */
    private static int keptBits(long fingerprint, int length) {
        return (int) (length >= KEPT_BITS ? fingerprint >>> length - KEPT_BITS : fingerprint << KEPT_BITS - length);
    }

    /**
     * The hashes recorded for one value, ascending as unsigned numbers, without the zero bits they begin with; of them the first {@link
     * #bits} count. Not to be changed.
     */
    public int[] of(int value) {
        return value < fingerprints.length ? fingerprints[value] : NO_HASHES;
    }

    /** How many bits of each hash, behind the zeros, the maplet has; 32 at most. */
    public int bits() {
        return bits;
    }

    /** Pages that were read. */
    public int pages() {
        return pages;
    }
}
