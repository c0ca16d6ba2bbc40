package dev.heartwood.engine.branch;

import dev.heartwood.engine.os.MemoryPool;

/**
 * Where the memory of a cursor comes from. Thread-safe.
 *
 * @param own the pool that is asked first
 * @param other the pool that is asked when that has none left; null for none
 */
record CursorMemory(MemoryPool own, MemoryPool other) {
    /** A block of at least {@code bytes}, with undefined contents; throws when there is none. */
    long allocate(long bytes) {
        if (other == null) {
            return PageStream.allocate(own, bytes);
        }
        long block = own.allocate(bytes);
        return block != 0 ? block : PageStream.allocate(other, bytes);
    }

    /** Gives back what {@link #allocate} returned for the same number of bytes. */
    void free(long block, long bytes) {
        (own.contains(block) ? own : other).free(block, bytes);
    }
}
