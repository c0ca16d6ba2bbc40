package dev.heartwood.engine.os;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Mappings of memory and files. All calls return what the C function returns, or minus errno. Thread-safe. */
public final class NativeMemory {
    public static final int PROT_READ = 1;
    public static final int PROT_WRITE = 2;
    public static final int MAP_SHARED = 0x01;
    public static final int MAP_PRIVATE = 0x02;
    public static final int MAP_ANONYMOUS = 0x20;
    public static final int MAP_POPULATE = 0x8000;
    public static final int MADV_DONTNEED = 4;
    public static final int MADV_HUGEPAGE = 14;
    public static final int MADV_POPULATE_READ = 22;
    public static final int MADV_POPULATE_WRITE = 23;
    public static final int MS_SYNC = 4;

    private static final MethodHandle MMAP = NativeLinker.link(
            "mmap",
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.INT,
            NativeLinker.INT,
            NativeLinker.INT,
            NativeLinker.LONG);
    private static final MethodHandle MUNMAP =
            NativeLinker.link("munmap", NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG);
    private static final MethodHandle MADVISE =
            NativeLinker.link("madvise", NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG, NativeLinker.INT);
    private static final MethodHandle MSYNC =
            NativeLinker.link("msync", NativeLinker.INT, NativeLinker.LONG, NativeLinker.LONG, NativeLinker.INT);
    private static final MethodHandle GETPAGESIZE = NativeLinker.link("getpagesize", NativeLinker.INT);

    private NativeMemory() {}

    /** The bytes of the pages in which the system maps memory. */
    static int pageBytes() {
        try {
            return (int) GETPAGESIZE.invokeExact(NativeLinker.state());
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Maps memory; the address, or minus errno. The kernel chooses the address. */
    public static long map(long length, int protection, int flags, int descriptor, long offset) {
        MemorySegment state = NativeLinker.state();
        try {
            long result = (long) MMAP.invokeExact(state, 0L, length, protection, flags, descriptor, offset);
            return NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Undoes {@link #map} for a range of whole pages. */
    public static int unmap(long address, long length) {
        assert MemoryRegions.isUnknown(address, length);
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) MUNMAP.invokeExact(state, address, length);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Tells the kernel how a range will be used, or has it populated. */
    public static int advise(long address, long length, int advice) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) MADVISE.invokeExact(state, address, length, advice);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Writes the changed pages of a shared file mapping to the device. */
    public static int sync(long address, long length) {
        MemorySegment state = NativeLinker.state();
        try {
            int result = (int) MSYNC.invokeExact(state, address, length, MS_SYNC);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }
}
