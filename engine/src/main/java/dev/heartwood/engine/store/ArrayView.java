package dev.heartwood.engine.store;

import java.lang.foreign.MemorySegment;

/** A read-only segment over the beginning of an array, kept for as long as the same is asked for. Belongs to one thread. */
final class ArrayView {
    private byte[] array;
    private int length;
    private MemorySegment segment;

    /** The first {@code bytes} of {@code bytesOf}, as they are whenever the segment is read. */
    MemorySegment of(byte[] bytesOf, int bytes) {
        if (array != bytesOf || length != bytes) {
            segment = MemorySegment.ofArray(bytesOf).asSlice(0, bytes).asReadOnly();
            array = bytesOf;
            length = bytes;
        }
        return segment;
    }
}
