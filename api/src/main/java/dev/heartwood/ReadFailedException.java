package dev.heartwood;

/** The operating system refused to read. Nothing is in doubt: the store goes on, and the call may be tried again. */
public final class ReadFailedException extends StoreIoException {
    /** Describes one refused read; parameters as those of {@link StoreIoException}. */
    public ReadFailedException(int errno, String errnoName, String operation, String path, long offset) {
        super(errno, errnoName, operation, path, offset);
    }
}
