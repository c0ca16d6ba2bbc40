package dev.heartwood;

import java.lang.foreign.MemorySegment;

/** Receives a value without copying it to the heap. */
@FunctionalInterface
public interface ValueConsumer {
    /** Called at most once. The segment is read-only and dies when this returns; using it later throws. */
    void accept(MemorySegment value);
}
