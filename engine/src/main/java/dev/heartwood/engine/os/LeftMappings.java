package dev.heartwood.engine.os;

/**
 * What is unmapped while the Java heap has no room for the call: it is tried again before memory is mapped the next time, and takes nothing of
 * the heap meanwhile. Thread-safe.
 */
final class LeftMappings {
    /** A mapping that nobody uses any more. Belongs to whoever made it until it is unmapped. */
    static final class Mapping {
        private final long address;
        private final long length;
        private Mapping next;

        Mapping(long address, long length) {
            this.address = address;
            this.length = length;
        }
    }

    // Guarded by the class.
    private static Mapping left;

    private LeftMappings() {}

    /** Unmaps memory that no region is known in, now or later. */
    static void unmap(Mapping mapping) {
        try {
            NativeMemory.unmap(mapping.address, mapping.length);
        } catch (OutOfMemoryError full) {
            leave(mapping);
        }
    }

    private static synchronized void leave(Mapping mapping) {
        mapping.next = left;
        left = mapping;
    }

    /** Unmaps what was left, as far as there is room for it. */
    static void unmapLeft() {
        for (Mapping mapping = take(); mapping != null; ) {
            Mapping next = mapping.next;
            unmap(mapping);
            mapping = next;
        }
    }

    private static synchronized Mapping take() {
        Mapping all = left;
        left = null;
        return all;
    }
}
