package dev.heartwood.engine.filter;

import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds a maplet in bulk from fresh fingerprints and from existing maplets. Used once, by one thread. The sources stay the
 * caller's and must not change or be released before {@link #build} returns.
 */
public final class MapletBuilder {
    /*
     * Fresh fingerprints are sorted in EntryBuckets; existing maplets are in order already and are only read. MapletPages writes
     * the merged entries in the shape that MapletPlan expects to do; the first few of them tell how many keys are in several runs. Rarely
     * a page overflows; then they are written again, to a few pages more, and to as many as MapletFit counts when that does not do
     * either. Native memory: 8 bytes a fresh entry, beside the buffer it comes from, a small buffer for each maplet that is read, and an
     * extent.
     */

    /** Entries that a maplet can have at most. */
    public static final long ENTRIES_MAX = 1L << 28;

    private static final int MAPLETS_FEW = 6;
    private static final int SAMPLE_FINGERPRINTS = 2048;

    private record Fresh(FingerprintBuffer fingerprints, int value) {}

    private record Existing(Maplet maplet, int[] newValues) {}

    private final MapletStorage storage;
    private final long mapletId;
    private final WriteMode writeMode;
    private final long limit;
    private final List<Fresh> fresh = new ArrayList<>();
    private final List<Existing> existing = new ArrayList<>();
    /** Entries of the maplet that this one is a piece of; 0 when it is none. */
    private long wholeEntries;

    /**
     * A builder without sources.
     *
     * @param mapletId the maplet's id, unique in the store, and its pages' generation
     */
    public MapletBuilder(MapletStorage storage, long mapletId, WriteMode writeMode) {
        this(storage, mapletId, writeMode, ENTRIES_MAX);
    }

    /** As the other one, of a maplet that may have {@code limit} entries, {@link #ENTRIES_MAX} at most. */
    public MapletBuilder(MapletStorage storage, long mapletId, WriteMode writeMode, long limit) {
        this.limit = limit;
        this.storage = storage;
        this.mapletId = mapletId;
        this.writeMode = writeMode;
    }

    /** Adds every fingerprint of a buffer with one value, 0..63. */
    public MapletBuilder add(FingerprintBuffer fingerprints, int value) {
        requireValue(value);
        fresh.add(new Fresh(fingerprints, value));
        return this;
    }

    /**
     * Adds the entries of a maplet with new values.
     *
     * @param newValues the new value of each old one, or -1 to drop its entries
     */
    public MapletBuilder add(Maplet maplet, int[] newValues) {
        for (long rest = maplet.values(); rest != 0; rest &= rest - 1) {
            int value = Long.numberOfTrailingZeros(rest);
            if (value >= newValues.length || newValues[value] < -1) {
                throw new IllegalArgumentException("no new value for value " + value);
            }
            if (newValues[value] >= 0) {
                requireValue(newValues[value]);
            }
        }
        existing.add(new Existing(maplet, newValues.clone()));
        return this;
    }

    /**
     * Says that this maplet is a piece of one of so many entries, which will be built of it: its fingerprints are then as long as those of
     * that one can be, and take more space than it would need.
     */
    public MapletBuilder pieceOf(long entries) {
        wholeEntries = entries;
        return this;
    }

    /** The entries of all sources together, an upper bound of those of the maplet. */
    public long entriesMax() {
        long sum = freshCount();
        for (Existing source : existing) {
            for (int value = 0; value < source.newValues.length; value++) {
                sum += source.newValues[value] >= 0 ? source.maplet.entries(value) : 0;
            }
        }
        return sum;
    }

    /** Whether a maplet may have as many. */
    public boolean fits() {
        return entriesMax() <= limit;
    }

    private long freshCount() {
        long sum = 0;
        for (Fresh source : fresh) {
            sum += source.fingerprints.count();
        }
        return sum;
    }

    /**
     * The new values, as a bitmap, whose fingerprints in existing maplets are too short for a maplet of this size: by more than a bit,
     * which gives twice as many false positives. The caller should drop them from those maplets and add fresh fingerprints of their keys
     * instead. A maplet built regardless is correct but has too many false positives.
     */
    public long needsRefresh() {
        long entries = entriesMax();
        long values = 0;
        for (Existing source : existing) {
            if (needsRefresh(source.maplet, entries)) {
                values |= newValues(source);
            }
        }
        return values;
    }

    /** Whether the fingerprints of a maplet are too short for one of {@code entries}, as {@link #needsRefresh()} says of values. */
    public static boolean needsRefresh(Maplet maplet, long entries) {
        return maplet.fingerprintBits() < MapletPlan.fingerprintBitsKept(entries);
    }

    /**
     * The memory of a pool that building a maplet takes, about, in bytes.
     *
     * @param fresh entries whose fingerprints come from buffers, which are not counted here
     * @param existing maplets whose entries are taken over
     */
    public static long memoryBytes(long fresh, int existing) {
        long readers = (long) existing * chunkPages(existing) * PageLayout.PAGE_BYTES;
        return fresh * Long.BYTES + readers + EntryMerge.memoryBytes(existing + 1) + PageLayout.EXTENT_BYTES;
    }

