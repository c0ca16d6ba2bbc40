package dev.heartwood.engine.cache;

/** How long a new page is expected to be needed. */
enum Lifetime {
    /** It may be freed before the next checkpoint, and is then never written. */
    BRIEF,
    /** It will be written one day, so it is written back first. */
    LASTING
}
