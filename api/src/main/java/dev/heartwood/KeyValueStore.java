package dev.heartwood;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * An ordered key-value store. Thread-safe.
 *
 * <p>Point reads see the newest acknowledged write. A write is visible to every thread when its call returns, and a batch
 * becomes visible as a whole. After {@link #close()} every call throws {@link ClosedException}.
 *
 * <p>Any call may throw a {@link StoreException}; writes throw {@link PreviousFailureException} once a write or a sync has
 * failed, until the store is reopened. Reads go on.
 */
public interface KeyValueStore extends AutoCloseable {
    /** The longest key, in bytes. */
    int KEY_BYTES_MAX = 1 << 16;

    /** The longest value, in bytes. */
    int VALUE_BYTES_MAX = 1 << 30;

    /**
     * Sets the value of a key, with the store's default durability.
     *
     * @throws TooLargeException when key or value is too long; nothing has changed
     * @throws NoSpaceException when the device is full; nothing has changed
     * @throws InsufficientMemoryException when the memory for new writes is held, by snapshots and cursors that are open, and
     *     nothing under way gives any back; nothing has changed
     */
    void put(byte[] key, byte[] value);

    /** As {@link #put(byte[], byte[])}; a {@code MemorySegment} may be on or off the heap. */
    void put(MemorySegment key, MemorySegment value);

    /** As {@link #put(byte[], byte[])} with a durability of its own. */
    void put(byte[] key, byte[] value, Durability durability);

    /** As {@link #put(MemorySegment, MemorySegment)} with a durability of its own. */
    void put(MemorySegment key, MemorySegment value, Durability durability);

    /** Removes a key; absent keys may be deleted too. */
    void delete(byte[] key);

    /** As {@link #delete(byte[])}. */
    void delete(MemorySegment key);

    /** As {@link #delete(byte[])} with a durability of its own. */
    void delete(byte[] key, Durability durability);

    /** As {@link #delete(MemorySegment)} with a durability of its own. */
    void delete(MemorySegment key, Durability durability);

    /**
     * Adds an operand to a key's value, to be combined by the store's {@link MergeOperator}.
     *
     * @throws UnsupportedOperationException when the store was opened without a merge operator
     */
    void merge(byte[] key, byte[] operand);

    /** As {@link #merge(byte[], byte[])}. */
    void merge(MemorySegment key, MemorySegment operand);

    /** As {@link #merge(byte[], byte[])} with a durability of its own. */
    void merge(byte[] key, byte[] operand, Durability durability);

    /** As {@link #merge(MemorySegment, MemorySegment)} with a durability of its own. */
    void merge(MemorySegment key, MemorySegment operand, Durability durability);

    /** The value of a key, or null when it has none. */
    byte[] get(byte[] key);

    /** As {@link #get(byte[])}. */
    byte[] get(MemorySegment key);

    /**
     * Copies the value of a key into {@code destination} and allocates nothing on the heap.
     *
     * @return the length of the value in bytes, or -1 when the key has none. When the value is longer than the destination,
     *     as much as fits has been copied
     */
    long get(MemorySegment key, MemorySegment destination);

    /**
     * Shows the value of a key to {@code consumer}.
     *
     * @return whether the key has a value
     */
    boolean get(MemorySegment key, ValueConsumer consumer);

    /** As {@link #get(MemorySegment, ValueConsumer)}. */
    boolean get(byte[] key, ValueConsumer consumer);

    /** Whether a key has a value. */
    boolean contains(byte[] key);

    /** A new, empty batch. */
    WriteBatch newBatch();

    /** Applies a batch as a whole with the store's default durability. The batch may be cleared and used again. */
    void write(WriteBatch batch);

    /**
     * As {@link #write(WriteBatch)} with a durability of its own. An empty batch changes nothing, but is a write all the
     * same: with {@link Durability#SYNC} it makes what was logged before it survive the loss of power.
     */
    void write(WriteBatch batch, Durability durability);

    /** The store as it is now; must be closed. */
    Snapshot snapshot();

    /** A cursor over {@code range} of the store as it is now; must be closed. */
    Cursor cursor(KeyRange range);

    /** A cursor over all keys; must be closed. */
    default Cursor cursor() {
        return cursor(KeyRange.all());
    }

    /** Makes every acknowledged write of level {@link Durability#BUFFERED} survive the loss of power. */
    void sync();

    /** Makes everything written before this call durable in the tree itself, whatever its level; then no log needs replaying. */
    void checkpoint();

    /**
     * Checks the last checkpoint as a whole, reading it from the device: checksums, order, counts, the use of space, and that the
     * filters know every key. Reads and writes go on meanwhile. What was written since that checkpoint is not looked at; call
     * {@link #checkpoint()} before to have it included. Takes about 2 MiB of the budget and as long as reading the store takes.
     *
     * @return what was found; damage is listed there, not thrown
     * @throws ClosedException when the store is closed meanwhile, which does not wait for the end
     * @throws InsufficientMemoryException when the budget has no memory to do it with now
     */
    VerifyReport verify();

    /**
     * Makes {@code directory} a copy of this store as it is at one point in time during the call, everything written before the call
     * included. Reads and writes go on meanwhile. The copy is verified before the call returns, and opens as a store.
     *
     * <p>A directory that holds the backup of an earlier call is brought up to date: only pages that it does not have are written.
     * It must not have been opened as a store in between. When the call does not return, the directory opens as the earlier backup,
     * or as the new one if that was complete; what was overwritten was kept in it meanwhile, and takes that much more space. A first
     * backup that was broken off is refused by every open until a later call has completed it.
     *
     * @throws UnsuitableTargetException when the directory holds anything else
     * @throws LockedException when the backup there is open
     * @throws CorruptionException when a page that had to be copied is damaged; the earlier backup is as it was
     * @throws NoSpaceException when the copy does not fit; the earlier backup is as it was
     */
    BackupReport backup(Path directory);

    /**
     * Gives back the space of a range of keys that will not be read any more, by reference: nothing is merged, logged or
     * read. Whole pages of the tree go at once; at the edges of the range, and where the data is new, entries stay. So after this
     * call, and after a crash, a key of the range may have the value that it had, or none; a merge operand may find nothing to be
     * applied to. Snapshots and cursors that are
     * open see what they saw.
     */
    void discard(KeyRange range);

    /** Waits until merges and write-back that are due have been done. For benchmarks and tests. */
    void settle();

    /** The counters of this store at one moment. */
    StoreStats stats();

    /** The options in force. */
    StoreOptions options();

    /** Makes everything written durable and closes the store. Waits for running calls. Idempotent. */
    @Override
    void close();
}
