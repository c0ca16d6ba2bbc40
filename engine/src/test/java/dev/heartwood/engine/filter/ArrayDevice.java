package dev.heartwood.engine.filter;

import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A device that keeps its pages in arrays. Thread-safe. */
final class ArrayDevice implements BlockDevice {
    private final Map<Long, byte[]> pages = new ConcurrentHashMap<>();
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final long sizeMax;
    private final AtomicLong writesLeft = new AtomicLong(Long.MAX_VALUE);
    private volatile long size;

    ArrayDevice(long sizeMax) {
        this.sizeMax = sizeMax;
    }

    /** Makes every write fail after the next {@code count}. */
    void failWritesAfter(long count) {
        writesLeft.set(count);
    }

    /** Flips one bit of the file. */
    void flip(long bit) {
        byte[] page = pages.get(bit / (8L * ALIGNMENT));
        page[(int) (bit / 8 % ALIGNMENT)] ^= (byte) (1 << bit % 8);
    }

    @Override
    public String name() {
        return "array";
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public void read(long position, long address, int length) {
        for (int i = 0; i < length; i += ALIGNMENT) {
            byte[] page = pages.get((position + i) / ALIGNMENT);
            if (page == null) {
                Memory.fill(address + i, ALIGNMENT, 0);
            } else {
                Memory.copyFrom(page, 0, address + i, ALIGNMENT);
            }
        }
        read.addAndGet(length);
    }

    @Override
    public void write(long position, long address, int length) {
        if (writesLeft.getAndDecrement() <= 0) {
            throw new StoreIoException(5, "EIO", "write", "array", position);
        }
        for (int i = 0; i < length; i += ALIGNMENT) {
            pages.put((position + i) / ALIGNMENT, Memory.bytes(address + i, ALIGNMENT));
        }
        written.addAndGet(length);
    }

    @Override
    public void writePages(long position, long[] addresses, int count) {
        for (int i = 0; i < count; i++) {
            write(position + (long) i * ALIGNMENT, addresses[i], ALIGNMENT);
        }
    }

    @Override
    public void sync() {}

    @Override
    public synchronized void allocate(long bytes) {
        if (bytes > sizeMax) {
            throw new NoSpaceException("the array is full");
        }
        size = Math.max(size, bytes);
    }

    @Override
    public void discard(long position, long length) {
        for (long page = position / ALIGNMENT; page < (position + length) / ALIGNMENT; page++) {
            pages.remove(page);
        }
    }

    @Override
    public IoQueue newQueue(int depth) {
        return new Queue(depth);
    }

    @Override
    public long bytesRead() {
        return read.get();
    }

    @Override
    public long bytesWritten() {
        return written.get();
    }

    @Override
    public void close() {}

    /** Does each operation when it is queued. */
    private final class Queue implements IoQueue {
        private final int depth;
        private final ArrayDeque<Long> done = new ArrayDeque<>();

        Queue(int depth) {
            this.depth = depth;
        }

        @Override
        public int depth() {
            return depth;
        }

        @Override
        public int pending() {
            return done.size();
        }

        @Override
        public void read(long position, long address, int length, long tag) {
            ArrayDevice.this.read(position, address, length);
            done.add(tag);
        }

        @Override
        public void write(long position, long address, int length, long tag) {
            ArrayDevice.this.write(position, address, length);
            done.add(tag);
        }

        @Override
        public void submit() {}

        @Override
        public long await() {
            return done.remove();
        }

        @Override
        public long failedTag() {
            throw new IllegalStateException("nothing failed");
        }

        @Override
        public void close() {
            done.clear();
        }
    }
}
