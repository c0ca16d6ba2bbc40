package dev.heartwood.engine.device;

/**
 * A log segment: a preallocated file mapped shared, populated and writable, so that a store into it survives the death of the
 * process. Stores are thread-safe as memory is; {@link #sync} may run beside stores. A window of it may be in memory instead of all.
 *
 * <p>While it is open, an error that the operating system met when it wrote the file back by itself ends the next {@link #sync}. Of a file
 * that nobody has open it may be forgotten.
 */
public interface MappedFile extends AutoCloseable {
    /** What errors call this file. */
    String name();

    /** The address of the first byte. */
    long address();

    /** The length in bytes, a multiple of 4096. */
    long length();

    /**
     * What may be touched ends here: the length for a file that was opened as a whole, and for one that was opened to be read the first page
     * that the device does not give. Read by whoever slides.
     */
    long windowEnd();

    /**
     * Brings what lies before {@code end} into memory and lets go of what lies before {@code begin}, whose contents stay: what is
     * between them may be touched afterwards. Multiples of 4096, neither below those before. To be called, and the file touched, by one
     * thread at a time; may run beside {@link #sync}. A failure changes nothing.
     */
    void slide(long begin, long end);

    /**
     * Lets go of all that is in memory, whose contents stay, and keeps the file open: nothing of it may be touched from now on, but it can
     * be synced, and that it could not be written back is not forgotten. As {@link #slide}, by one thread; not beside {@link #sync}.
     * Idempotent.
     */
    void rest();

    /** Returns once everything stored in the range before this call survives the loss of power. */
    void sync(long offset, long length);

    /** Unmaps and closes the file; its contents stay. Idempotent. */
    @Override
    void close();
}
