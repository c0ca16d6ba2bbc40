package dev.heartwood.engine.node;

/**
 * Where a node's image is on disk: page numbers in order, and the generation its pages carry. Releasing it lets its extents be
 * reused once nothing else lives in them.
 */
public record NodePlace(long[] pages, long generation, Runnable releaser) {
    public void release() {
        releaser.run();
    }
}
