package dev.heartwood;

import java.lang.foreign.MemorySegment;

/** Receives a value without copying it to the heap. */
@FunctionalInterface
public interface ValueConsumer {
    /** Called at most once. The segment is read-only, for this thread only, and dies when this returns; other threads or later uses throw. */
    void accept(MemorySegment value);
}
