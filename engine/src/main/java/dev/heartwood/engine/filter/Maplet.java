package dev.heartwood.engine.filter;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.extent.ExtentReleaser;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A filter that maps a key's hash to the values, 0..63, under which the key was recorded: the ordinals of the branches that may
 * hold it. Never misses one; names one too many with a probability of {@link #entries()} / 2^{@link #fingerprintBits()}.
 *
 * <p>This is the descriptor; the pages are in the store's file. Immutable and thread-safe, but for its reference count.
 */
public final class Maplet {
    private final long id;
    private final int[] extents;
    private final MapletShape shape;
    private final int[] valueEntries;
    private final long entries;
    private final long duplicateEntries;
    private final long valueSet;
    private final Runnable releasing;
    private final AtomicInteger references = new AtomicInteger(1);

    /** With a null shape for a maplet without entries. */
    Maplet(
            long id,
            int[] extents,
            MapletShape shape,
            int[] valueEntries,
            long duplicateEntries,
            ExtentReleaser releaser) {
        this.id = id;
        this.extents = extents;
        this.shape = shape;
        this.valueEntries = valueEntries;
        this.duplicateEntries = duplicateEntries;
        this.releasing = releaser.releasing(extents);
        long sum = 0;
        long set = 0;
        for (int value = 0; value < valueEntries.length; value++) {
            sum += valueEntries[value];
            set |= valueEntries[value] > 0 ? 1L << value : 0;
        }
        this.entries = sum;
        this.valueSet = set;
    }

    /** A maplet without entries, that has no pages. */
    public static Maplet empty(long id) {
        return new Maplet(id, new int[0], null, new int[0], 0, none -> () -> {});
    }

    /**
     * The values recorded for a hash, as a bitmap, maybe with false ones; 0 when the key is in none. To be called inside an epoch;
     * touches at most one page.
     *
     * @throws dev.heartwood.CorruptionException when the page is damaged
     */
    public long lookup(CachedFile file, long hash) {
        MapletShape s = shape;
        if (s == null) {
            return 0;
        }
        long fingerprint = s.fingerprint(hash);
        long page = file.page(devicePage(s.page(fingerprint)), PageType.FILTER, id);
        return FilterPage.lookup(page, s, file, s.place(fingerprint)) & valueSet;
    }

    /**
     * As {@link #lookup} when the caller has the page already, for example because it asked for several at once.
     *
     * @param pageAddress the page numbered {@link #pageNumberOf} the hash, valid in the caller's epoch
     */
    public long lookupInPage(CachedFile file, long pageAddress, long hash) {
        MapletShape s = shape;
        return FilterPage.lookup(pageAddress, s, file, s.place(s.fingerprint(hash))) & valueSet;
    }

    /** The number in the file of the page that {@link #lookup} reads for a hash; -1 when it reads none. */
    public long pageNumberOf(long hash) {
        MapletShape s = shape;
        return s == null ? -1 : devicePage(s.page(s.fingerprint(hash)));
    }

    /** Unique in the store; the generation of the maplet's pages. */
    public long id() {
        return id;
    }

    /** Pairs of a fingerprint and a value. */
    public long entries() {
        return entries;
    }

    /** The entries of one value. */
    public long entries(int value) {
        return value < valueEntries.length ? valueEntries[value] : 0;
    }

    /** The values that occur, as a bitmap. */
    public long values() {
        return valueSet;
    }

    /**
     * The entries that would go if each fingerprint kept one of its values: about how many entries of the branches are
     * superseded by others.
     */
    public long duplicateEntries() {
        return duplicateEntries;
    }

    /** About how many different keys there are, counted as different fingerprints. */
    public long distinctKeys() {
        return entries - duplicateEntries;
    }

    /** The length of a fingerprint in bits; 0 without entries. */
    public int fingerprintBits() {
        return shape == null ? 0 : shape.fingerprintBits;
    }

    /** The space taken in the file, in whole pages. */
    public long bytes() {
        return (long) pages() * PageLayout.PAGE_BYTES;
    }

    /** The number of pages. */
    public int pages() {
        return shape == null ? 0 : shape.pages;
    }

    /** The number of extents, of which the last may have pages that are not used. */
    public int extentCount() {
        return extents.length;
    }

    /** One of the extents. */
    public int extent(int index) {
        return extents[index];
    }

    /** The number in the file of a page of this maplet. */
    long devicePage(int page) {
        return ((long) extents[page >>> PageLayout.EXTENT_SHIFT] << PageLayout.EXTENT_SHIFT)
                + (page & PageLayout.EXTENT_PAGES - 1);
    }

    MapletShape shape() {
        return shape;
    }

    int valueCount() {
        return valueEntries.length;
    }

    /** Takes another reference; one must be held. */
    public void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "maplet " + id + " was released";
    }

    /** Gives a reference back; the last one hands the extents to the releaser. */
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "maplet " + id + " was released before";
        if (left == 0) {
            releasing.run();
        }
    }

    /** The bytes that {@link #encode} writes. */
    public int encodedBytes() {
        return MapletCodec.bytes(this);
    }

    /** Writes the descriptor for the image of a trunk node. */
    public void encode(ByteBuffer image) {
        MapletCodec.encode(this, image);
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @param file the file and {@code page} the page that the image came from, for errors
     * @param releaser is given the extents at the last {@link #release}
     * @throws dev.heartwood.CorruptionException when it is no descriptor
     */
    public static Maplet decode(ByteBuffer image, String file, long page, ExtentReleaser releaser) {
        return MapletCodec.decode(image, file, page, releaser);
    }

    @Override
    public String toString() {
        return "maplet " + id + ": " + entries + " entries, " + duplicateEntries + " duplicate, " + fingerprintBits()
                + " bits, " + pages() + " pages in extents " + Arrays.toString(extents);
    }
}
