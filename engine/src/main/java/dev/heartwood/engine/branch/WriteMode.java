package dev.heartwood.engine.branch;

/** What becomes of the pages that a writer finishes. */
public enum WriteMode {
    /** They enter the cache as dirty and are written back later; for new data. */
    CACHED,
    /** They are written to the device at once and stay out of the cache; for big merges. */
    THROUGH,
    /** As {@link #THROUGH}, but copies stay in the cache while it has frames to spare. */
    KEPT
}
