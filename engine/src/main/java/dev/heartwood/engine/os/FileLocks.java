package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Locks of open file descriptions on whole files. Such a lock belongs to what one call of open made: it conflicts with
 * that of any other open, also in the same process, whatever name the file was opened by, and ends with {@link #close}, or
 * when the last descriptor of that open is closed, at the latest with the process. Thread-safe.
 */
public final class FileLocks {
    private static final int F_OFD_SETLK = 37;
    private static final short F_RDLCK = 0;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;

    /* struct flock on 64-bit Linux: type, whence, start, length, pid. */
    private static final int FLOCK_BYTES = 32;
    private static final int FLOCK_TYPE = 0;

    /* Made once, since a full Java heap must not keep a store from closing; the system only reads them. */
    private static final MemorySegment SHARED = lock(F_RDLCK);
    private static final MemorySegment EXCLUSIVE = lock(F_WRLCK);
    private static final MemorySegment NONE = lock(F_UNLCK);

    private static final MethodHandle FCNTL = NativeLinker.linkVariadic(
            "fcntl", 2, NativeLinker.INT, NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG);

    private FileLocks() {}

    /** Takes the exclusive lock without waiting: 0, or minus errno, EAGAIN or EACCES when it is taken. */
    public static int tryLock(int descriptor) {
        return set(descriptor, EXCLUSIVE);
    }

    /** As {@link #tryLock(int)}, shared: others may hold it shared too. For a file that was opened to be read. */
    public static int tryLockShared(int descriptor) {
        return set(descriptor, SHARED);
    }

    /**
     * Closes a file that may be locked; 0, or minus errno. The lock ends here, and not with the last descriptor of that open: a process that is about to be
     * started has copies of all descriptors for a moment.
     */
    public static int close(int descriptor) {
        // Whatever the answer is: closing gives the lock back as well.
        set(descriptor, NONE);
        return FileCalls.close(descriptor);
    }

    private static int set(int descriptor, MemorySegment lock) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) FCNTL.invokeExact(state, descriptor, F_OFD_SETLK, lock.address());
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    private static MemorySegment lock(short type) {
        // From the start of the file to its end, wherever that will be; whence and pid are 0.
        MemorySegment lock = Arena.global().allocate(FLOCK_BYTES, 8);
        lock.set(ValueLayout.JAVA_SHORT, FLOCK_TYPE, type);
        return lock;
    }
}
