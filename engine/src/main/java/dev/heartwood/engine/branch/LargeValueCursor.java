package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.EntryCursor;

/**
 * A cursor that can say where a large value lies without reading it. {@link #valueAddress} works for every value, but gathers one
 * that does not lie in one piece in memory first and throws {@code InsufficientMemoryException} when there is no room for it; callers
 * that can do with a copy call {@link #copyValue}, and those that can do with a reference ask {@link #largeGroup} first.
 */
public interface LargeValueCursor extends EntryCursor {
    /** What holds the value of the current entry, or null when that is not large. */
    OverflowGroup largeGroup();

    /** Where in {@link #largeGroup} the value begins; its length is {@link #valueLength}. */
    long largePosition();

    /**
     * Says that the current value, of those that {@link #largeGroup} holds, is about to be read, and that going on forward the next ones
     * may be: starts reading them. Advice only.
     */
    void readAheadLarge();
}
