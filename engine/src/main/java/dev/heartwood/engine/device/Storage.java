package dev.heartwood.engine.device;

import java.nio.file.Path;
import java.util.List;

/**
 * The files of one store's directory: the one seam between the engine and the outside. Thread-safe. Names are plain file names
 * within the directory.
 */
public interface Storage extends AutoCloseable {
    /** The directory. */
    Path directory();

    /** A name of the running system that changes when it restarts: equal means that no power was lost in between. */
    String bootId();

    /**
     * Makes the directory when it is missing and takes the store's lock, which ends with the process.
     *
     * @throws dev.heartwood.LockedException when the store is open elsewhere
     * @throws dev.heartwood.NotAStoreException when the path is not a directory
     */
    void lock();

    /** The names of the files in the directory, sorted; empty when there is no directory. */
    List<String> list();

    /** Whether a file exists. */
    boolean exists(String name);

    /** Whether a file is a block special file, or a link to one: it is there before a store is made on it, and is never deleted. */
    default boolean isRawDevice(String name) {
        return false;
    }

    /** The size of a file in bytes. */
    long size(String name);

    /** The first {@code lengthMax} bytes of a file, or all of it when it is shorter; through the page cache, for small files. */
    byte[] readFile(String name, int lengthMax);

    /** Writes a small file whole and syncs it and, when it is new, the directory. */
    void writeFile(String name, byte[] contents);

    /** Opens the data file; {@code create} makes an empty one, which must not exist, and syncs the directory. */
    BlockDevice openDevice(String name, boolean create);

    /** Makes, or takes over, a file of exactly {@code length} bytes, allocated, and maps it. Contents of a new file are zero. */
    default MappedFile openMapped(String name, long length) {
        return openMapped(name, length, length);
    }

    /**
     * As {@link #openMapped(String, long)}, but only the first {@code window} bytes are in memory and may be touched, until {@link
     * MappedFile#slide}. Both are multiples of 4096.
     */
    MappedFile openMapped(String name, long length, long window);

    /**
     * Maps an existing file as it is, to read a log back; a file shorter than its header is the caller's to judge, and so is one whose {@link
     * MappedFile#windowEnd} is less than its length, which can be read up to there.
     *
     * @throws dev.heartwood.ReadFailedException when not even its beginning can be read
     */
    MappedFile openMappedExisting(String name);

    /** Opens an existing file to be synced: mapped as it is, but at rest, see {@link MappedFile#rest}; nothing of it is read. */
    MappedFile openAtRest(String name);

    /**
     * As {@link #openAtRest}, when all of the file has been stored again as it is, so that the next sync writes it: what an earlier one
     * failed to write the system takes for written, and gives to readers until it needs the memory. But for pages of zeroes, which
     * may have no place on the device yet, and what is behind the first page that the device does not give.
     */
    MappedFile openRewritten(String name);

    /** Removes a file. */
    void delete(String name);

    /** Returns once creations and deletions in the directory survive the loss of power. */
    void syncDirectory();

    /** Gives the lock back. Idempotent. */
    @Override
    void close();
}
