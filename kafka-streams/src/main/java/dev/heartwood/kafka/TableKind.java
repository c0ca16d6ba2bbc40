package dev.heartwood.kafka;

/** What the keys of a table are made of. */
enum TableKind {
    /** The record's key. */
    KEY_VALUE,
    /** See {@link SegmentKeys#WINDOW}. */
    WINDOW,
    /** See {@link SegmentKeys#SESSION}. */
    SESSION,
    /** See {@link VersionKeys}. */
    VERSIONED
}
