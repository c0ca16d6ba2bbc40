package dev.heartwood.engine.extent;

/** What extents are promised to; decides whether it may use the reserve. */
public enum Promised {
    /** Entries that the store grows by, which may not. */
    GROWTH,
    /** Entries that delete others. */
    DELETES
}
