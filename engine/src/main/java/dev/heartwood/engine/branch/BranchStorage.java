package dev.heartwood.engine.branch;

import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.ExtentReleaser;
import dev.heartwood.engine.os.MemoryPool;

/**
 * What the branches of one store stand on.
 *
 * @param file the data file
 * @param extents its extents
 * @param pool memory of cursors and of values read
 * @param mergePool memory of writers and of streaming cursors
 * @param storeId the store that every page names
 * @param releaser takes back the extents of what is no longer referenced
 */
public record BranchStorage(
        CachedFile file, ExtentAllocator extents, MemoryPool pool, MemoryPool mergePool, long storeId, ExtentReleaser releaser) {}
