package dev.heartwood;

/** The operating system refused an operation; {@link ReadFailedException} when it was a read. */
public sealed class StoreIoException extends StoreException permits ReadFailedException {
    private final int errno;
    private final String errnoName;
    private final String operation;
    private final String path;
    private final long offset;

    /**
     * Describes one refused operation.
     *
     * @param errno the error number
     * @param errnoName its name, such as EIO
     * @param operation the operation, such as pwrite
     * @param path the file
     * @param offset the byte offset in the file, or -1 when the operation has none
     */
    public StoreIoException(int errno, String errnoName, String operation, String path, long offset) {
        super(
                operation + " failed with " + errnoName + " (" + errno + ") on " + path
                        + (offset < 0 ? "" : " at offset " + offset),
                null);
        this.errno = errno;
        this.errnoName = errnoName;
        this.operation = operation;
        this.path = path;
        this.offset = offset;
    }

    /** The error number of the operating system. */
    public int errno() {
        return errno;
    }

    /** The name of the error number, such as EIO. */
    public String errnoName() {
        return errnoName;
    }

    /** The operation that was refused. */
    public String operation() {
        return operation;
    }

    /** The file it was refused on. */
    public String path() {
        return path;
    }

    /** The byte offset in the file, or -1. */
    public long offset() {
        return offset;
    }
}
