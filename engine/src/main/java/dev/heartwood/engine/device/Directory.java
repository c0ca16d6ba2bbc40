package dev.heartwood.engine.device;

import dev.heartwood.ClosedException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.PathCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A directory and the names in it. It is opened once, at the first use, and its files are reached through that
 * descriptor, so renaming it does no harm. Thread-safe.
 */
final class Directory implements AutoCloseable {
    private static final int MODE_DIRECTORY = 0777;
    private static final int MODE_FILE = 0666;
    private static final int UNOPENED = -1;
    private static final int CLOSED = -2;

    private final Path path;
    private final ReentrantLock lock = new ReentrantLock();
    /** Read without the lock, written under it. */
    private volatile int descriptor = UNOPENED;

    /** Whether the names of the directory, and of those above it, are durable. Two threads may both find that they are not. */
    private volatile boolean isFoundDurably;

    Directory(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    /** Whether it has been opened, or there is something by its path. */
    boolean exists() {
        return descriptor >= 0 || isThere(path);
    }

    private static boolean isThere(Path path) {
        int errno = FileStatus.of(PathCalls.WORKING_DIRECTORY, path.toString()).errno();
        // Below what is no directory: opening it says so.
        if (errno != 0 && errno != Errno.ENOENT && errno != Errno.ENOTDIR) {
            throw Failures.of(-errno, "statx", path.toString(), -1);
        }
        return errno != Errno.ENOENT;
    }

    /** Makes the directory, and those above it, where they are missing; durably. */
    void make() {
        make(path);
        descriptor();
    }

    private static void make(Path path) {
        Path parent = path.getParent();
        if (isThere(path) || parent == null) {
            return;
        }
        make(parent);
        int result;
        do {
            result = PathCalls.makeDirectory(PathCalls.WORKING_DIRECTORY, path.toString(), MODE_DIRECTORY);
        } while (result == -Errno.EINTR);
        if (result < 0 && result != -Errno.EEXIST) {
            throw Failures.of(result, "mkdir", path.toString(), -1);
        }
        try (Directory above = new Directory(parent)) {
            above.syncEntries();
        }
    }

    /** The path of a file, for errors. */
    String pathOf(String name) {
        return path.resolve(name).toString();
    }

    FileStatus status(String name) {
        return FileStatus.of(descriptor(), name);
    }

    /** Opens a file, making it with O_CREAT; the descriptor, or minus errno. */
    int tryOpen(String name, int flags) {
        int result;
        do {
            result = PathCalls.open(descriptor(), name, flags, MODE_FILE);
        } while (result == -Errno.EINTR);
        return result;
    }

    /** As {@link #tryOpen}; throws when it fails. */
    int open(String name, int flags) {
        int result = tryOpen(name, flags);
        if (result < 0) {
            throw Failures.of(result, "open", pathOf(name), -1);
        }
        return result;
    }

    /** The names in the directory, in no order. */
    List<String> list() {
        List<String> names = new ArrayList<>();
        // A listing moves the position of what was opened, so it opens the directory for itself.
        int listed = open(".", PathCalls.O_RDONLY | PathCalls.O_DIRECTORY);
        try {
            int result;
            do {
                result = PathCalls.list(listed, names);
            } while (result == -Errno.EINTR);
            if (result < 0) {
                throw Failures.of(result, "getdents", path.toString(), -1);
            }
            return names;
        } finally {
            FileCalls.close(listed);
        }
    }

    void rename(String from, String to) {
        int result;
        do {
            result = PathCalls.rename(descriptor(), from, to);
        } while (result == -Errno.EINTR);
        if (result < 0) {
            throw Failures.of(result, "rename", pathOf(from), -1);
        }
    }

    /** Removes a file; one that is not there is removed already. */
    void delete(String name) {
        int result;
        do {
            result = PathCalls.unlink(descriptor(), name);
        } while (result == -Errno.EINTR);
        if (result < 0 && result != -Errno.ENOENT) {
            throw Failures.of(result, "unlink", pathOf(name), -1);
        }
    }

    /** Returns once the names in the directory are durable, and, the first time, those by which it is found. */
    void sync() {
        if (!isFoundDurably) {
            syncAbove();
            isFoundDurably = true;
        }
        syncEntries();
    }

    private void syncEntries() {
        int result;
        do {
            result = FileCalls.fsync(descriptor());
        } while (result == -Errno.EINTR);
        if (result < 0) {
            throw Failures.of(result, "fsync", path.toString(), -1);
        }
    }

    /**
     * Returns once the directory's own name, and those of the ones above it, are durable, as far as that is for this process to see to: whoever
     * made them may have died before they were. Some may be searched and not read, be renamed meanwhile, or lie in a file system that has nothing
     * to be made durable. Only what a device fails to write is an error.
     */
    private void syncAbove() {
        for (Path above = realPath().getParent(); above != null; above = above.getParent()) {
            try (Directory named = new Directory(above)) {
                named.syncEntries();
            } catch (StoreException e) {
                if (e instanceof StoreIoException failure && failure.errno() == Errno.EIO) {
                    throw e;
                }
            }
        }
    }

    /** Where the directory is by names of which none is a link, as far as that can be found out. */
    private Path realPath() {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            return path;
        }
    }

    private int descriptor() {
        int current = descriptor;
        return current >= 0 ? current : openDescriptor();
    }

    private int openDescriptor() {
        lock.lock();
        try {
            if (descriptor == CLOSED) {
                throw new ClosedException(path.toString());
            }
            if (descriptor == UNOPENED) {
                int result;
                do {
                    result = PathCalls.open(
                            PathCalls.WORKING_DIRECTORY,
                            path.toString(),
                            PathCalls.O_RDONLY | PathCalls.O_DIRECTORY,
                            0);
                } while (result == -Errno.EINTR);
                if (result == -Errno.ENOTDIR) {
                    throw new NotAStoreException(path.toString(), "not a directory");
                }
                if (result < 0) {
                    throw Failures.of(result, "open", path.toString(), -1);
                }
                descriptor = result;
            }
            return descriptor;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (descriptor >= 0) {
                FileCalls.close(descriptor);
            }
            descriptor = CLOSED;
        } finally {
            lock.unlock();
        }
    }
}
