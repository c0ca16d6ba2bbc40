package dev.heartwood.engine.device;

import dev.heartwood.ClosedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileLocks;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.IoVector;
import java.io.File;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** A block device over one open file, or over a block special file. Which system calls it makes is given to it. */
final class FileDevice implements BlockDevice {
    /*
     * Shared field    read       written             guarded by
     * descriptor      volatile   once, by close      allocationLock
     * size            volatile   volatile            allocationLock
     * discards        volatile   once, to false      -
     * hasHoles        volatile   volatile            - (true also where it may have none)
     * references      plain      plain               allocationLock
     *
     * A closed device shows descriptor -1, so that a late call fails instead of reaching a file that got the same
     * number. For the same reason the file itself stays open until the last queue, which may have handed the number to
     * the kernel or be about to, is closed as well.
     */
    /** Makes the queues of a device. */
    interface Queues {
        IoQueue open(FileDevice device, int depth);

        /** See {@link BlockDevice#queuesOverlap}. */
        default boolean overlap() {
            return false;
        }
    }

    private static final int DEPTH_MAX = 256;
    /** Where the system shows what this process has open. */
    private static final String OPEN_FILES = "/proc/self/fd";

    private final String name;
    private final boolean fixedSize;
    private final DeviceCalls calls;
    private final TransferLoop.Call reads;
    private final TransferLoop.Call writes;
    private final Queues queues;
    private final LongAdder bytesRead = new LongAdder();
    private final LongAdder bytesWritten = new LongAdder();
    private final ReentrantLock allocationLock = new ReentrantLock();
    private final int file;
    /** The most bytes that the file may have by its file system. */
    private final long bytesMax;
    private int references = 1;
    private volatile int descriptor;
    private volatile long size;
    private volatile boolean discards = true;
    private volatile boolean hasHoles;

    /** Takes over {@code file}; {@code queues} makes its queues. */
    FileDevice(OpenFile file, DeviceCalls calls, Queues queues) {
        this(file, calls, calls::pread, queues);
    }

