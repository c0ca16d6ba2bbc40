package dev.heartwood.engine.filter;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.ExtentReleaser;
import dev.heartwood.engine.os.MemoryPool;

/**
 * What the maplets of one store stand on.
 *
 * @param file the data file
 * @param extents its extents; maplets may take the reserve, since what they index is written already
 * @param pool where working memory comes from
 * @param storeId the store that every page names
 * @param releaser takes back the extents of a maplet that nothing references any more; called once for each, by whichever thread
 *     gave up the last reference, while operations still in an epoch may be reading the pages
 */
public record MapletStorage(
        CachedFile file, ExtentAllocator extents, MemoryPool pool, long storeId, ExtentReleaser releaser) {}
