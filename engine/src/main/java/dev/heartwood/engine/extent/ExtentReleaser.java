package dev.heartwood.engine.extent;

/**
 * Takes back the extents of a branch, an overflow group or a maplet that nothing references any more. Called once for each, by whichever
 * thread gave up the last reference; operations that are still in an epoch may be reading the pages.
 */
@FunctionalInterface
public interface ExtentReleaser {
    /** The extents are the callee's from here on. */
    void release(int[] extents);

    /** What releases these extents, for who must not fail then, as on a full Java heap. */
    default Runnable releasing(int[] extents) {
        return () -> release(extents);
    }
}