    /** As {@link #FileDevice(OpenFile, DeviceCalls, Queues)}, with reads that are not {@code calls}'s. */
    FileDevice(OpenFile file, DeviceCalls calls, TransferLoop.Call reads, Queues queues) {
        this.name = file.name();
        this.file = file.descriptor();
        this.descriptor = file.descriptor();
        this.fixedSize = file.fixedSize();
        this.size = file.size();
        this.calls = calls;
        this.reads = reads;
        this.writes = calls::pwrite;
        this.queues = queues;
        this.bytesMax = fixedSize ? size : FileCalls.bytesMax(this.file);
        // The blocks that a file has in all do not tell: some are its file system's own.
        this.hasHoles = !fixedSize && size > 0;
        IoVector.initialize();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long available() {
        if (fixedSize) {
            return 0;
        }
        // Of the open file: what was renamed is not by its name any more.
        int current = descriptor;
        long bytes = current < 0 ? 0 : new File(OPEN_FILES, Integer.toString(current)).getUsableSpace();
        bytes = bytes > 0 ? bytes : new File(name).getUsableSpace();
        return Math.clamp(Math.min(bytesMax, FileCalls.bytesMaxOfProcess()) - size, 0, bytes);
    }

    @Override
    public void read(long position, long address, int length) {
        checkAligned(position, address, length);
        TransferLoop.read(reads, open(), position, address, length, name);
        bytesRead.add(length);
    }

    @Override
    public void write(long position, long address, int length) {
        checkAligned(position, address, length);
        TransferLoop.write(writes, open(), position, address, length, name);
        bytesWritten.add(length);
    }

    @Override
    public void writePages(long position, long[] addresses, int count) {
        int done = 0;
        while (done < count) {
            IoVector vector = IoVector.current();
            int end = done;
            while (end < count && vector.add(addresses[end], ALIGNMENT)) {
                checkAligned(position, addresses[end], ALIGNMENT);
                end++;
            }
            done += writeVector(position + (long) done * ALIGNMENT, vector, addresses[done]);
        }
        bytesWritten.add((long) count * ALIGNMENT);
    }

    /** Writes a vector by one call; the whole pages written, at least 1. */
    private int writeVector(long position, IoVector vector, long firstPage) {
        while (true) {
            long result = calls.pwritev(open(), vector.address(), vector.count(), position);
            if (result >= ALIGNMENT) {
                return (int) (result / ALIGNMENT);
            }
            if (result >= 0) {
                // Less than a page: finish that page by itself.
                TransferLoop.write(writes, open(), position, firstPage, ALIGNMENT, name);
                return 1;
            }
            if (!Failures.transientError(result)) {
                throw Failures.of(result, "pwritev", name, position);
            }
            Thread.yield();
        }
    }

    @Override
    public void sync() {
        long result;
        do {
            result = calls.fdatasync(open());
        } while (result == -Errno.EINTR);
        if (result < 0) {
            throw Failures.of(result, "fdatasync", name, -1);
        }
    }

    @Override
    public void allocate(long wanted) {
        allocationLock.lock();
        try {
            if (wanted <= size) {
                return;
            }
            if (fixedSize) {
                throw new NoSpaceException(name + " has " + size + " bytes, and " + wanted + " are needed");
            }
            Preallocation.extend(calls, new OpenFile(name, open(), size, false), size, wanted);
            size = wanted;
        } finally {
            allocationLock.unlock();
        }
    }

    @Override
    public boolean mayHaveHoles() {
        return !fixedSize;
    }

    @Override
    public void discard(long position, long length) {
        if (!discards || length == 0) {
            return;
        }
        int mode = FileCalls.FALLOC_PUNCH_HOLE | FileCalls.FALLOC_KEEP_SIZE;
        hasHoles = !fixedSize;
        long result;
        do {
            result = calls.fallocate(open(), mode, position, length);
        } while (result == -Errno.EINTR);
        if (result == -Errno.EOPNOTSUPP || result == -Errno.ENOSYS) {
            discards = false;
        } else if (result < 0) {
            throw Failures.of(result, "fallocate (punch hole)", name, position);
        }
    }

    @Override
    public void restore(long position, long length) {
        if (!hasHoles) {
            return;
        }
        // Who looks for space may do so while the store is closed, when others may get the same descriptor.
        int held = retain();
        try {
            restore(held, position, length);
        } finally {
            release();
        }
    }

    private void restore(int held, long position, long length) {
        long result;
        do {
            result = calls.fallocate(held, FileCalls.FALLOC_KEEP_SIZE, position, length);
        } while (result == -Errno.EINTR);
        if (result == -Errno.EOPNOTSUPP || result == -Errno.ENOSYS) {
            hasHoles = false;
        } else if (result < 0) {
            StoreException refusal = Failures.of(result, "fallocate", name, position);
            // A full file system may refuse blocks that the range has already, as XFS does.
            if (!(refusal instanceof NoSpaceException) || mayBeHole(held, position, length)) {
                throw refusal;
            }
        }
    }

    /** Whether part of a range may be a hole. A file system that does not say where holes are knows of none where there must be some. */
    private boolean mayBeHole(int held, long position, long length) {
        boolean mustHaveSome = FileStatus.of(held).allocatedBytes() < size;
        return FileCalls.nextHole(held, position) < position + length || mustHaveSome && FileCalls.nextHole(held, 0) >= size;
    }

    @Override
    public IoQueue newQueue(int depth) {
        if (depth < 1 || depth > DEPTH_MAX) {
            throw new IllegalArgumentException("a queue of depth " + depth + ", not within 1.." + DEPTH_MAX);
        }
        open();
        return queues.open(this, depth);
    }

    @Override
    public boolean queuesOverlap() {
        return queues.overlap();
    }

    @Override
    public long bytesRead() {
        return bytesRead.sum();
    }

    @Override
    public long bytesWritten() {
        return bytesWritten.sum();
    }

    @Override
    public void close() {
        allocationLock.lock();
        try {
            if (descriptor >= 0) {
                descriptor = -1;
                release();
            }
        } finally {
            allocationLock.unlock();
        }
    }

    /** The descriptor, which stays open until {@link #release}. */
    int retain() {
        allocationLock.lock();
        try {
            int current = open();
            references++;
            return current;
        } finally {
            allocationLock.unlock();
        }
    }

    /** Ends a {@link #retain}. */
    void release() {
        allocationLock.lock();
        try {
            if (--references == 0) {
                FileLocks.close(file);
            }
        } finally {
            allocationLock.unlock();
        }
    }

    /** The descriptor; refuses when the device is closed. */
    int open() {
        int current = descriptor;
        if (current < 0) {
            throw new ClosedException(name);
        }
        return current;
    }

    void countRead(long bytes) {
        bytesRead.add(bytes);
    }

    void countWritten(long bytes) {
        bytesWritten.add(bytes);
    }

    static void checkAligned(long position, long address, int length) {
        if (((position | address | length) & ALIGNMENT - 1) != 0 || position < 0 || length <= 0) {
            throw new IllegalArgumentException("not aligned to " + ALIGNMENT + ": position " + position + ", address "
                    + address + ", length " + length);
        }
    }
}
