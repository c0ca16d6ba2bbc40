package dev.heartwood.engine.store;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** What users give, by its name where it is missing. Stateless. */
final class Arguments {
    private Arguments() {}

    /**
     * An array as a segment.
     *
     * @throws NullPointerException that has the name, when there is none
     */
    static MemorySegment segment(byte[] array, String name) {
        return MemorySegment.ofArray(Objects.requireNonNull(array, name));
    }
}
