package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Walks every page of a maplet and lists everything that is not as it should be. Belongs to one thread; may take long. */
public final class MapletVerifier {
    /**
     * What the walk found.
     *
     * @param entries entries read
     * @param damagedPages the pages of the file that cannot be used
     * @param problems one line each, empty when the maplet is sound in itself
     */
    public record Report(long entries, Set<Long> damagedPages, List<String> problems) {}

    private static final long BLOCK_BYTES = FilterPageReader.BLOCK_ENTRIES_MAX * Entry.BYTES;

    private final CachedFile file;
    private final Maplet maplet;
    private final long buffer;
    private final long blockEntries;
    private final long[] valueEntries = new long[Long.SIZE];
    private final List<String> problems = new ArrayList<>();
    private final Set<Long> damagedPages = new HashSet<>();
    private long entries;

    private MapletVerifier(CachedFile file, Maplet maplet, long buffer, long blockEntries) {
        this.file = file;
        this.maplet = maplet;
        this.buffer = buffer;
        this.blockEntries = blockEntries;
    }

    /**
     * Verifies every page and the counts of the descriptor; takes buffers of an extent and of a block's entries from {@code pool}.
     *
     * @throws InsufficientMemoryException when there is no memory to read a page into, which is no damage
     */
    public static Report verify(CachedFile file, Maplet maplet, MemoryPool pool) {
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        long blockEntries = pool.allocate(BLOCK_BYTES);
        try {
            if (buffer == 0 || blockEntries == 0) {
                throw new InsufficientMemoryException("no buffer to verify a maplet with");
            }
            return new MapletVerifier(file, maplet, buffer, blockEntries).run();
        } finally {
            free(pool, buffer, PageLayout.EXTENT_BYTES);
            free(pool, blockEntries, BLOCK_BYTES);
        }
    }

    private static void free(MemoryPool pool, long buffer, long bytes) {
        if (buffer != 0) {
            pool.free(buffer, bytes);
        }
    }

    private Report run() {
        for (int page = 0; page < maplet.pages(); page += PageLayout.EXTENT_PAGES) {
            verifyExtent(page, Math.min(PageLayout.EXTENT_PAGES, maplet.pages() - page));
        }
        if (damagedPages.isEmpty()) {
            for (int value = 0; value < Long.SIZE; value++) {
                if (valueEntries[value] != maplet.entries(value)) {
                    problems.add("maplet " + maplet.id() + ": expected " + maplet.entries(value) + " entries of value "
                            + value + ", found " + valueEntries[value]);
                }
            }
        }
        return new Report(entries, damagedPages, problems);
    }

    private void verifyExtent(int first, int count) {
        boolean isWhole = true;
        try {
            read(first, count, buffer);
        } catch (StoreException oneOfThem) {
            isWhole = false;
        }
        FilterPageReader reader = new FilterPageReader(maplet.shape(), file);
        for (int page = first; page < first + count; page++) {
            try {
                long address = isWhole ? buffer + (long) (page - first) * PageLayout.PAGE_BYTES : buffer;
                if (!isWhole) {
                    read(page, 1, buffer);
                }
                reader.begin(address, page);
                for (int found = reader.readBlock(blockEntries); found >= 0; found = reader.readBlock(blockEntries)) {
                    count(found);
                }
            } catch (InsufficientMemoryException e) {
                throw e; // which says nothing of the page
            } catch (StoreException e) {
                damagedPages.add(maplet.devicePage(page));
                problems.add("maplet " + maplet.id() + ", page " + page + " (page " + maplet.devicePage(page)
                        + " of the file): " + e.getMessage());
            }
        }
    }

    private void count(int found) {
        for (int i = 0; i < found; i++) {
            valueEntries[Entry.value(Memory.getLong(blockEntries + (long) i * Entry.BYTES))]++;
        }
        entries += found;
    }

    private void read(int page, int count, long to) {
        file.readExtent(maplet.devicePage(page), count, to, PageType.FILTER, maplet.id());
    }
}
