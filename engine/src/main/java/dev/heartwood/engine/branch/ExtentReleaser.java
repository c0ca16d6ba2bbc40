package dev.heartwood.engine.branch;

/**
 * Takes back the extents of a branch or an overflow group that nothing references any more. Called once for each, by whichever
 * thread gave up the last reference; operations that are still in an epoch may be reading the pages.
 */
@FunctionalInterface
public interface ExtentReleaser {
    /** The extents are the callee's from here on. */
    void release(int[] extents);
}
