package dev.heartwood;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * A key-value store, ordered unless its options say otherwise ({@link KeyOrder}). Thread-safe, for virtual threads too. Interrupts
 * neither end a call nor are they lost.
 *
 * <p>Point reads see the newest acknowledged write. A write is visible to every thread when its call returns, and a batch
 * becomes visible as a whole. After {@link #close()} every call throws {@link ClosedException}.
 *
 * <p>Any call may throw a {@link StoreException}; writes throw {@link PreviousFailureException} once a write or a sync has
 * failed, until the store is reopened. Reads go on. A read that meets a damaged page throws {@link CorruptionException}; reads
 * that do not need the page go on.
 *
 * <p>A store that has merge operands is opened with its {@link MergeOperator}. Opened with the operator's name alone, as parsed options have it
 * ({@link StoreOptions#parse}), it takes no {@link #merge} ({@link UnsupportedOperationException}), and reads that meet an operand throw an
 * {@link IllegalStateException}. With the name of a {@link CompactionFilter} alone nothing is filtered.
 */
public interface KeyValueStore extends AutoCloseable {
    /** The longest key, in bytes. */
    int KEY_BYTES_MAX = 1 << 16;

    /** The longest value that any budget takes, in bytes; a write of more than 40 MiB does not fit into any now, see {@link #put(byte[], byte[])}. */
    int VALUE_BYTES_MAX = 1 << 30;

    /**
     * Sets the value of a key, with the store's default durability.
     *
     * @throws TooLargeException when key or value is too long; nothing has changed
     * @throws NoSpaceException when the device is full; nothing has changed
     * @throws InsufficientMemoryException when key and value together do not fit into a quarter of the memory that the budget has
     *     for memtables (15/256 of the budget, 40 MiB at most), or not into one block of the memory for calls, which is less with budgets of more
     *     than 64 MiB (4, 8, 32 and 40 MiB of 128, 256, 1,024 and 2,048), or when nothing that is under way gives any of that memory back, or, where
     *     they take much of it, others never leave as much in one piece; nothing has changed
     */
    void put(byte[] key, byte[] value);

    /** As {@link #put(byte[], byte[])}; a {@code MemorySegment} may be on or off the heap. */
    void put(MemorySegment key, MemorySegment value);

    /** As {@link #put(byte[], byte[])} with a durability of its own. */
    void put(byte[] key, byte[] value, Durability durability);

    /** As {@link #put(MemorySegment, MemorySegment)} with a durability of its own. */
    void put(MemorySegment key, MemorySegment value, Durability durability);

    /** Removes a key; absent keys may be deleted too. A write as any other: see {@link #put(byte[], byte[])} for what is refused. */
    void delete(byte[] key);

    /** As {@link #delete(byte[])}. */
    void delete(MemorySegment key);

    /** As {@link #delete(byte[])} with a durability of its own. */
    void delete(byte[] key, Durability durability);

    /** As {@link #delete(MemorySegment)} with a durability of its own. */
    void delete(MemorySegment key, Durability durability);

    /**
     * Adds an operand to a key's value, to be combined by the store's {@link MergeOperator}. Operands are limited as values are;
     * see {@link #put(byte[], byte[])}.
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

    /**
     * The value of a key, or null when it has none. A key that is too long to be written has none.
     *
     * @throws InsufficientMemoryException when calls under way hold all memory for pages, again and again; so may any other read, where many stores
     *     share little memory and more threads than processors are busy with them
     */
    byte[] get(byte[] key);

    /** As {@link #get(byte[])}. */
    byte[] get(MemorySegment key);

    /**
     * Copies the value of a key into {@code destination} and allocates nothing on the heap, unless merge operands have to be
     * applied.
     *
     * @return the length of the value in bytes, or -1 when the key has none. When the value is longer than the destination,
     *     as much as fits has been copied
     * @throws IllegalArgumentException when the destination is read-only
     */
    long get(MemorySegment key, MemorySegment destination);

    /**
     * Shows the value of a key to {@code consumer}, which is called by this thread before the call returns, and not when the key
     * has no value. What it throws reaches the caller. It may use the store. The value is copied for it, to native memory beyond the
     * store's budget, for as long as the call takes.
     *
     * @return whether the key has a value
     */
    boolean get(MemorySegment key, ValueConsumer consumer);

    /** As {@link #get(MemorySegment, ValueConsumer)}. */
    boolean get(byte[] key, ValueConsumer consumer);

    /**
     * The values of many keys, each at the place of its key in the list, null where there is none. As {@link #get(byte[])} of each, but for the
     * time it takes where the device is to be read: with io_uring or AIO (see {@link DeviceKind}) it reads for up to 32 keys at once. Other writes
     * may come in between; {@link Snapshot#getAll} sees one moment. A store that is closed beside it ends it with {@link ClosedException}.
     *
     * @return a list of as many; it may be changed in place
     * @throws CorruptionException when a page that one of them needs is damaged, whatever is known of the others
     */
    List<byte[]> getAll(List<byte[]> keys);

    /** Whether a key has a value. */
    boolean contains(byte[] key);

    /** As {@link #contains(byte[])}. */
    boolean contains(MemorySegment key);

    /** A new, empty batch. */
    WriteBatch newBatch();

    /**
     * Applies a batch as a whole with the store's default durability. The batch stays as it is; it may be cleared and used again.
     *
     * @throws NoSpaceException when the device is full; nothing has changed
     * @throws InsufficientMemoryException as {@link #put(byte[], byte[])} does, for all of the batch together, and when no memtable holds so
     *     many entries, each of which takes some 100 bytes there beside its key and value; nothing has changed
     * @throws UnsupportedOperationException when it holds a merge operand and the store was opened without a merge operator
     */
    void write(WriteBatch batch);

    /**
     * As {@link #write(WriteBatch)} with a durability of its own. An empty batch changes nothing, but is a write all the
     * same: with {@link Durability#SYNC} it makes what was logged before it survive the loss of power.
     */
    void write(WriteBatch batch, Durability durability);

    /** The store as it is now; must be closed. It holds memory and space until then. */
    Snapshot snapshot();

    /**
     * A cursor over {@code range} of the store as it is now; must be closed.
     *
     * @throws UnorderedStoreException when keys are hashed and the range is not {@link KeyRange#all()}
     */
    Cursor cursor(KeyRange range);

    /** A cursor over all keys; must be closed. */
    default Cursor cursor() {
        return cursor(KeyRange.all());
    }

    /**
     * Makes every acknowledged write of level {@link Durability#BUFFERED} survive the loss of power.
     *
     * @throws PreviousFailureException when the store takes no writes any more
     * @throws NoSpaceException when the log found no space for what a recovery has to note before anything is synced; nothing has changed
     * @throws StoreIoException when the system fails to sync; the store takes no writes any more then
     */
    void sync();

    /**
     * Makes everything written before this call durable in the tree itself, whatever its level; then no log needs replaying.
     *
     * @throws PreviousFailureException when the store takes no writes any more
     * @throws NoSpaceException when the device has no space for it; the store goes on, and the log keeps what it has
     * @throws InsufficientMemoryException when the budget has no memory to do it with now; so does the store then
     * @throws TooLargeException when what a node of the tree says of hundreds of runs of very long keys comes to more than 64 MiB; so does
     *     the store then, and merges make fewer of them
     * @throws StoreIoException when the system fails to write or to sync; the store takes no writes any more then
     */
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
     * <p>The copy is written past the operating system's page cache, as the store is, but for a file system that refuses that; there it
     * opens with the I/O mode BUFFERED only.
     *
     * @throws ClosedException when the store is closed meanwhile, which does not wait for the end
     * @throws UnsuitableTargetException when the directory holds anything else, is a file, or lies within this store's directory
     * @throws IllegalArgumentException for a path as {@link Environment#open} refuses it
     * @throws LockedException when the backup there is open
     * @throws CorruptionException when a page that had to be copied is damaged; the earlier backup is as it was
     * @throws NoSpaceException when the copy does not fit, or the store's own device has no space for the checkpoint that comes first; the
     *     earlier backup is as it was
     * @throws PreviousFailureException when the store takes no writes any more, since a {@link #checkpoint} comes first; a backup is then made
     *     once the store was reopened, or with {@code bin/heartwood backup} after closing it
     * @throws InsufficientMemoryException when the budget has no memory to do it with now; the directory opens as after any call that
     *     does not return
     * @throws TooLargeException as by {@link #checkpoint}
     */
    BackupReport backup(Path directory);

    /**
     * Gives back the space of a range of keys that will not be read any more, by reference: nothing is merged, logged or
     * read. Whole leaves of the tree go at once, of up to eight memtables each; in a store of one leaf all of it goes, or nothing. What else lies in the
     * range stays: entries at its edges, or all where it is smaller than a leaf, and what memtables hold, unless a {@link #checkpoint} comes before. So after
     * this call, and after a crash, a key of the range may have the value that it had, or none; a merge operand may find nothing to be
     * applied to. Snapshots and cursors that are open see what they saw. To be rid of few keys, delete them.
     *
     * @throws UnorderedStoreException when keys are hashed and the range is not {@link KeyRange#all()}; nothing has changed
     * @throws PreviousFailureException when the store takes no writes any more; nothing has changed
     */
    void discard(KeyRange range);

    /**
     * Waits until merges and write-back that are due have been done, and has some done that could wait: so that reads meet few runs
     * and space that is not needed is free. May read and write all of the store. For the end of a bulk load, benchmarks and tests.
     *
     * <p>What was written last and is only in memory yet stays there, and may supersede entries that {@link StoreStats#entriesEstimate()} counts
     * then; call {@link #checkpoint()} before to have it included. Beside writers this may go on for as long as they write; {@link #checkpoint()},
     * {@link #backup} and {@link #close()} do not wait for its end.
     *
     * @throws ClosedException when the store is closed meanwhile, which waits for what is under way only
     * @throws PreviousFailureException when the store takes no writes any more
     * @throws NoSpaceException when the device has no space for a checkpoint, or for what is to be packed; the store goes on
     * @throws InsufficientMemoryException when the budget has no memory for that now; so does the store then
     * @throws TooLargeException as by {@link #checkpoint}
     * @throws StoreIoException when the system fails to write or to sync; the store takes no writes any more then
     */
    void settle();

    /**
     * Changes what can be changed while the store runs, until it closes. Returns at once; no call waits for the change. A checkpoint that
     * a smaller distance makes due is made in the background, and the memory that it frees is then the page cache's again ({@link
     * StoreStats#unwrittenBytes()}). What was written under one tuning leaves no trace under another.
     *
     * @throws PreviousFailureException when the store takes no writes any more; nothing has changed
     */
    void tune(StoreTuning tuning);

    /** The tuning in force. */
    StoreTuning tuning();

    /** The counters of this store at one moment. */
    StoreStats stats();

    /** The options in force, as tuned. Of memory, workers and device those of the environment are in force, if the store was opened in one. */
    StoreOptions options();

    /**
     * Makes everything written durable, as {@link #checkpoint()} does, and closes the store. Waits for running calls, and what they write
     * is made durable too; but {@link #getAll}, {@link #verify}, {@link #backup} and {@link #settle} are ended. Snapshots and cursors that are
     * open end with it. Idempotent.
     *
     * @throws StoreException when something written could not be made durable. The store is closed all the same, and what was
     *     logged is there when it is opened again
     * @throws PreviousFailureException when that is so because the store had stopped taking writes before, whoever was told then
     */
    @Override
    void close();
}
