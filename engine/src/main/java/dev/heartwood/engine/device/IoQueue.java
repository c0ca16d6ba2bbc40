package dev.heartwood.engine.device;

/**
 * Reads and writes under way together on one {@link BlockDevice}. Belongs to one thread at a time. Each operation carries a tag
 * that its completion returns; completions come in any order.
 */
public interface IoQueue extends AutoCloseable {
    /** The most operations under way at once. */
    int depth();

    /** Operations queued or under way. */
    int pending();

    /** Queues a read; fewer than {@link #depth} are pending. It may start at once or with {@link #submit}. */
    void read(long position, long address, int length, long tag);

    /** Queues a write, as {@link #read}. */
    void write(long position, long address, int length, long tag);

    /** Starts what is queued. */
    void submit();

    /**
     * Submits, waits for one operation and returns its tag; {@link #pending} is above 0.
     *
     * @throws dev.heartwood.StoreException when that operation failed; its tag is then {@link #failedTag}
     */
    long await();

    /** The tag of the operation for which {@link #await} last threw. */
    long failedTag();

    /** Waits for everything pending, ignoring failures, and gives the queue's memory back. Idempotent. */
    @Override
    void close();
}
