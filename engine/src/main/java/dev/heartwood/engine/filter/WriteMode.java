package dev.heartwood.engine.filter;

/** How the pages of a maplet reach the device. */
public enum WriteMode {
    /** They enter the cache as dirty and are written back later; for memtables, whose extents were promised. */
    CACHED,
    /** As {@link #CACHED}, for merges. */
    MERGED,
    /** As {@link #CACHED}, but written back before what is; for what is expected to outlive the next checkpoint. */
    LASTING,
    /** They are written to the device at once and stay out of the cache; for big merges. */
    THROUGH
}
