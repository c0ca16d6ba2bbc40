package dev.heartwood;

import java.nio.file.Path;

/**
 * What the stores of a process share: one memory budget for memtables, page cache and filters, one page cache, one set of
 * background workers. Thread-safe.
 */
public interface Environment extends AutoCloseable {
    /**
     * Opens, and creates when the options allow, the store in {@code directory}. The store's own {@code memory}, {@code
     * workers} and {@code device} options are not used; the environment's are.
     *
     * @throws IllegalArgumentException when the path is of another file system than the default one, or has a name that is not text in the
     *     charset of the locale, of which many would be taken for the same; nothing is made then
     * @throws NotAStoreException when there is no store and none may be made, or something else is there
     * @throws StoreExistsException when there is a store and the options ask for a new one
     * @throws FormatTooNewException when a later version has written the store
     * @throws FormatTooOldException when a version has written it whose format is read no more
     * @throws LockedException when the store is open elsewhere, or is just being made there by a backup or a salvage, in this process or another
     * @throws IncompatibleOptionsException when the options do not fit the existing store
     * @throws InsufficientMemoryException when the budget has no memory for one more store
     * @throws StoreIoException when the operating system refuses: a read-only file system, one without O_DIRECT, no permission
     * @throws StoreException when the store cannot be opened; the store is as it was then, but that a backup to it which broke off has been
     *     undone. Only if the system refused to write, or there was no space or no memory, while the store was being made or its log
     *     replayed, may the open have changed more, and the next one goes on from there
     */
    KeyValueStore open(Path directory, StoreOptions options);

    /** As {@link #open}, and closing the store closes this environment too. */
    KeyValueStore openOwned(Path directory, StoreOptions options);

    /** The options this environment was opened with. */
    EnvironmentOptions options();

    /** What the environment uses of its budget now: nothing once it is closed. */
    MemoryStats memoryStats();

    /**
     * Closes every store still open in this environment, then gives the memory back. Idempotent. Afterwards {@link #open} throws
     * {@link ClosedException}, and so does one that is under way, whose end this call waits for. Beside a call that is under way in another
     * thread this one returns once the stores are closed, and that one gives the memory back.
     *
     * @throws StoreException the first that closing a store threw; the others are closed and the memory is given back all the same
     */
    @Override
    void close();
}
