package dev.heartwood.engine.device;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.os.NativeMemory;
import dev.heartwood.engine.os.PathCalls;
import java.util.concurrent.atomic.AtomicBoolean;

/** A file mapped shared. The mapping alone is kept: the descriptor is closed as soon as it is made. */
final class MappedSegment implements MappedFile {
    /*
     * A store into a mapped page that has no block on a full device, or a load from one that cannot be read, would be
     * a SIGBUS. So blocks are allocated and pages are populated before anyone gets the address: the kernel then
     * answers with an error. A file that is there to be read is populated up to the first page that cannot be.
     */
    /** The system's, too, where Heartwood runs. */
    private static final int PAGE_BYTES = 4096;

    private final String name;
    private final long address;
    private final long length;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** What may be touched; it alone is known as memory. */
    private long windowBegin;

    private long windowEnd;
    /** Nothing may be touched, and nothing is known as memory. */
    private boolean isAtRest;

    private MappedSegment(String name, long address, long length, long window) {
        this.name = name;
        this.address = address;
        this.length = length;
        this.windowEnd = window;
    }

    /** See {@link Storage#openMapped}. */
    static MappedSegment create(Directory directory, String name, long length, long window) {
        if (length <= 0 || length % PAGE_BYTES != 0) {
            throw new IllegalArgumentException("a mapped file of " + length + " bytes");
        }
        if (window <= 0 || window > length || window % PAGE_BYTES != 0) {
            throw new IllegalArgumentException("a window of " + window + " of " + length + " bytes");
        }
        boolean existed = directory.status(name).errno() == 0;
        int descriptor = directory.open(name, PathCalls.O_RDWR | PathCalls.O_CREAT);
        try {
            resize(descriptor, length, directory.pathOf(name));
            return mapWindow(descriptor, length, window, directory.pathOf(name));
        } catch (Throwable e) {
            if (!existed) {
                directory.delete(name);
            }
            throw e;
        } finally {
            FileCalls.close(descriptor);
        }
    }

    /** See {@link Storage#openMappedExisting}. */
    static MappedSegment open(Directory directory, String name, FileAccess access) {
        String path = directory.pathOf(name);
        int descriptor = directory.open(name, access.openFlag);
        try {
            long length = lengthOf(descriptor, path);
            return length == 0 ? new MappedSegment(path, 0, 0, 0) : mapReadable(descriptor, length, access, path);
        } finally {
            FileCalls.close(descriptor);
        }
    }

    /** See {@link Storage#openAtRest}. */
    static MappedSegment openAtRest(Directory directory, String name, FileAccess access) {
        String path = directory.pathOf(name);
        int descriptor = directory.open(name, access.openFlag);
        try {
            long length = lengthOf(descriptor, path);
            MappedSegment file = new MappedSegment(path, length == 0 ? 0 : map(descriptor, length, access, path), length, 0);
            file.isAtRest = true;
            return file;
        } finally {
            FileCalls.close(descriptor);
        }
    }

