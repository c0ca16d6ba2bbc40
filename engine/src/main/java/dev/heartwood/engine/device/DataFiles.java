package dev.heartwood.engine.device;

import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileLocks;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.PathCalls;

/** Opens data files, and block special files in their place. */
final class DataFiles {
    private static final String DIRECT_REFUSED =
            "open with O_DIRECT (the file system cannot bypass the page cache; IoMode.BUFFERED goes through it)";

    private DataFiles() {}

    /** Opens and locks an existing file. */
    static OpenFile open(Directory directory, String name, IoMode mode, FileAccess access) {
        // On a block special file O_EXCL, without O_CREAT, refuses while the system itself uses the device.
        boolean special = directory.status(name).kind() == FileStatus.Kind.BLOCK_DEVICE;
        int flags = access.openFlag | direct(mode) | (special ? PathCalls.O_EXCL : 0);
        int descriptor = directory.tryOpen(name, flags);
        if (descriptor < 0) {
            throw refused(descriptor, directory.pathOf(name), mode);
        }
        return checked(directory, name, mode, access, descriptor);
    }

    /** Makes, opens and locks a file that must not exist; a block special file is taken as it is. */
    static OpenFile create(Directory directory, String name, IoMode mode) {
        if (directory.status(name).kind() == FileStatus.Kind.BLOCK_DEVICE) {
            return open(directory, name, mode, FileAccess.WRITE);
        }
        int flags = PathCalls.O_RDWR | direct(mode) | PathCalls.O_CREAT | PathCalls.O_EXCL;
        int descriptor = directory.tryOpen(name, flags);
        if (descriptor == -Errno.EINVAL) {
            directory.delete(name); // Linux makes the file before it finds that O_DIRECT is not possible.
        }
        if (descriptor < 0) {
            throw refused(descriptor, directory.pathOf(name), mode);
        }
        OpenFile file = checked(directory, name, mode, FileAccess.WRITE, descriptor);
        try {
            directory.sync();
            return file;
        } catch (Throwable e) {
            FileLocks.close(descriptor);
            throw e;
        }
    }

    private static OpenFile checked(
            Directory directory, String name, IoMode mode, FileAccess access, int descriptor) {
        String path = directory.pathOf(name);
        try {
            FileStatus status = FileStatus.of(descriptor);
            if (status.errno() != 0) {
                throw Failures.of(-status.errno(), "statx", path, -1);
            }
            int alignment = status.directAlignment();
            if (mode == IoMode.DIRECT && (alignment == 0 || alignment > BlockDevice.ALIGNMENT)) {
                throw refused(-Errno.EINVAL, path, mode);
            }
            StoreLock.lockDataFile(directory, name, descriptor, access);
            boolean special = status.kind() == FileStatus.Kind.BLOCK_DEVICE;
            long size = special ? blockDeviceBytes(descriptor, path) : status.size();
            return new OpenFile(path, descriptor, size, special);
        } catch (Throwable e) {
            FileLocks.close(descriptor);
            throw e;
        }
    }

    /** The size of a block device. */
    static long blockDeviceBytes(int descriptor, String path) {
        long bytes = FileCalls.blockDeviceBytes(descriptor);
        if (bytes < 0) {
            throw Failures.of(bytes, "ioctl (BLKGETSIZE64)", path, -1);
        }
        return bytes;
    }

    private static int direct(IoMode mode) {
        return mode == IoMode.DIRECT ? PathCalls.O_DIRECT : 0;
    }

    private static RuntimeException refused(int result, String path, IoMode mode) {
        if (result == -Errno.EINVAL && mode == IoMode.DIRECT) {
            return new StoreIoException(Errno.EINVAL, Errno.name(Errno.EINVAL), DIRECT_REFUSED, path, -1);
        }
        return Failures.of(result, "open", path, -1);
    }
}
