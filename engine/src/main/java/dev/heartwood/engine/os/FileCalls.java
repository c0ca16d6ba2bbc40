package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls on an open file. Each is one call of the C library, which may be interrupted or transfer less than asked, and
 * returns what that returns, or minus errno. Thread-safe; no allocation except where noted.
 */
public final class FileCalls {
    /** Of {@link #fallocate}: allocate without changing the size. */
    public static final int FALLOC_KEEP_SIZE = 1;

    /** Of {@link #fallocate}, with {@link #FALLOC_KEEP_SIZE}: give the range back. */
    public static final int FALLOC_PUNCH_HOLE = 2;

    private static final int IOCTL_BLKGETSIZE64 = 0x80081272;
    private static final int RLIMIT_FSIZE = 1;
    private static final int SEEK_SET = 0;
    private static final int SEEK_HOLE = 4;

    private static final MethodHandle PREAD = NativeLinker.link(
            "pread", NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG, NativeLinker.LONG);
    private static final MethodHandle PWRITE = NativeLinker.link(
            "pwrite", NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG, NativeLinker.LONG);
    private static final MethodHandle PWRITEV = NativeLinker.link(
            "pwritev", NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG);
    private static final MethodHandle FALLOCATE = NativeLinker.link(
            "fallocate", NativeLinker.INT, NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG);
    private static final MethodHandle FTRUNCATE =
            NativeLinker.link("ftruncate", NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG);
    private static final MethodHandle FDATASYNC = NativeLinker.link("fdatasync", NativeLinker.INT, NativeLinker.INT);
    private static final MethodHandle FSYNC = NativeLinker.link("fsync", NativeLinker.INT, NativeLinker.INT);
    private static final MethodHandle CLOSE = NativeLinker.link("close", NativeLinker.INT, NativeLinker.INT);
    private static final MethodHandle LSEEK = NativeLinker.link(
            "lseek", NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT);
    private static final MethodHandle GETRLIMIT =
            NativeLinker.link("getrlimit", NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG);
    private static final MethodHandle IOCTL = NativeLinker.linkVariadic(
            "ioctl", 2, NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG);

    private FileCalls() {}

    /** Reads into native memory of the engine; 0 at the end of the file. */
    public static long pread(int descriptor, long address, long length, long position) {
        assert MemoryRegions.contains(address, length);
        return transfer(PREAD, descriptor, address, length, position);
    }

    /** Writes native memory of the engine. */
    public static long pwrite(int descriptor, long address, long length, long position) {
        assert MemoryRegions.contains(address, length);
        return transfer(PWRITE, descriptor, address, length, position);
    }

    /** Writes {@code count} pieces of an {@link IoVector} one after another. */
    public static long pwritev(int descriptor, long vector, int count, long position) {
        MemorySegment state = NativeLinker.state();
        try {
            long result = (long) PWRITEV.invokeExact(state, descriptor, vector, count, position);
            return NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    private static long transfer(MethodHandle call, int descriptor, long address, long length, long position) {
        MemorySegment state = NativeLinker.state();
        try {
            long result = (long) call.invokeExact(state, descriptor, address, length, position);
            return NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Allocates, or gives back, the blocks of a range. */
    public static int fallocate(int descriptor, int mode, long position, long length) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) FALLOCATE.invokeExact(state, descriptor, mode, position, length);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Sets the size of the file. */
    public static int ftruncate(int descriptor, long size) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) FTRUNCATE.invokeExact(state, descriptor, size);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Makes the contents durable, and of the metadata what reading them back needs. */
    public static int fdatasync(int descriptor) {
        return onDescriptor(FDATASYNC, descriptor);
    }

    /** Makes contents and metadata durable; of a directory, its entries. */
    public static int fsync(int descriptor) {
        return onDescriptor(FSYNC, descriptor);
    }

    /** Closes the descriptor, which is closed also when this fails. */
    public static int close(int descriptor) {
        return onDescriptor(CLOSE, descriptor);
    }

    private static int onDescriptor(MethodHandle call, int descriptor) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) call.invokeExact(state, descriptor);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** The size of a block device in bytes. Allocates. */
    public static long blockDeviceBytes(int descriptor) {
        MemorySegment state = NativeLinker.state();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(NativeLinker.LONG);
            int result = (int) IOCTL.invokeExact(
                    state, descriptor, Integer.toUnsignedLong(IOCTL_BLKGETSIZE64), size.address());
            long error = NativeLinker.resultOrErrno(result, state);
            return error < 0 ? error : size.get(NativeLinker.LONG, 0);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** The most bytes that a file may have by its file system, which takes no position beyond. */
    public static long bytesMax(int descriptor) {
        long longest = 0;
        for (long bit = Long.MIN_VALUE >>> 1; bit > 0; bit >>>= 1) {
            longest |= seek(descriptor, longest | bit, SEEK_SET) >= 0 ? bit : 0;
        }
        return longest;
    }

    /** Where the next range without contents of its own begins, from {@code position} on; the end of the file where none does. */
    public static long nextHole(int descriptor, long position) {
        return seek(descriptor, position, SEEK_HOLE);
    }

    /** Sets the position of the descriptor, which no other call here heeds; returns it. */
    private static long seek(int descriptor, long position, int whence) {
        MemorySegment state = NativeLinker.state();
        try {
            long result = (long) LSEEK.invokeExact(state, descriptor, position, whence);
            return NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** The most bytes to which this process may make a file longer now. Allocates. */
    public static long bytesMaxOfProcess() {
        MemorySegment state = NativeLinker.state();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limits = arena.allocate(NativeLinker.LONG, 2);
            int result = (int) GETRLIMIT.invokeExact(state, RLIMIT_FSIZE, limits.address());
            long soft = limits.get(NativeLinker.LONG, 0);
            return result < 0 || soft < 0 ? Long.MAX_VALUE : soft;
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }
}
