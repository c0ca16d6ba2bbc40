package dev.heartwood;

import java.lang.foreign.MemorySegment;

/**
 * Writes that are applied as a whole: all or none survive a crash, and no reader sees a part. Later writes to a key win over
 * earlier ones. Belongs to one thread at a time. Bytes are copied when they are added, to the heap.
 *
 * <p>Adding throws {@link TooLargeException} when a key, a value or the whole batch is too long, and leaves the batch as it was. What
 * fits into the memory that a store has for writes is found out by {@link KeyValueStore#write(WriteBatch)}.
 */
public interface WriteBatch extends AutoCloseable {
    /**
     * The most bytes of keys and values a batch may hold. Each write takes 9 bytes more, and with these a batch holds less than 2 GiB: of more
     * than 119 million writes that is the lower limit.
     */
    long BATCH_BYTES_MAX = 1L << 30;

    /** Sets the value of a key. */
    void put(byte[] key, byte[] value);

    /** Sets the value of a key. */
    void put(MemorySegment key, MemorySegment value);

    /** Removes a key. */
    void delete(byte[] key);

    /** Removes a key. */
    void delete(MemorySegment key);

    /**
     * Adds an operand to a key's value.
     *
     * @throws UnsupportedOperationException when the store was opened without a merge operator
     */
    void merge(byte[] key, byte[] operand);

    /** Adds an operand to a key's value. */
    void merge(MemorySegment key, MemorySegment operand);

    /** The number of writes in the batch. */
    int count();

    /** The bytes of keys and values in the batch. */
    long bytes();

    /** Empties the batch for further use. */
    void clear();

    /**
     * Empties the batch; it cannot be used any more. Idempotent. Afterwards {@link #count} and {@link #bytes} are 0, and every other call, and
     * a write of it, throws {@link ClosedException}.
     */
    @Override
    void close();
}
