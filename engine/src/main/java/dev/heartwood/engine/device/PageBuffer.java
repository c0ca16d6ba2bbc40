package dev.heartwood.engine.device;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.os.NativeMemory;

/** Whole pages of native memory for one cold operation; zero at first. For one thread. */
final class PageBuffer implements AutoCloseable {
    private final long address;
    private final long length;

    private PageBuffer(long address, long length) {
        this.address = address;
        this.length = length;
    }

    /** At least {@code bytes} bytes. */
    static PageBuffer zeroed(long bytes) {
        long length = Math.max(1, bytes) + BlockDevice.ALIGNMENT - 1 & -BlockDevice.ALIGNMENT;
        long address = NativeMemory.map(
                length,
                NativeMemory.PROT_READ | NativeMemory.PROT_WRITE,
                NativeMemory.MAP_PRIVATE | NativeMemory.MAP_ANONYMOUS,
                -1,
                0);
        if (address < 0) {
            throw new InsufficientMemoryException(
                    "the system grants no mapping of " + length + " bytes: " + Errno.name((int) -address));
        }
        MemoryRegions.addMapping(address, length);
        return new PageBuffer(address, length);
    }

    long address() {
        return address;
    }

    @Override
    public void close() {
        MemoryRegions.remove(address);
        NativeMemory.unmap(address, length);
    }
}
