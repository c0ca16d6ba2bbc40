package dev.heartwood.engine.device;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Errno;

/** What a refused system call becomes. */
final class Failures {
    private Failures() {}

    /**
     * The exception for a call that returned {@code result}, minus errno.
     *
     * @param position the byte offset in the file, or -1
     */
    static StoreException of(long result, String operation, String path, long position) {
        int errno = (int) -result;
        if (errno == Errno.ENOSPC || errno == Errno.EDQUOT) {
            return new NoSpaceException(message(errno, operation, path, position));
        }
        String explained = errno == Errno.EROFS ? operation + " (the file system is read-only)" : operation;
        return new StoreIoException(errno, Errno.name(errno), explained, path, position);
    }

    private static String message(int errno, String operation, String path, long position) {
        return operation + " failed with " + Errno.name(errno) + " on " + path + (position < 0 ? "" : " at offset " + position);
    }

    /** As {@link #of} for a call that reads file contents, or maps a file, and nothing else: a want of memory says nothing of the file. */
    static StoreException ofRead(long result, String operation, String path, long position) {
        int errno = (int) -result;
        if (errno == Errno.ENOMEM) {
            return new InsufficientMemoryException(message(errno, operation, path, position));
        }
        return new ReadFailedException(errno, Errno.name(errno), operation, path, position);
    }

    /** A read met the end of the file where data should be. */
    static StoreException endOfFile(String path, long position, long length) {
        return new CorruptionException(
                path,
                position / BlockDevice.ALIGNMENT,
                "any",
                length + " bytes at offset " + position,
                "the end of the file");
    }

    /** Whether the same call may be made again at once. */
    static boolean transientError(long result) {
        return result == -Errno.EINTR || result == -Errno.EAGAIN;
    }
}
