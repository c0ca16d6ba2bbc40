package dev.heartwood.engine.device;

/**
 * The system calls that move the bytes of a data file. Each call is made once: it may be interrupted or transfer less
 * than asked, and returns the bytes transferred, 0 on success without a transfer, or minus errno. Thread-safe.
 */
interface DeviceCalls {
    /** Reads {@code length} bytes at {@code position} to {@code address}; 0 at the end of the file. */
    long pread(int descriptor, long address, long length, long position);

    /** Writes {@code length} bytes at {@code position} from {@code address}. */
    long pwrite(int descriptor, long address, long length, long position);

    /** Writes {@code count} structures iovec at {@code vector} at {@code position}. */
    long pwritev(int descriptor, long vector, int count, long position);

    /** Makes the file's contents durable. */
    long fdatasync(int descriptor);

    /** Allocates or gives back a range. */
    long fallocate(int descriptor, int mode, long position, long length);
}
