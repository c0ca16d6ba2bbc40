package dev.heartwood.engine.extent;

/**
 * Takes back the extents of a branch, an overflow group or a maplet that nothing references any more. Run once for each, by whichever
 * thread gave up the last reference; operations that are still in an epoch may be reading the pages.
 */
@FunctionalInterface
public interface ExtentReleaser {
    /** What takes these extents back once it is run. It is made beforehand: who gives up a reference must not fail, as on a full Java heap. */
    Runnable releasing(int[] extents);
}
