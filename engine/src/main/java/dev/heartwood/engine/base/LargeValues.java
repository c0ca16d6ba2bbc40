package dev.heartwood.engine.base;

import java.lang.foreign.MemorySegment;

/**
 * Values that are too large to lie in one piece of memory, addressed by position: byte {@code i} of a value that begins at
 * {@code position} is at {@code position + i}. Thread-safe. Readable as long as the structure that referred to the value is held.
 * May read the device.
 */
public interface LargeValues {
    /** Copies {@code length} bytes from {@code position} to native memory. Not inside an epoch: may wait for operations to end. */
    void read(long position, long to, long length);

    /**
     * Copies {@code length} bytes from {@code position} into a segment, on or off the heap. Inside an epoch or not.
     *
     * @throws dev.heartwood.InsufficientMemoryException when operations under way hold all memory for pages
     */
    void read(long position, MemorySegment to, long offset, long length);
}