    /** See {@link Storage#openRewritten}. */
    static MappedSegment openRewritten(Directory directory, String name) {
        MappedSegment file = open(directory, name, FileAccess.WRITE);
        try {
            rewrite(file.address, file.windowEnd, file.name);
            file.rest();
            return file;
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    private static long lengthOf(int descriptor, String path) {
        FileStatus status = FileStatus.of(descriptor);
        if (status.errno() != 0) {
            throw Failures.of(-status.errno(), "statx", path, -1);
        }
        return status.size() + PAGE_BYTES - 1 & -PAGE_BYTES;
    }

    private static void resize(int descriptor, long length, String path) {
        FileStatus status = FileStatus.of(descriptor);
        if (status.errno() != 0) {
            throw Failures.of(-status.errno(), "statx", path, -1);
        }
        if (status.size() > length) {
            int result = Preallocation.truncate(descriptor, length);
            if (result < 0) {
                throw Failures.of(result, "ftruncate", path, length);
            }
        }
        if (status.size() != length || status.allocatedBytes() < length) {
            // From 0, to fill holes too.
            long size = Math.min(status.size(), length);
            Preallocation.extend(DeviceBinding.POSIX.calls(), new OpenFile(path, descriptor, size, false), 0, length);
        }
    }

    private static MappedSegment mapWindow(int descriptor, long length, long window, String path) {
        long address = map(descriptor, length, FileAccess.WRITE, path);
        try {
            MemoryRegions.add(address, window);
        } catch (Throwable e) {
            NativeMemory.unmap(address, length);
            throw e;
        }
        try {
            populate(address, window, path);
            return new MappedSegment(path, address, length, window);
        } catch (Throwable e) {
            MemoryRegions.remove(address);
            NativeMemory.unmap(address, length);
            throw e;
        }
    }

    private static MappedSegment mapReadable(int descriptor, long length, FileAccess access, String path) {
        long address = map(descriptor, length, access, path);
        try {
            MappedSegment file = new MappedSegment(path, address, length, populateReadable(descriptor, address, length, path));
            MemoryRegions.add(address, file.windowEnd);
            return file;
        } catch (Throwable e) {
            NativeMemory.unmap(address, length);
            throw e;
        }
    }

    /** Brings what can be read into memory, up to the first page that the device does not give, and returns where that begins. */
    static long populateReadable(int descriptor, long address, long length, String path) {
        long readable = 0;
        long step = length;
        while (readable < length) {
            int result = advise(address + readable, step, NativeMemory.MADV_POPULATE_READ);
            if (result == -Errno.EINVAL) {
                return readThrough(DeviceBinding.POSIX.calls(), descriptor, length, path);
            } else if (result == 0) {
                readable += step;
            } else if (result == -Errno.EFAULT && step > PAGE_BYTES) {
                step = PAGE_BYTES;
            } else if (result == -Errno.EFAULT && readable > 0) {
                return readable;
            } else {
                throw Failures.ofRead(result == -Errno.EFAULT ? -Errno.EIO : result, "madvise (populate)", path, readable);
            }
        }
        return readable;
    }

    /**
     * What populating for reads does, for kernels before 5.14: what is read through the system's cache is there then. Touching a page that the
     * device does not give would end the process.
     */
    static long readThrough(DeviceCalls calls, int descriptor, long length, String path) {
        try (PageBuffer buffer = PageBuffer.zeroed(PAGE_BYTES)) {
            for (long page = 0; page < length; page += PAGE_BYTES) {
                long result;
                do {
                    result = calls.pread(descriptor, buffer.address(), PAGE_BYTES, page);
                } while (Failures.transientError(result));
                if (page > 0 && (result == 0 || result == -Errno.EIO)) {
                    return page;
                }
                if (result <= 0) {
                    throw Failures.ofRead(result == 0 ? -Errno.EIO : result, "pread", path, page);
                }
            }
            return length;
        }
    }

    private static int advise(long address, long length, int advice) {
        int result;
        do {
            result = NativeMemory.advise(address, length, advice);
        } while (Failures.transientError(result));
        return result;
    }

    private static long map(int descriptor, long length, FileAccess access, String path) {
        long address = NativeMemory.map(length, access.protection, NativeMemory.MAP_SHARED, descriptor, 0);
        if (address == -Errno.ENOMEM) {
            throw Failures.ofRead(address, "mmap", path, -1);
        }
        if (address < 0) {
            throw Failures.of(address, "mmap", path, -1);
        }
        return address;
    }

    private static void populate(long address, long length, String path) {
        int result = advise(address, length, NativeMemory.MADV_POPULATE_WRITE);
        if (result == -Errno.EINVAL) {
            touch(address, length);
        } else if (result < 0) {
            // EFAULT stands for what would have been a SIGBUS: the device failed.
            throw Failures.of(result == -Errno.EFAULT ? -Errno.EIO : result, "madvise (populate)", path, -1);
        }
    }

    /** What populating does, by hand, for kernels before 5.14. Nobody else has the address yet. */
    static void touch(long address, long length) {
        for (long page = 0; page < length; page += PAGE_BYTES) {
            Memory.putByte(address + page, Memory.getByte(address + page));
        }
    }

    /** Has the system take every page for changed, but for those of zeroes. */
    private static void rewrite(long address, long length, String path) {
        for (long page = address; page < address + length; page += PAGE_BYTES) {
            if (!isZero(page)) {
                // By the system first, which answers with an error where a store would be a SIGBUS.
                populate(page, PAGE_BYTES, path);
                touch(page, PAGE_BYTES);
            }
        }
    }

    /** Word by word: of the ways to read memory that is one in which a page that cannot be read is an error, and not the end of the JVM. */
    private static boolean isZero(long page) {
        for (long at = page; at < page + PAGE_BYTES; at += Long.BYTES) {
            if (Memory.getLong(at) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long windowEnd() {
        return windowEnd;
    }

    @Override
    public void slide(long begin, long end) {
        if (begin < windowBegin || end < windowEnd || begin > end || end > length || (begin | end) % PAGE_BYTES != 0) {
            throw new IllegalArgumentException("a window from " + begin + " to " + end + " of " + length + " bytes");
        }
        if (closed.get()) {
            throw new ClosedException(name);
        }
        if (isAtRest) {
            throw new IllegalStateException(name + " is at rest");
        }
        MemoryRegions.move(address + windowBegin, address + windowBegin, end - windowBegin);
        try {
            populate(address + windowEnd, end - windowEnd, name);
        } catch (Throwable e) {
            MemoryRegions.move(address + windowBegin, address + windowBegin, windowEnd - windowBegin);
            throw e;
        }
        MemoryRegions.move(address + windowBegin, address + begin, end - begin);
        if (begin > windowBegin) {
            // What was stored there is in the file, as after unmapping. A kernel that does not let go of it only keeps the memory.
            NativeMemory.advise(address + windowBegin, begin - windowBegin, NativeMemory.MADV_DONTNEED);
        }
        windowBegin = begin;
        windowEnd = end;
    }

    @Override
    public void rest() {
        if (!isAtRest && !closed.get() && length > 0) {
            MemoryRegions.remove(address + windowBegin);
            isAtRest = true;
            // As in slide: what cannot be let go of stays memory that nobody uses.
            NativeMemory.advise(address + windowBegin, windowEnd - windowBegin, NativeMemory.MADV_DONTNEED);
            windowBegin = windowEnd;
        }
    }

    @Override
    public void sync(long offset, long bytes) {
        if (offset < 0 || bytes < 0 || offset + bytes > length) {
            throw new IllegalArgumentException("range " + offset + " + " + bytes + " of " + length + " bytes");
        }
        if (closed.get()) {
            throw new ClosedException(name);
        }
        long start = offset & -PAGE_BYTES;
        long end = offset + bytes + PAGE_BYTES - 1 & -PAGE_BYTES;
        int result;
        do {
            result = NativeMemory.sync(address + start, end - start);
        } while (result == -Errno.EINTR);
        if (result < 0) {
            throw Failures.of(result, "msync", name, offset);
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && length > 0) {
            try {
                if (!isAtRest) {
                    MemoryRegions.remove(address + windowBegin);
                    isAtRest = true;
                }
                NativeMemory.unmap(address, length);
            } catch (Throwable e) {
                // A full Java heap: who closes it again unmaps it.
                closed.set(false);
                throw e;
            }
        }
    }
}
