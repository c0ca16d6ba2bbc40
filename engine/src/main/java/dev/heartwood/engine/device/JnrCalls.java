package dev.heartwood.engine.device;

import dev.heartwood.engine.os.MemoryRegions;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.SaveError;

/**
 * The calls of the C library through jnr-ffi. Loaded only when it is asked for, since jnr-ffi is an optional
 * dependency; on the class path only, since jnr-ffi generates code outside of any module that implements
 * {@link CLibrary}.
 */
final class JnrCalls implements DeviceCalls {
    /** The functions, as jnr-ffi binds them by name. A pointer is passed as a long: same size, same registers. */
    public interface CLibrary {
        @SaveError
        long pread(int descriptor, long address, long length, long position);

        @SaveError
        long pwrite(int descriptor, long address, long length, long position);

        @SaveError
        long pwritev(int descriptor, long vector, int count, long position);

        @SaveError
        int fdatasync(int descriptor);

        @SaveError
        int fallocate(int descriptor, int mode, long position, long length);
    }

    private final CLibrary library = LibraryLoader.create(CLibrary.class).load("c");
    private final Runtime runtime = Runtime.getRuntime(library);

    @Override
    public long pread(int descriptor, long address, long length, long position) {
        assert MemoryRegions.contains(address, length);
        return resultOrErrno(library.pread(descriptor, address, length, position));
    }

    @Override
    public long pwrite(int descriptor, long address, long length, long position) {
        assert MemoryRegions.contains(address, length);
        return resultOrErrno(library.pwrite(descriptor, address, length, position));
    }

    @Override
    public long pwritev(int descriptor, long vector, int count, long position) {
        return resultOrErrno(library.pwritev(descriptor, vector, count, position));
    }

    @Override
    public long fdatasync(int descriptor) {
        return resultOrErrno(library.fdatasync(descriptor));
    }

    @Override
    public long fallocate(int descriptor, int mode, long position, long length) {
        return resultOrErrno(library.fallocate(descriptor, mode, position, length));
    }

    private long resultOrErrno(long result) {
        return result == -1 ? -runtime.getLastError() : result;
    }
}
