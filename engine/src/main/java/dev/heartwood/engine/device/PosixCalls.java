package dev.heartwood.engine.device;

import dev.heartwood.engine.os.FileCalls;

/** The calls of the C library through the Foreign Function and Memory API. */
final class PosixCalls implements DeviceCalls {
    @Override
    public long pread(int descriptor, long address, long length, long position) {
        return FileCalls.pread(descriptor, address, length, position);
    }

    @Override
    public long pwrite(int descriptor, long address, long length, long position) {
        return FileCalls.pwrite(descriptor, address, length, position);
    }

    @Override
    public long pwritev(int descriptor, long vector, int count, long position) {
        return FileCalls.pwritev(descriptor, vector, count, position);
    }

    @Override
    public long fdatasync(int descriptor) {
        return FileCalls.fdatasync(descriptor);
    }

    @Override
    public long fallocate(int descriptor, int mode, long position, long length) {
        return FileCalls.fallocate(descriptor, mode, position, length);
    }
}
