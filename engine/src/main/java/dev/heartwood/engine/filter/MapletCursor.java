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
final class MapletCursor implements AutoCloseable {
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
    MapletCursor(CachedFile file, Maplet maplet, MemoryPool pool) {
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
     * Stores the next entries at an address, in the form of {@link Entry}: those of whole blocks, while there is room for the largest.
     *
     * @param room entries that there is room for, at least {@link FilterPageReader#BLOCK_ENTRIES_MAX}
     * @return how many; 0 behind the last
     * @throws dev.heartwood.CorruptionException when a page is damaged
     */
    int read(long to, int room) {
        int count = 0;
        while (page < pages && room - count >= FilterPageReader.BLOCK_ENTRIES_MAX) {
            int found = page < 0 ? -1 : reader.readBlock(to + (long) count * Entry.BYTES);
            if (found >= 0) {
                count += found;
            } else if (++page < pages) {
                beginPage();
            }
        }
        return count;
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
