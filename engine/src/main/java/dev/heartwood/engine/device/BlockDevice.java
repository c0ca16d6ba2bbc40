package dev.heartwood.engine.device;

/**
 * A preallocated data file or a raw block device. Thread-safe. Positions and lengths are in bytes and, with addresses, multiples
 * of {@link #ALIGNMENT}.
 */
public interface BlockDevice extends AutoCloseable {
    /** The alignment of every position, length and address. */
    int ALIGNMENT = 4096;

    /** What errors call this device. */
    String name();

    /** The size in bytes. */
    long size();

    /** Reads {@code length} bytes at {@code position} into native memory at {@code address}; blocks. */
    void read(long position, long address, int length);

    /** Writes {@code length} bytes at {@code position} from native memory at {@code address}; blocks. */
    void write(long position, long address, int length);

    /**
     * Writes {@code count} pages of {@link #ALIGNMENT} bytes, contiguous at {@code position}, from the addresses {@code
     * addresses[0..count)}; blocks.
     */
    void writePages(long position, long[] addresses, int count);

    /** Returns once everything written so far survives the loss of power. A failure is final: do not retry. */
    void sync();

    /** Makes the device at least {@code size} bytes long, with its blocks allocated; {@code NoSpaceException} when it cannot. */
    void allocate(long size);

    /**
     * Bytes by which the device could grow by what its file system says now, which others may take, and by how long a file may be; 0 when that
     * is not known.
     */
    default long available() {
        return 0;
    }

    /** Whether ranges may be without blocks; a device of fixed size has all of its own. */
    default boolean mayHaveHoles() {
        return true;
    }

    /**
     * Gives a range back to the file system; it then reads as zeroes. Does nothing where that is not possible; {@code NoSpaceException} when the
     * file system has no room to note where the hole is.
     */
    void discard(long position, long length);

    /**
     * Gives a range, which {@link #discard} may have given back in this life of the device or an earlier one, its blocks again, so that
     * writing there finds room; {@code NoSpaceException} when it cannot. Keeps what is there. Does nothing where no range loses its blocks.
     */
    default void restore(long position, long length) {}

    /** A queue for asynchronous I/O on this device, for one thread at a time; {@code depth} is 1..256. */
    IoQueue newQueue(int depth);

    /** Whether what is queued is under way together; else each operation is done by who submits it, one after the other. */
    default boolean queuesOverlap() {
        return true;
    }

    /** Bytes read so far. */
    long bytesRead();

    /** Bytes written so far. */
    long bytesWritten();

    @Override
    void close();
}
