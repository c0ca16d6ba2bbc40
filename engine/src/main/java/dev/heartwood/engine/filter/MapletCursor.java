package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/**
 * Walks all entries of a maplet in ascending order of fingerprint and value, an extent at a time and past the page cache, and
 * checks every page as it goes. The maplet must stay retained. For one thread.
 */
public final class MapletCursor implements AutoCloseable {
    private static final int CHUNK_PAGES = PageLayout.EXTENT_PAGES / 2;

    private final CachedFile file;
    private final Maplet maplet;
    private final MemoryPool pool;
    private final FilterPageReader reader;
    private final int pages;
    private final int chunkPages;
    private final long bufferBytes;
    private long buffer;
    /** The page being read. */
    private int page = -1;

    /** A cursor before the first entry; takes a buffer of half an extent at most from {@code pool}. */
    public MapletCursor(CachedFile file, Maplet maplet, MemoryPool pool) {
        this(file, maplet, pool, maplet.pages(), CHUNK_PAGES);
    }

    /**
     * As {@link #MapletCursor(CachedFile, Maplet, MemoryPool)}, over the first {@code pages} pages alone, which are all that is read; {@code
     * chunkPages} at once, a power of two.
     */
    MapletCursor(CachedFile file, Maplet maplet, MemoryPool pool, int pages, int chunkPages) {
        this.pages = pages;
        this.chunkPages = chunkPages;
        this.file = file;
        this.maplet = maplet;
        this.pool = pool;
        this.bufferBytes = (long) Math.min(pages, chunkPages) * PageLayout.PAGE_BYTES;
        this.reader = maplet.pages() == 0 ? null : new FilterPageReader(maplet.shape(), file);
        if (bufferBytes > 0) {
            buffer = pool.allocate(bufferBytes);
            if (buffer == 0) {
                throw new InsufficientMemoryException(
                        "the memory budget has no room for " + bufferBytes + " bytes to read a maplet");
            }
        }
    }

    /**
     * Goes to the next entry; false behind the last.
     *
     * @throws dev.heartwood.CorruptionException when a page is damaged
     */
    public boolean next() {
        while (page < 0 || page < pages && !reader.next()) {
            if (page < pages && ++page < pages) {
                beginPage();
            }
        }
        return page < pages;
    }

    /** The fingerprint, of {@link Maplet#fingerprintBits()} bits. */
    public long fingerprint() {
        return reader.fingerprint();
    }

    /** The value, 0..63. */
    public int value() {
        return reader.value();
    }

    @Override
    public void close() {
        if (buffer != 0) {
            pool.free(buffer, bufferBytes);
            buffer = 0;
        }
    }

    private void beginPage() {
        int inChunk = page & chunkPages - 1;
        if (inChunk == 0) {
            int count = Math.min(chunkPages, pages - page);
            file.readExtent(maplet.devicePage(page), count, buffer, PageType.FILTER, maplet.id());
        }
        reader.begin(buffer + (long) inChunk * PageLayout.PAGE_BYTES, page);
    }
}