    /**
     * Builds the maplet and hands its pages to the file. On failure nothing is left behind.
     *
     * @throws dev.heartwood.InsufficientMemoryException when the pool is exhausted
     * @throws dev.heartwood.NoSpaceException when there is no extent for it
     * @throws dev.heartwood.CorruptionException when a source is damaged
     */
    public Maplet build() {
        long expected = entriesMax();
        if (!fits()) {
            throw new IllegalArgumentException("a maplet of " + expected + " entries");
        }
        if (expected == 0) {
            return Maplet.empty(mapletId);
        }
        long freshMax = freshCount();
        try (EntryBuckets buckets = new EntryBuckets(storage.pool(), freshMax)) {
            for (Fresh source : fresh) {
                source.fingerprints.addTo(buckets, source.value);
            }
            int bitsMax = sourceBits();
            MapletPlan upper = new MapletPlan(expected, valueBits(), pieceBits(), bitsMax);
            // One bit more than the upper bound asks for: more pages than planned may allow it.
            int sortBits = Math.max(Math.min(upper.shape(1).fingerprintBits + 1, bitsMax), buckets.bucketBits());
            long entries = expected - freshMax + buckets.sort(sortBits);
            MapletPlan even = new MapletPlan(entries, valueBits(), pieceBits(), Math.min(sortBits, bitsMax));
            MapletPlan plan = even.crowded(crowding(buckets, even.shape(1).fingerprintBits));
            for (MapletShape guess : plan.guesses()) {
                Maplet maplet = write(buckets, guess);
                if (maplet != null) {
                    return maplet;
                }
            }
            return write(buckets, new MapletFit(bits -> open(buckets, bits), plan).shape());
        }
    }

    /** How many entries an entry meets at its fingerprint, itself included, as the first ones tell. */
    private double crowding(EntryBuckets buckets, int bits) {
        if (Long.bitCount(values()) < 2) {
            return 1;
        }
        try (EntryMerge sample = open(buckets, bits)) {
            long entries = 0;
            long met = 0;
            for (int i = 0; i < SAMPLE_FINGERPRINTS && sample.next(); i++) {
                long same = Long.bitCount(sample.values());
                entries += same;
                met += same * same;
            }
            return entries == 0 ? 1 : (double) met / entries;
        }
    }

    /** The maplet in a shape; null when a page has not enough room in it. */
    private Maplet write(EntryBuckets buckets, MapletShape shape) {
        try (MapletPages pages = new MapletPages(storage, mapletId, writeMode, shape);
                EntryMerge entries = open(buckets, shape.fingerprintBits)) {
            return pages.write(entries);
        }
    }

    /** All entries, from the first on, with fingerprints of {@code bits} bits. */
    private EntryMerge open(EntryBuckets buckets, int bits) {
        // Never grows: on a full Java heap what could not be added would not be closed.
        List<EntrySource> sources = new ArrayList<>(existing.size() + 1);
        try {
            if (!fresh.isEmpty()) {
                sources.add(buckets.cursor(bits));
            }
            for (Existing source : existing) {
                if (newValues(source) != 0) {
                    Maplet maplet = source.maplet;
                    int chunkPages = chunkPages(existing.size());
                    MapletCursor cursor =
                            new MapletCursor(storage.file(), maplet, storage.pool(), maplet.pages(), chunkPages);
                    sources.add(remapped(cursor, source, bits));
                }
            }
            return new EntryMerge(storage.pool(), sources);
        } catch (RuntimeException | Error e) {
            sources.forEach(EntrySource::close);
            throw e;
        }
    }

    /** Pages to read at once of each of so many maplets: half an extent, or less of many. */
    public static int chunkPages(int maplets) {
        return maplets <= MAPLETS_FEW ? PageLayout.EXTENT_PAGES / 2 : PageLayout.EXTENT_PAGES / 8;
    }

    private static RemappedMaplet remapped(MapletCursor cursor, Existing source, int bits) {
        try {
            return new RemappedMaplet(cursor, source.newValues, source.maplet.fingerprintBits() - bits);
        } catch (RuntimeException | Error e) {
            cursor.close();
            throw e;
        }
    }

    /** The longest fingerprints that all sources have. */
    private int sourceBits() {
        int bits = FilterLayout.FINGERPRINT_BITS_MAX;
        for (Existing source : existing) {
            if (newValues(source) != 0) {
                bits = Math.min(bits, source.maplet.fingerprintBits());
            }
        }
        return bits;
    }

    /** What the fingerprints of a piece have at least: those of the whole, or one more, which more pages than planned may allow. */
    private int pieceBits() {
        return wholeEntries == 0
                ? 0
                : new MapletPlan(wholeEntries, 0, 0, FilterLayout.FINGERPRINT_BITS_MAX).shape(1).fingerprintBits + 1;
    }

    private int valueBits() {
        int valueMax = Long.SIZE - 1 - Long.numberOfLeadingZeros(values() | 1);
        return Integer.SIZE - Integer.numberOfLeadingZeros(valueMax);
    }

    /** The values that occur in the new maplet, as a bitmap. */
    private long values() {
        long values = 0;
        for (Fresh source : fresh) {
            values |= 1L << source.value;
        }
        for (Existing source : existing) {
            values |= newValues(source);
        }
        return values;
    }

    /** The new values of a source that occur, as a bitmap. */
    private static long newValues(Existing source) {
        long values = 0;
        for (long rest = source.maplet.values(); rest != 0; rest &= rest - 1) {
            int value = source.newValues[Long.numberOfTrailingZeros(rest)];
            values |= value < 0 ? 0 : 1L << value;
        }
        return values;
    }

    private static void requireValue(int value) {
        if (value < 0 || value >= Long.SIZE) {
            throw new IllegalArgumentException("value " + value + " is not in 0..63");
        }
    }
}
