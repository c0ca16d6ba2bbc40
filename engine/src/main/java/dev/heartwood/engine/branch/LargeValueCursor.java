package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.EntryCursor;

/**
 * A cursor that can say where a large value lies without reading it. {@link #valueAddress} works for every value, but gathers a
 * large one in memory first and throws {@code InsufficientMemoryException} when there is no room for it in one piece; callers
 * that can do with pieces ask {@link #largeGroup} first and read from it.
 */
public interface LargeValueCursor extends EntryCursor {
    /** What holds the value of the current entry, or null when it lies in one piece at {@link #valueAddress}. */
    OverflowGroup largeGroup();

    /** Where in {@link #largeGroup} the value begins; its length is {@link #valueLength}. */
    long largePosition();

    /**
     * Says that the current value, of those that {@link #largeGroup} holds, is about to be read, and that going on forward the next ones
     * may be: starts reading them. Advice only.
     */
    void readAheadLarge();
}
