package dev.heartwood.engine.device;

/**
 * A log segment: a preallocated file mapped shared, populated and writable, so that a store into it survives the death of the
 * process. Stores are thread-safe as memory is; {@link #sync} may run beside stores.
 */
public interface MappedFile extends AutoCloseable {
    /** What errors call this file. */
    String name();

    /** The address of the first byte. */
    long address();

    /** The length in bytes, a multiple of 4096. */
    long length();

    /** Returns once everything stored in the range before this call survives the loss of power. */
    void sync(long offset, long length);

    /** Unmaps and closes the file; its contents stay. Idempotent. */
    @Override
    void close();
}
