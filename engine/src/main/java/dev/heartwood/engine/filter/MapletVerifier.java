package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.cache.CachedFile;
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

    private final CachedFile file;
    private final Maplet maplet;
    private final long buffer;
    private final long[] valueEntries = new long[Long.SIZE];
    private final List<String> problems = new ArrayList<>();
    private final Set<Long> damagedPages = new HashSet<>();
    private long entries;

    private MapletVerifier(CachedFile file, Maplet maplet, long buffer) {
        this.file = file;
        this.maplet = maplet;
        this.buffer = buffer;
    }

    /** Verifies every page and the counts of the descriptor; takes a buffer of an extent from {@code pool}. */
    public static Report verify(CachedFile file, Maplet maplet, MemoryPool pool) {
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to verify a maplet with");
        }
        try {
            return new MapletVerifier(file, maplet, buffer).run();
        } finally {
            pool.free(buffer, PageLayout.EXTENT_BYTES);
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
                for (reader.begin(address, page); reader.next(); entries++) {
                    valueEntries[reader.value()]++;
                }
            } catch (StoreException e) {
                damagedPages.add(maplet.devicePage(page));
                problems.add("maplet " + maplet.id() + ", page " + page + " (page " + maplet.devicePage(page)
                        + " of the file): " + e.getMessage());
            }
        }
    }

    private void read(int page, int count, long to) {
        file.readExtent(maplet.devicePage(page), count, to, PageType.FILTER, maplet.id());
    }
}
