package dev.heartwood.engine.device;

import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileLocks;
import dev.heartwood.engine.os.PathCalls;
import java.nio.charset.StandardCharsets;

/**
 * The lock on a store: an open-file-description lock on the file {@value #NAME} in its directory, which holds the
 * process number of the holder in decimal. The lock follows the file and not its name, so other paths to it meet the
 * same lock; it ends with the process. The file stays when the lock is given back, because removing it would race with
 * the next holder.
 */
final class StoreLock implements AutoCloseable {
    static final String NAME = "LOCK";

    private static final int PID_DIGITS_MAX = 20;

    /*
     * The kernel finishes what a killed process had under way in a queue after the process is gone, and holds the file, with
     * its lock, until then. Whoever opens the store must wait for that: those writes still reach the file.
     */
    private static final long FINISH_NANOS_MAX = 2_000_000_000L;
    private static final long FINISH_POLL_NANOS = 1_000_000L;

    private static final int NONE = -1;

    private int descriptor;

    private StoreLock(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Takes the lock.
     *
     * @param access for {@link FileAccess#READ} a file system that is read-only, full or fails to write will do, and files that nobody, or not this
     *     user, may write
     * @throws LockedException when another open of the file holds it
     */
    static StoreLock take(Directory directory, FileAccess access) {
        int descriptor = directory.tryOpen(NAME, PathCalls.O_RDWR | PathCalls.O_CREAT);
        if (access == FileAccess.READ && mayBeShared(descriptor)) {
            return share(directory);
        }
        if (descriptor < 0) {
            throw Failures.of(descriptor, "open", directory.pathOf(NAME), -1);
        }
        try {
            check(tryLock(descriptor, FileAccess.WRITE), directory, NAME);
            writeNumber(descriptor, directory, access);
            return new StoreLock(descriptor);
        } catch (Throwable e) {
            FileLocks.close(descriptor);
            throw e;
        }
    }

    private static boolean mayBeShared(int failure) {
        return switch (-failure) {
            case Errno.EROFS, Errno.EACCES, Errno.EPERM, Errno.ENOSPC, Errno.EDQUOT -> true;
            default -> false;
        };
    }

    /** Of use only to people: on a full disk they do without, and who only reads does so whatever the system says. */
    private static void writeNumber(int descriptor, Directory directory, FileAccess access) {
        byte[] pid = Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII);
        try {
            int result = Preallocation.truncate(descriptor, 0);
            if (result < 0) {
                throw Failures.of(result, "ftruncate", directory.pathOf(NAME), -1);
            }
            SmallFiles.write(descriptor, pid, directory.pathOf(NAME));
        } catch (StoreException e) {
            if (access == FileAccess.WRITE && !(e instanceof NoSpaceException)) {
                throw e;
            }
        }
    }

    /**
     * The lock where nothing can be written: shared with others who read. Somebody may have the store open all the same, by a mount
     * of the file system that is not read-only. Without a lock file there is only that of the data to meet them at.
     */
    private static StoreLock share(Directory directory) {
        int descriptor = directory.tryOpen(NAME, PathCalls.O_RDONLY);
        if (descriptor == -Errno.ENOENT) {
            return new StoreLock(NONE);
        }
        if (descriptor < 0) {
            throw Failures.of(descriptor, "open", directory.pathOf(NAME), -1);
        }
        try {
            check(tryLock(descriptor, FileAccess.READ), directory, NAME);
            return new StoreLock(descriptor);
        } catch (Throwable e) {
            FileLocks.close(descriptor);
            throw e;
        }
    }

    /**
     * Locks another open file of the store in the same way, so that another name of that file alone is met too. The store's own
     * lock is held; what a killed process had under way is waited for.
     */
    static void lockDataFile(Directory directory, String name, int descriptor, FileAccess access) {
        long begin = Clock.SYSTEM.nanoTime();
        int result = tryLock(descriptor, access);
        while (result == -Errno.EAGAIN && Clock.SYSTEM.nanoTime() - begin < FINISH_NANOS_MAX) {
            Clock.SYSTEM.parkNanos(FINISH_POLL_NANOS);
            result = tryLock(descriptor, access);
        }
        check(result, directory, name);
    }

    private static int tryLock(int descriptor, FileAccess access) {
        int result;
        do {
            result = access.tryLock(descriptor);
        } while (result == -Errno.EINTR);
        return result;
    }

    private static void check(int result, Directory directory, String name) {
        if (result == -Errno.EAGAIN || result == -Errno.EACCES) {
            throw new LockedException(directory.path().toString(), holder(directory));
        }
        if (result < 0) {
            throw Failures.of(result, "fcntl (lock)", directory.pathOf(name), -1);
        }
    }

    /** The process number in the lock file, or -1 when there is none to read. */
    private static long holder(Directory directory) {
        int descriptor = directory.tryOpen(NAME, PathCalls.O_RDONLY);
        if (descriptor < 0) {
            return -1;
        }
        try {
            byte[] text = SmallFiles.read(descriptor, PID_DIGITS_MAX, directory.pathOf(NAME));
            return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
        } catch (NumberFormatException e) {
            return -1; // The holder has not written it yet.
        } finally {
            FileCalls.close(descriptor);
        }
    }

    /** Gives the lock back. The number in the file, of use only to people, is removed if that can be done. */
    @Override
    public void close() {
        if (descriptor >= 0) {
            try {
                FileCalls.ftruncate(descriptor, 0);
            } finally {
                FileLocks.close(descriptor);
                descriptor = NONE;
            }
        }
    }
}
