package dev.heartwood.engine.device;

import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;

/** Sets the sizes of files, and gives them blocks before they are written, so that a later write cannot find the device full. */
final class Preallocation {
    private static final int ZERO_BYTES_MAX = 1 << 20;

    private Preallocation() {}

    /**
     * Allocates everything from {@code from} to {@code to}, and extends the file to {@code to}. What is there is kept; what
     * is new is zero. A file of {@code size} bytes has that size, and no more blocks than before, when this fails. One that may be no
     * longer, by its file system or by the limit of the process, counts as full.
     */
    static void extend(DeviceCalls calls, OpenFile file, long from, long to) {
        try {
            long result;
            do {
                result = calls.fallocate(file.descriptor(), 0, from, to - from);
            } while (result == -Errno.EINTR);
            if (result == -Errno.EOPNOTSUPP || result == -Errno.ENOSYS) {
                writeZeroes(calls, file, to);
            } else if (result < 0) {
                throw Failures.of(result, "fallocate", file.name(), from);
            }
        } catch (StoreException e) {
            // What was allocated before the device was full would keep it full.
            truncate(file.descriptor(), file.size());
            throw e instanceof StoreIoException failure && failure.errno() == Errno.EFBIG
                    ? new NoSpaceException(failure.getMessage())
                    : e;
        }
    }

    /** Sets the size of a file; the result, or minus errno. */
    static int truncate(int descriptor, long size) {
        int result;
        do {
            result = FileCalls.ftruncate(descriptor, size);
        } while (result == -Errno.EINTR);
        return result;
    }

    /** The only way where the file system has no other; it cannot fill holes. */
    private static void writeZeroes(DeviceCalls calls, OpenFile file, long to) {
        int bufferBytes = (int) Math.min(to - file.size(), ZERO_BYTES_MAX);
        try (PageBuffer zeroes = PageBuffer.zeroed(Math.max(bufferBytes, 0))) {
            for (long position = file.size(); position < to; position += bufferBytes) {
                int length = (int) Math.min(bufferBytes, to - position);
                TransferLoop.write(calls::pwrite, file.descriptor(), position, zeroes.address(), length, file.name());
            }
        }
    }
}
