package dev.heartwood.engine.branch;

/** What becomes of the pages that a writer finishes. */
public enum WriteMode {
    /** They enter the cache as dirty and are written back later; for memtables, whose extents were promised. */
    CACHED,
    /** As {@link #CACHED}, but written back before what is; for merges of which that is expected to outlive the next checkpoint. */
    LASTING,
    /** As {@link #CACHED}, for merges of which what they write is expected to be freed before the next checkpoint. */
    MERGED,
    /** They are written to the device at once and stay out of the cache; for big merges. */
    THROUGH,
    /** As {@link #THROUGH}, but copies stay in the cache while it has frames to spare, or in the place of what a merge found there. */
    KEPT
}
