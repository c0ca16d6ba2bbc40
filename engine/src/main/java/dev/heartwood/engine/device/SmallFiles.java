package dev.heartwood.engine.device;

import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.PathCalls;

/** Reads and writes small files whole, through the page cache. */
final class SmallFiles {
    /** Ends the name of a file that is being written and not yet in place. */
    static final String UNFINISHED = ".unfinished";

    private SmallFiles() {}

    /** The first {@code lengthMax} bytes of a file, or all of it when it is shorter. */
    static byte[] read(Directory directory, String name, int lengthMax) {
        int descriptor = directory.open(name, PathCalls.O_RDONLY | PathCalls.O_NONBLOCK);
        try {
            return read(descriptor, lengthMax, directory.pathOf(name));
        } finally {
            FileCalls.close(descriptor);
        }
    }

    static byte[] read(int descriptor, int lengthMax, String path) {
        FileStatus status = FileStatus.of(descriptor);
        // Files of /proc say that they are empty, and block devices too.
        long expected = status.kind() == FileStatus.Kind.REGULAR ? Math.max(status.size(), 4096) : lengthMax;
        int length = (int) Math.min(lengthMax, expected);
        try (PageBuffer buffer = PageBuffer.zeroed(length)) {
            int done = 0;
            while (done < length) {
                long result = FileCalls.pread(descriptor, buffer.address() + done, length - done, done);
                if (result == 0) {
                    break;
                }
                if (result > 0) {
                    done += (int) result;
                } else if (!Failures.transientError(result)) {
                    throw Failures.ofRead(result, "pread", path, done);
                }
            }
            return Memory.bytes(buffer.address(), done);
        }
    }

    /** Puts a file with these contents in place, in one step and durably. */
    static void write(Directory directory, String name, byte[] contents) {
        String unfinished = name + UNFINISHED;
        int descriptor = directory.open(unfinished, PathCalls.O_RDWR | PathCalls.O_CREAT | PathCalls.O_TRUNC);
        try {
            write(descriptor, contents, directory.pathOf(unfinished));
            int result;
            do {
                result = FileCalls.fsync(descriptor);
            } while (result == -Errno.EINTR);
            if (result < 0) {
                throw Failures.of(result, "fsync", directory.pathOf(unfinished), -1);
            }
            directory.rename(unfinished, name);
        } finally {
            FileCalls.close(descriptor);
        }
        directory.sync();
    }

    static void write(int descriptor, byte[] contents, String path) {
        try (PageBuffer buffer = PageBuffer.zeroed(contents.length)) {
            Memory.copyFrom(contents, 0, buffer.address(), contents.length);
            int done = 0;
            while (done < contents.length) {
                long result = FileCalls.pwrite(descriptor, buffer.address() + done, contents.length - done, done);
                if (result > 0) {
                    done += (int) result;
                } else if (!Failures.transientError(result)) {
                    throw Failures.of(result == 0 ? -Errno.EIO : result, "pwrite", path, done);
                }
            }
        }
    }
}
